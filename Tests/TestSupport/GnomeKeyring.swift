// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A real GNOME Keyring on a private bus, with an open login keyring in the bus's folder. Ends with
/// the object.
public final class GnomeKeyring: Sendable {
    private let bus: PrivateBus
    private let process: ChildProcess

    private static let program = "/usr/bin/gnome-keyring-daemon"
    private static let gdbus = "/usr/bin/gdbus"
    private static let name = "org.freedesktop.secrets"

    /// `true` if the required programs are installed; otherwise prints a message.
    public static let isAvailable: Bool = {
        guard PrivateBus.isAvailable else { return false }
        if [program, gdbus].allSatisfy({ FileManager.default.isExecutableFile(atPath: $0) }) { return true }
        print("Skipped: gnome-keyring or gdbus is not installed. Scripts/setup installs them.")
        return false
    }()

    /// The error for a keyring that did not start.
    public struct Failure: Error {}

    /// Starts the keyring and returns when it owns its name.
    public init(_ bus: PrivateBus) throws {
        self.bus = bus
        let home = bus.folder.path("home")
        let runtime = home + "/run"
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let input = Pipe()
        process = try ChildProcess(
            Self.program,
            ["--foreground", "--unlock", "--components=secrets", "--control-directory=" + runtime + "/control"],
            environment: [
                "HOME": home, "XDG_DATA_HOME": home + "/data", "XDG_RUNTIME_DIR": runtime, "PATH": "/usr/bin:/bin",
                "DBUS_SESSION_BUS_ADDRESS": bus.address,
            ], input: .pipe(input))
        try input.fileHandleForWriting.write(contentsOf: Data("keyring password".utf8))
        try input.fileHandleForWriting.close()
        let wait = ["wait", "--address", bus.address, "--timeout", "30", Self.name]
        guard try ChildProcess.run(Self.gdbus, wait).ending == .exited(0) else { throw Failure() }
    }

    /// Locks the keyring. It cannot ask to unlock it, since there is no desktop.
    public func lock() throws { try call("Lock", "['/org/freedesktop/secrets/collection/login']") }

    /// The paths of the items with an attribute.
    public func items(_ attribute: String, _ value: String) throws -> [Substring] {
        try call("SearchItems", "{'\(attribute)': '\(value)'}").matches(of: /\/org\/[a-z\/_]+\/[0-9]+/)
            .map(\.output)
    }

    /// Deletes all items with an attribute.
    public func delete(_ attribute: String, _ value: String) throws {
        for item in try items(attribute, value) {
            try call("Delete", path: String(item), interface: "org.freedesktop.Secret.Item")
        }
    }

    @discardableResult
    private func call(
        _ method: String, _ arguments: String..., path: String = "/org/freedesktop/secrets",
        interface: String = "org.freedesktop.Secret.Service"
    ) throws -> String {
        let target = ["--address", bus.address, "--dest", Self.name, "--object-path", path]
        let (ending, output) = try ChildProcess.run(
            Self.gdbus, ["call"] + target + ["--method", "\(interface).\(method)", "--"] + arguments)
        guard ending == .exited(0) else { throw Failure() }
        return output
    }

    /// Ends the keyring.
    public func stop() {
        process.send(SIGKILL)
        process.wait()
    }

    deinit { stop() }
}
