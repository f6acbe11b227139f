// SPDX-License-Identifier: Apache-2.0
import Foundation
import SearchlightEngine
import Synchronization
import TestSupport
import Testing

/// The store is locked when the session is locked.
@Suite("Session locks", .timeLimit(.minutes(10)), .enabled(if: PrivateBus.isAvailable))
struct SessionLockTests {
    /// A signal that locks the store, or a similar signal that does not.
    struct Signal: Sendable, CustomTestStringConvertible {
        var isOnSystemBus: Bool
        var service: String
        var path: String
        var interface: String
        var name: String
        var types: String
        var locking: String
        var harmless: String?
        var testDescription: String { "\(interface).\(name)" }
    }

    static let signals = [
        Signal(
            isOnSystemBus: true, service: "org.freedesktop.login1", path: "/org/freedesktop/login1/session/_31",
            interface: "org.freedesktop.login1.Session", name: "Lock", types: "", locking: "@av []"),
        Signal(
            isOnSystemBus: true, service: "org.freedesktop.login1", path: "/org/freedesktop/login1",
            interface: "org.freedesktop.login1.Manager", name: "PrepareForSleep", types: "b", locking: "[<true>]",
            harmless: "[<false>]"),
        Signal(
            isOnSystemBus: false, service: "org.freedesktop.ScreenSaver", path: "/org/freedesktop/ScreenSaver",
            interface: "org.freedesktop.ScreenSaver", name: "ActiveChanged", types: "b", locking: "[<true>]",
            harmless: "[<false>]"),
        Signal(
            isOnSystemBus: false, service: "org.gnome.ScreenSaver", path: "/org/gnome/ScreenSaver",
            interface: "org.gnome.ScreenSaver", name: "ActiveChanged", types: "b", locking: "[<true>]",
            harmless: "[<false>]"),
    ]

    @Test("A lock of the session locks the store", arguments: signals)
    func locks(signal: Signal) async throws {
        let (system, session) = (try PrivateBus(), try PrivateBus())
        let bus = signal.isOnSystemBus ? system : session
        let program = try DBusMock(bus, name: signal.service, path: signal.path, interface: signal.interface)
        let service = try await TestService { configuration in
            configuration.lockBuses = (system: system.address, session: session.address)
            configuration.engine.passphraseCost = .least
        }
        let user = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        let passphrase = Array("correct horse".utf8)
        try await user.perform(UnlockCall(passphrase: passphrase, creates: true))
        if let harmless = signal.harmless {
            try program.emit(signal.path, signal.interface, signal.name, signal.types, harmless)
        }
        #expect(try await user.perform(ProtectionStatusCall()).isUnlocked)
        try program.emit(signal.path, signal.interface, signal.name, signal.types, signal.locking)
        #expect(try await eventually { try await !user.perform(ProtectionStatusCall()).isUnlocked })
        try await user.perform(UnlockCall(passphrase: passphrase, creates: false))
        #expect(try await user.perform(LockCall()))
        await user.close()
        await service.stop()
        program.stop()
    }

    @Test("The end of a bus locks the store", arguments: [true, false])
    func busEnds(isSystemBus: Bool) async throws {
        let (system, session) = (try PrivateBus(), try PrivateBus())
        let programs = try [(system, Self.signals[0]), (session, Self.signals[2])].map { bus, signal in
            try DBusMock(bus, name: signal.service, path: signal.path, interface: signal.interface)
        }
        let service = try await TestService { configuration in
            configuration.lockBuses = (system: system.address, session: session.address)
            configuration.engine.passphraseCost = .least
        }
        let user = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        try await user.perform(UnlockCall(passphrase: Array("correct horse".utf8), creates: true))
        #expect(try await user.perform(ProtectionStatusCall()).isUnlocked)
        (isSystemBus ? system : session).stop()
        #expect(try await eventually { try await !user.perform(ProtectionStatusCall()).isUnlocked })
        await user.close()
        await service.stop()
        for program in programs { program.stop() }
    }

