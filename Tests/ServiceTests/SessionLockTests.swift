// SPDX-License-Identifier: Apache-2.0
import Foundation
import SearchlightEngine
import TestSupport
import Testing

/// The store is locked with the session.
@Suite("Session locks", .timeLimit(.minutes(10)), .enabled(if: PrivateBus.isAvailable))
struct SessionLockTests {
    /// A signal that locks, and a signal like it that does not.
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
        // The rules for signals may reach the bus after the answer.
        #expect(
            try await eventually {
                try program.emit(signal.path, signal.interface, signal.name, signal.types, signal.locking)
                return try await !user.perform(ProtectionStatusCall()).isUnlocked
            })
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
        // The subscriptions to the buses have no visible end. On a busy machine they take some 100
        // ms.
        try await Task.sleep(for: .seconds(2))
        #expect(try await user.perform(ProtectionStatusCall()).isUnlocked)
        (isSystemBus ? system : session).stop()
        #expect(try await eventually { try await !user.perform(ProtectionStatusCall()).isUnlocked })
        await user.close()
        await service.stop()
        for program in programs { program.stop() }
    }
}
