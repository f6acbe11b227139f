// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AppLaunching

@Suite("Starting apps", .timeLimit(.minutes(10)))
struct AppLauncherTests {
    private let desktop: Desktop

    init() throws { desktop = try Desktop() }

    private func launch(_ target: LaunchTarget, bus: PrivateBus? = nil, manager: UnitLauncher? = nil) async
        -> Result<AppLauncher.Outcome, LaunchError>
    {
        do {
            let plan = try desktop.plan(target)
            var environment = desktop.environment
            environment["DBUS_SESSION_BUS_ADDRESS"] = bus?.address
            var limits = AppLauncher.Limits()
            limits.start = .seconds(2)
            return .success(
                try await AppLauncher(environment: environment, manager: manager, limits: limits).launch(plan))
        } catch {
            return .failure(error as? LaunchError ?? LaunchError(.noApp, "\(error)"))
        }
    }

    private func kind(_ result: Result<AppLauncher.Outcome, LaunchError>) -> String {
        switch result {
        case .success(let outcome): outcome.kind.rawValue
        case .failure(let error): error.kind.rawValue
        }
    }

    @Test(
        "If a program exits early, the cause is reported",
        arguments: [
            ("exit 0", "finished"), ("exec sleep 1000", "started"), ("exit 3", "crashed"), ("kill -SEGV $$", "crashed"),
        ])
    func programs(_ body: String, _ expected: String) async throws {
        try desktop.addProgram("notes", then: body)
        try desktop.addEntry("org.example.notes.desktop", "Exec=notes %u")
        let result = await launch(desktop.target(.url("note:1")))
        #expect(kind(result) == expected)
        #expect(desktop.started == ["notes\tnote:1"])
        if case .success(let outcome) = result, let process = outcome.process, outcome.kind == .started {
            #expect(getsid(process) == process)
            kill(process, SIGKILL)
        }
        if case .failure(let error) = result { #expect(error.description.hasSuffix("/notes note:1")) }
    }

    @Test("A program that cannot be executed is reported and leaves nothing behind")
    func cannotExecute() async throws {
        let path = try desktop.folder.write(Array("no program".utf8), to: "bin/notes")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        try desktop.addEntry("org.example.notes.desktop", "Exec=notes %u")
        #expect(kind(await launch(desktop.target(.url("note:1")))) == "cannotStart")
    }

    @Test("A program gets a session of its own, no terminal, no other descriptors and no blocked signals")
    func surroundings() async throws {
        let report = desktop.folder.path("report")
        // The shell itself blocks signals while it waits, so the test checks its child.
        try desktop.addProgram(
            "notes", then: "{ ls -l /proc/self/fd; grep -E 'SigBlk' /proc/self/status; pwd; } > '\(report)'")
        try desktop.addEntry("org.example.notes.desktop", "Exec=notes", "Path=/usr")
        #expect(kind(await launch(desktop.target())) == "finished")
        let text = try String(contentsOfFile: report, encoding: .utf8)
        #expect(text.contains("SigBlk:\t0000000000000000"), "\(text)")
        #expect(text.hasSuffix("/usr\n"))
        // Besides /dev/null, only the listing's own descriptors are open: its folder and this
        // report.
        let open = text.split(separator: "\n").filter { $0.contains(" -> ") && !$0.contains("/dev/null") }
        #expect(open.allSatisfy { $0.contains("/proc/") || $0.hasSuffix("/report") }, "\(open)")
    }

    /// The words of a call of systemd-run before the command line.
    private static let unit = [
        "--user", "--quiet", "--collect", "--wait", "--slice=app.slice", "--service-type=exec",
        "--property=KillMode=process",
    ]

    /// A program in place of systemd-run that starts the command itself.
    private func serviceManager(_ variables: [String: String] = [:]) throws -> UnitLauncher? {
        try desktop.addProgram("systemd-run", then: #"while [ "$1" != -- ]; do shift; done; shift; exec "$@""#)
        let environment = desktop.environment.merging(["INVOCATION_ID": "1"]) { $1 }
        return UnitLauncher(ofService: environment, variables: variables)
    }

    @Test("If systemd started the service, systemd starts the app, as a unit and not as a child of the service")
    func unit() async throws {
        let manager = try #require(try serviceManager(["DISPLAY": ":7", "XDG_ACTIVATION_TOKEN": "a b"]))
        let notes = try desktop.addProgram("notes")
        try desktop.addEntry("org.example.notes.desktop", "Exec=notes %u", "Path=/usr")
        let target = desktop.target(.url("note:$HOME/1"))
        #expect(kind(await launch(target, manager: manager)) == "finished")
        let words =
            Self.unit + [
                "--working-directory=/usr", "--description=App opened by Searchlight", "--setenv=DISPLAY=:7",
                "--setenv=XDG_ACTIVATION_TOKEN=a b", "--",
            ]
        // systemd expands variables, and replaces $$ by $.
        #expect(desktop.started.first == (["systemd-run"] + words + [notes, "note:$$HOME/1"]).joined(separator: "\t"))
        // The app is a child of systemd, so its process is unknown.
        try desktop.addProgram("notes", then: "exec sleep 1000")
        let running = await launch(target, manager: manager)
        #expect(kind(running) == "started")
        if case .success(let outcome) = running { #expect(outcome.process == nil) }
        try desktop.addProgram("notes", then: "exit 3")
        #expect(kind(await launch(target, manager: manager)) == "crashed")
    }

    @Test("Without systemd, the service starts the app itself")
    func noServiceManager() throws {
        #expect(UnitLauncher(ofService: desktop.environment, variables: [:]) == nil)
    }

    @Test(
        "The variables of the session come from systemd, even if the desktop was started after the service",
        .enabled(if: PrivateBus.isAvailable))
    func sessionEnvironment() async throws {
        let bus = try PrivateBus()
        var environment = ["HOME": "/home/me", "DBUS_SESSION_BUS_ADDRESS": bus.address, "LANG": "C", "LISTEN_FDS": "1"]
        #expect(await UnitLauncher.sessionEnvironment(ofService: environment)["DISPLAY"] == nil)
        environment["INVOCATION_ID"] = "1"
        // Without an answer, the service's own variables are used.
        #expect(
            await UnitLauncher.sessionEnvironment(ofService: environment)
                == ["HOME": "/home/me", "DBUS_SESSION_BUS_ADDRESS": bus.address, "LANG": "C"])
        let asked = Mutex<[String]>([])
        let systemd = try MessageBus(address: bus.address, name: "systemd") { call in
            let words = call.arguments.map { if case .string(let text) = $0 { text } else { "?" } }
            asked.withLock { $0.append(([call.path, call.member.member] + words).joined(separator: " ")) }
            call.reply([.variant(.strings(["DISPLAY=:1", "XDG_CURRENT_DESKTOP=GNOME", "LANG=de_DE.UTF-8", "X=a=b"]))])
        } onDisconnect: { _ in
        }
        defer { systemd.close() }
        #expect(try await systemd.requestName("org.freedesktop.systemd1") == .acquired)
        let found = await UnitLauncher.sessionEnvironment(ofService: environment)
        #expect(
            found == [
                "HOME": "/home/me", "DBUS_SESSION_BUS_ADDRESS": bus.address, "DISPLAY": ":1",
                "XDG_CURRENT_DESKTOP": "GNOME", "LANG": "de_DE.UTF-8", "X": "a=b",
            ])
        let manager = "org.freedesktop.systemd1.Manager Environment"
        #expect(asked.withLock { $0 } == ["/org/freedesktop/systemd1 Get \(manager)"])
    }

    // MARK: D-Bus

    /// An app on a bus, in this process.
    private final class BusApp: Sendable {
        let calls = Mutex<[String]>([])
        private let bus = Mutex<MessageBus?>(nil)

        init(_ bus: PrivateBus, name: String, refusing: Bool = false) async throws {
            let connection = try MessageBus(address: bus.address, name: "app") { [weak self] call in
                let uris: [String] = if case .strings(let texts)? = call.arguments.first { texts } else { [] }
                self?.calls.withLock {
                    $0.append(([call.path, call.member.interface, call.member.member] + uris).joined(separator: " "))
                }
                if refusing {
                    call.refuse(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "No.")
                } else {
                    call.reply()
                }
            } onDisconnect: { _ in
            }
            self.bus.withLock { $0 = connection }
            #expect(try await connection.requestName(name) == .acquired)
        }

        deinit { bus.withLock { $0?.close() } }
    }

    private func addBusEntry() throws {
        try desktop.addProgram("my-notes")
        try desktop.addEntry("org.example.my-notes.desktop", "Exec=my-notes %u", "DBusActivatable=true")
    }

    @Test("A running app is called over the bus, and no program is started", .enabled(if: PrivateBus.isAvailable))
    func running() async throws {
        try addBusEntry()
        let bus = try PrivateBus()
        let app = try await BusApp(bus, name: "org.example.my-notes")
        #expect(kind(await launch(desktop.target(.url("note:1"), of: "org.example.my-notes"), bus: bus)) == "activated")
        #expect(kind(await launch(desktop.target(of: "org.example.my-notes"), bus: bus)) == "activated")
        #expect(
            app.calls.withLock { $0 } == [
                "/org/example/my_notes org.freedesktop.Application Open note:1",
                "/org/example/my_notes org.freedesktop.Application Activate",
            ])
        #expect(desktop.started.isEmpty)
    }