    /// A fake logind with sessions of a user, and pipes as inhibitors.
    private func login(_ bus: PrivateBus, user: UInt32, sessions: [(type: String, isLocked: Bool)]) throws -> DBusMock {
        let (path, manager) = ("/org/freedesktop/login1", "org.freedesktop.login1.Manager")
        let mock = try DBusMock(bus, name: "org.freedesktop.login1", path: path, interface: manager)
        let paths = sessions.indices.map { path + "/session/_3\($0)" }
        let list = paths.enumerated().map { "('\($0)', \(user), 'user', 'seat0', dbus.ObjectPath('\($1)'))" }
        try mock.addMethod(path, manager, "ListSessions", ("", "a(susso)"), "ret = [\(list.joined(separator: ", "))]")
        let inhibit = """
            import os
            self.pipe, end = os.pipe()
            self.inhibited = list(args)
            ret = dbus.types.UnixFd(end)
            os.close(end)
            """
        try mock.addMethod(path, manager, "Inhibit", ("ssss", "h"), inhibit)
        // The other end of the pipe is ready as soon as the inhibitor is released.
        let state = """
            import select
            ret = [] if not hasattr(self, 'inhibited') else self.inhibited + \
                (['released'] if select.select([self.pipe], [], [], 0)[0] else ['held'])
            ret = dbus.Array(ret, signature='s')
            """
        try mock.addMethod(path, manager, "State", ("", "as"), state)
        for (session, path) in zip(sessions, paths) {
            try mock.call(
                "/org/freedesktop/login1", "org.freedesktop.DBus.Mock.AddObject", path,
                "org.freedesktop.login1.Session",
                """
                {'Class': <'user'>, 'Type': <'\(session.type)'>, 'State': <'active'>, 'Active': <true>, \
                'LockedHint': <\(session.isLocked)>, 'User': <(uint32 \(user), objectpath '/org/freedesktop/login1/user/_0')>}
                """, "[]")
        }
        return mock
    }

    /// The sessions of a user, and whether protected items may be unlocked.
    struct Sessions: Sendable {
        var sessions: [(type: String, isLocked: Bool)]
        var isOwn = true
        var mayUnlock: Bool
    }

    static let sessions = [
        Sessions(sessions: [("wayland", true)], mayUnlock: false),
        Sessions(sessions: [("x11", true), ("tty", false)], mayUnlock: false),
        Sessions(sessions: [("wayland", true), ("x11", false)], mayUnlock: true),
        Sessions(sessions: [("wayland", false)], mayUnlock: true),
        Sessions(sessions: [("tty", true)], mayUnlock: true),
        Sessions(sessions: [("wayland", true)], isOwn: false, mayUnlock: true),
        Sessions(sessions: [], mayUnlock: true),
    ]

    @Test("Nothing is unlocked while all sessions of the user are locked", arguments: sessions)
    func lockedSession(sessions: Sessions) async throws {
        let bus = try PrivateBus()
        let login = try login(bus, user: getuid() + (sessions.isOwn ? 0 : 1), sessions: sessions.sessions)
        let service = try await TestService { configuration in
            configuration.lockBuses = (system: bus.address, session: nil)
            configuration.engine.passphraseCost = .least
        }
        let user = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        let call = UnlockCall(passphrase: Array("correct horse".utf8), creates: true)
        if sessions.mayUnlock {
            #expect(try await user.perform(call).notes.allSatisfy { $0.contains("session bus") })
        } else {
            await #expect(throws: EngineError.protection(.sessionLocked)) { try await user.perform(call) }
        }
        #expect(try await user.perform(ProtectionStatusCall()).isUnlocked == sessions.mayUnlock)
        await user.close()
        await service.stop()
        login.stop()
    }

    @Test("A logind that does not say whether the session is locked is reported", arguments: [false, true])
    func silentLogin(hasSession: Bool) async throws {
        let bus = try PrivateBus()
        let (path, manager) = ("/org/freedesktop/login1", "org.freedesktop.login1.Manager")
        let login = try DBusMock(bus, name: "org.freedesktop.login1", path: path, interface: manager)
        if hasSession {
            let session = "('1', \(getuid()), 'user', 'seat0', dbus.ObjectPath('\(path)/session/_31'))"
            try login.addMethod(path, manager, "ListSessions", ("", "a(susso)"), "ret = [\(session)]")
        }
        let service = try await TestService { configuration in
            configuration.lockBuses = (system: bus.address, session: nil)
            configuration.engine.passphraseCost = .least
        }
        let user = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        let notes = try await user.perform(UnlockCall(passphrase: Array("correct horse".utf8), creates: true)).notes
        #expect(notes.contains { $0.contains("does not say whether the session is locked") }, "\(notes)")
        await user.close()
        await service.stop()
        login.stop()
    }

