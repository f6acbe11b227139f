// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A python3-dbusmock process that simulates a service on a private bus, as long as the object
/// exists.
public final class DBusMock: Sendable {
    /// The error for a mock that did not start or a call that failed.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The name on the bus.
    public let name: String
    private let bus: PrivateBus
    private let process: ChildProcess

    private static let python = "/usr/bin/python3"
    private static let gdbus = "/usr/bin/gdbus"

    /// `true` if the required programs are installed; otherwise prints a message.
    public static let isAvailable: Bool = {
        guard PrivateBus.isAvailable else { return false }
        let module = try? ChildProcess.run(python, ["-c", "import dbusmock"])
        if module?.ending == .exited(0), FileManager.default.isExecutableFile(atPath: gdbus) { return true }
        print("Skipped: python3-dbusmock or gdbus is not installed. Scripts/setup installs them.")
        return false
    }()

    /// Starts one of dbusmock's templates and returns when it owns its name.
    public convenience init(_ bus: PrivateBus, template: String, name: String) throws {
        try self.init(bus, name: name, arguments: ["--template", template])
    }

    /// Starts a service with one object without members.
    public convenience init(_ bus: PrivateBus, name: String, path: String, interface: String) throws {
        try self.init(bus, name: name, arguments: ["--session", name, path, interface])
    }

    private init(_ bus: PrivateBus, name: String, arguments: [String]) throws {
        (self.bus, self.name) = (bus, name)
        var environment = ProcessInfo.processInfo.environment
        for kind in ["SYSTEM", "SESSION"] { environment["DBUS_\(kind)_BUS_ADDRESS"] = bus.address }
        process = try ChildProcess(Self.python, ["-m", "dbusmock"] + arguments, environment: environment)
        let wait = ["wait", "--address", bus.address, "--timeout", "30", name]
        guard try ChildProcess.run(Self.gdbus, wait).ending == .exited(0) else {
            throw Failure(description: "\(name) did not appear on the bus.")
        }
    }

    /// Calls a method, with arguments in the syntax of gdbus(1).
    @discardableResult
    public func call(_ path: String, _ method: String, _ arguments: String...) throws -> String {
        let target = ["--address", bus.address, "--dest", name, "--object-path", path, "--method", method]
        let (ending, output) = try ChildProcess.run(Self.gdbus, ["call"] + target + ["--"] + arguments)
        guard ending == .exited(0) else { throw Failure(description: "\(method): \(output)") }
        return output
    }

    /// Adds a method whose body is a line of Python that sets `ret`.
    public func addMethod(
        _ path: String, _ interface: String, _ method: String, _ types: (String, String), _ code: String
    ) throws {
        try call(path, Self.mock + "AddMethod", interface, method, types.0, types.1, code)
    }

    /// Changes properties and emits the signal for the change, e.g. `{'OnBattery': <true>}`.
    public func update(_ path: String, _ interface: String, _ properties: String) throws {
        try call(path, Self.mock + "UpdateProperties", interface, properties)
    }

    /// Emits a signal, e.g. with `[<true>]`.
    public func emit(_ path: String, _ interface: String, _ signal: String, _ types: String, _ values: String) throws {
        try call(path, Self.mock + "EmitSignal", interface, signal, types, values)
    }

    private static let mock = "org.freedesktop.DBus.Mock."

    /// Emits a signal from a connection without a well-known name, to one client or to all.
    public static func emitAsStranger(
        _ bus: PrivateBus, to client: String?, _ path: String, _ signal: String, _ arguments: String...
    ) throws {
        let to = client.map { ["--dest", $0] } ?? []
        let target = ["emit", "--address", bus.address, "--object-path", path, "--signal", signal] + to
        let (ending, output) = try ChildProcess.run(gdbus, target + ["--"] + arguments)
        guard ending == .exited(0) else { throw Failure(description: "\(signal): \(output)") }
    }

    /// Terminates the process.
    public func stop() {
        process.send(SIGKILL)
        process.wait()
    }
}