    @Test("The command of the entry is used if the bus starts nothing", .enabled(if: PrivateBus.isAvailable))
    func fallback() async throws {
        try addBusEntry()
        let target = desktop.target(.url("note:1"), of: "org.example.my-notes")
        #expect(kind(await launch(target)) == "finished")
        let bus = try PrivateBus()
        #expect(kind(await launch(target, bus: bus)) == "finished")
        let app = try await BusApp(bus, name: "org.example.my-notes", refusing: true)
        #expect(kind(await launch(target, bus: bus)) == "finished")
        #expect(app.calls.withLock { $0.count } == 1)
        #expect(desktop.started.count == 3)
    }

    @Test("An app that crashes when the bus starts it is not started again", .enabled(if: PrivateBus.isAvailable))
    func crashes() async throws {
        try addBusEntry()
        let broken = try desktop.addProgram("broken", then: "exit 4")
        let bus = try PrivateBus(services: ["org.example.my-notes": broken])
        #expect(kind(await launch(desktop.target(.url("note:1"), of: "org.example.my-notes"), bus: bus)) == "crashed")
        #expect(desktop.started == ["broken\t"])
    }

    /// Calls that are not answered.
    private final class Kept: Sendable {
        let calls = Mutex<[IncomingCall]>([])
    }

    @Test("The wait for an app that does not answer ends at the limit", .enabled(if: PrivateBus.isAvailable))
    func silent() async throws {
        try addBusEntry()
        let bus = try PrivateBus()
        let kept = Kept()
        let silent = try MessageBus(address: bus.address, name: "app") { call in
            kept.calls.withLock { $0.append(call) }
        } onDisconnect: { _ in
        }
        defer { silent.close() }
        #expect(try await silent.requestName("org.example.my-notes") == .acquired)
        var environment = desktop.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        let clock = ManualClock()
        let launcher = AppLauncher(environment: environment, clock: clock)
        let plan = try desktop.plan(desktop.target(.url("note:1"), of: "org.example.my-notes"))
        let launching = Task { () -> LaunchError.Kind? in
            do {
                _ = try await launcher.launch(plan)
                return nil
            } catch { return (error as? LaunchError)?.kind }
        }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(20))
        #expect(await launching.value == .timedOut)
        #expect(desktop.started.isEmpty)
    }
}
