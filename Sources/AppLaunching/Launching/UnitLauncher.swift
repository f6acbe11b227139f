// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SystemSupport

/// Starts apps through the user's systemd, as units of their own, for a service that systemd
/// started.
///
/// An app must not be a child of the service, not even in a scope. It would inherit the service's
/// system call filter, `NoNewPrivileges` and file mode mask, under which neither a Flatpak nor the
/// sandbox of a browser starts, and would end with the service.
package struct UnitLauncher: Sendable {
    /// The absolute path of `systemd-run`.
    let program: String
    private let variables: [String: String]

    /// Creates the manager of a service.
    ///
    /// - Parameters:
    ///   - environment: The environment of the service.
    ///   - variables: The variables that the launcher sends. Apps get all others from systemd.
    /// - Returns: `nil` if systemd did not start the service, or `systemd-run` is not installed.
    package init?(ofService environment: [String: String], variables: [String: String]) {
        guard Self.started(environment),
            let program = DesktopEntries(environment: environment).path(ofProgram: "systemd-run")
        else { return nil }
        (self.program, self.variables) = (program, variables)
    }

    private static func started(_ environment: [String: String]) -> Bool { environment["INVOCATION_ID"] != nil }

    /// Returns the command line that starts a program as a unit, waits for the program's end, and
    /// exits with its status.
    func commandLine(of command: LaunchPlan.Command, folder: String) -> [String] {
        var words = [
            program, "--user", "--quiet", "--collect", "--wait", "--slice=app.slice", "--service-type=exec",
            // Programs that the app leaves behind when it exits go on.
            "--property=KillMode=process", "--working-directory=\(folder)",
            // The default is the command line, which the journal would keep.
            "--description=App opened by Searchlight",
        ]
        // The values are no secrets: other users may read the command line.
        for (name, value) in variables.sorted(by: { $0.key < $1.key }) { words.append("--setenv=\(name)=\(value)") }
        // systemd expands variables in all words but the path of the program.
        return words + ["--", command.program] + command.words.dropFirst().map { $0.replacing("$", with: "$$") }
    }
}

extension UnitLauncher {
    /// The variables that systemd sets only for a service.
    private static let serviceVariables: Set<String> = [
        "INVOCATION_ID", "JOURNAL_STREAM", "LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID", "MAINPID", "MANAGERPID",
        "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE", "NOTIFY_SOCKET", "SYSTEMD_EXEC_PID", "WATCHDOG_PID",
        "WATCHDOG_USEC",
    ]
    private static let name = "org.freedesktop.systemd1"
    private static let path = "/org/freedesktop/systemd1"
    /// The time limit for the answer of systemd.
    private static let patience = Duration.seconds(2)

    /// Returns the environment of the session in which a service runs.
    ///
    /// systemd starts the service before the desktop. Only later does the desktop give systemd its
    /// variables, such as the display and the desktop's name. So they are read from systemd.
    /// Without systemd, or if it does not answer, this is the environment of the service.
    package static func sessionEnvironment(
        ofService environment: [String: String], clock: any Clock<Duration> = ContinuousClock()
    ) async -> [String: String] {
        let own = environment.filter { !serviceVariables.contains($0.key) }
        guard started(environment), let address = SessionBusAddress.find(in: environment) else { return own }
        return own.merging(await read(address, clock)) { $1 }
    }

    /// Returns the variables of systemd; empty if it does not answer in time.
    private static func read(_ address: String, _ clock: any Clock<Duration>) async -> [String: String] {
        do throws(BusError) {
            let bus = try MessageBus(address: address, name: "environment") { call in
                call.refuse(name: BusErrorName.unknownMethod, message: "This program only opens apps.")
            } onDisconnect: { _ in
            }
            // Calls in progress fail when the connection is closed.
            let timer = Task {
                try? await clock.sleep(for: patience)
                bus.close()
            }
            defer { timer.cancel() }
            let owner = try await bus.owner(of: name)
            let values = await withCheckedContinuation { continuation in
                bus.call(
                    owner, path: path, BusMember(BusService.properties, "Get"),
                    [.string("\(name).Manager"), .string("Environment")]
                ) { continuation.resume(returning: (try? $0.get()) ?? []) }
            }
            return Dictionary(
                (values.first?.members ?? []).compactMap { entry -> (String, String)? in
                    guard let text = entry.text, let equals = text.firstIndex(of: "=") else { return nil }
                    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
                }, uniquingKeysWith: { $1 })
        } catch {
            return [:]
        }
    }
}