    @Test("An active screen saver unlocks nothing")
    func activeScreenSaver() async throws {
        let bus = try PrivateBus()
        let name = "org.gnome.ScreenSaver"
        let saver = try DBusMock(bus, name: name, path: "/org/gnome/ScreenSaver", interface: name)
        try saver.addMethod("/org/gnome/ScreenSaver", name, "GetActive", ("", "b"), "ret = True")
        let service = try await TestService { configuration in
            configuration.lockBuses = (system: nil, session: bus.address)
            configuration.engine.passphraseCost = .least
        }
        let user = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        await #expect(throws: EngineError.protection(.sessionLocked)) {
            try await user.perform(UnlockCall(passphrase: Array("correct horse".utf8), creates: true))
        }
        await user.close()
        await service.stop()
        saver.stop()
    }

    @Test("A suspend waits until protected items are locked")
    func suspend() async throws {
        let bus = try PrivateBus()
        let login = try login(bus, user: getuid(), sessions: [("wayland", false)])
        let (path, manager) = ("/org/freedesktop/login1", "org.freedesktop.login1.Manager")
        @Sendable func state() throws -> String { try login.call(path, manager + ".State") }
        let before = Mutex<[String]>([])
        let service = try await TestService { configuration in
            configuration.lockBuses = (system: bus.address, session: nil)
            configuration.engine.passphraseCost = .least
            configuration.engine.onDiscard = {
                let now = (try? state()) ?? "none"
                before.withLock { $0.append(now) }
            }
        }
        let user = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        #expect(try !state().contains("sleep"))
        try await user.perform(UnlockCall(passphrase: Array("correct horse".utf8), creates: true))
        let held = try state()
        #expect(held.contains("'sleep', 'Searchlight'") && held.contains("'delay', 'held'"), "\(held)")
        try login.emit(path, manager, "PrepareForSleep", "b", "[<true>]")
        #expect(try await eventually { try state().contains("'released'") })
        // The keys are overwritten and the items removed before the inhibitor is released.
        #expect(before.withLock { $0.count == 1 && $0[0].contains("'held'") }, "\(before.withLock { $0 })")
        #expect(try await !user.perform(ProtectionStatusCall()).isUnlocked)
        try await user.perform(UnlockCall(passphrase: Array("correct horse".utf8), creates: false))
        #expect(try state().contains("'held'"))
        #expect(try await user.perform(LockCall()))
        #expect(try await eventually { try state().contains("'released'") })
        await user.close()
        await service.stop()
        login.stop()
    }

    @Test("Buses that cannot be reached, and missing programs, are reported by unlock, status and facts")
    func unreachable() async throws {
        let bus = try PrivateBus()
        let nowhere = "unix:path=/nonexistent/bus"
        for (system, session, texts) in [
            (nil, nil, ["no system bus", "no session bus"]),
            (nowhere, nowhere, ["system bus cannot be reached", "session bus cannot be reached"]),
            (bus.address, bus.address, ["logind does not run"]),
        ] as [(String?, String?, [String])] {
            let service = try await TestService { configuration in
                configuration.lockBuses = (system: system, session: session)
                configuration.engine.passphraseCost = .least
            }
            let user = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
            let call = UnlockCall(passphrase: Array("correct horse".utf8), creates: true)
            let notes = try await user.perform(call).notes
            #expect(notes.count == texts.count && zip(notes, texts).allSatisfy { $0.contains($1) }, "\(notes)")
            #expect(try await user.perform(ProtectionStatusCall()).notes == notes)
            #expect(try await user.perform(FactsCall()).protectionNotes == notes)
            await user.close()
            await service.stop()
        }
    }
}
