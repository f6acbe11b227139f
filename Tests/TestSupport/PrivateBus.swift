// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A private message bus for a test, with the policy and the limits of a session bus. Stops with
/// the object.
public final class PrivateBus: Sendable {
    /// The bus address for the environment of clients.
    public let address: String
    /// The folder of the bus's socket and files.
    public let folder: TemporaryFolder
    private let daemon: ChildProcess

    private static let program = "/usr/bin/dbus-daemon"

    /// `true` if dbus-daemon is installed; otherwise prints a message.
    public static var isAvailable: Bool {
        if FileManager.default.isExecutableFile(atPath: program) { return true }
        print("Skipped: \(program) is not installed. Scripts/setup installs it.")
        return false
    }

    /// Starts a bus and returns when it accepts connections.
    ///
    /// - Parameters:
    ///   - services: The activatable names and the command line that starts each.
    ///   - admitsOtherUsers: `true` to let other users connect, which no session bus does.
    public init(services: [String: String] = [:], admitsOtherUsers: Bool = false) throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        try FileManager.default.createDirectory(
            atPath: folder.path("services"), withIntermediateDirectories: false)
        for (name, command) in services {
            try folder.write(
                Array("[D-BUS Service]\nName=\(name)\nExec=\(command)\n".utf8), to: "services/\(name).service")
        }
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(folder.path("bus"))</listen>
              <auth>EXTERNAL</auth>
              <servicedir>\(folder.path("services"))</servicedir>
              <policy context="default">
                \(admitsOtherUsers ? "<allow user=\"*\"/>" : "")
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
              <limit name="max_incoming_bytes">1000000000</limit>
              <limit name="max_incoming_unix_fds">250000000</limit>
              <limit name="max_outgoing_bytes">1000000000</limit>
              <limit name="max_outgoing_unix_fds">250000000</limit>
              <limit name="max_message_size">1000000000</limit>
              <limit name="service_start_timeout">30000</limit>
              <limit name="auth_timeout">240000</limit>
              <limit name="max_completed_connections">100000</limit>
              <limit name="max_incomplete_connections">10000</limit>
              <limit name="max_connections_per_user">100000</limit>
              <limit name="max_replies_per_connection">50000</limit>
            </busconfig>
            """
        try folder.write(Array(configuration.utf8), to: "bus.conf")
        let output = Pipe()
        daemon = try ChildProcess(
            Self.program,
            ["--nofork", "--nopidfile", "--config-file=\(folder.path("bus.conf"))", "--print-address=1"],
            output: .pipe(output), errors: .nothing)
        // The daemon prints its address when it listens.
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        address = line.trimmingCharacters(in: .whitespacesAndNewlines)
        guard address.hasPrefix("unix:") else { throw Failure() }
    }

    /// The error for a bus that did not start.
    public struct Failure: Error {}

    /// Stops the bus, as at the end of a session.
    public func stop() {
        daemon.send(SIGKILL)
        daemon.wait()
    }

    deinit { stop() }
}
