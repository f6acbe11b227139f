// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Dispatch
import Synchronization

/// The time while protected items are unlocked: keeps the service running, and follows the locks of
/// the user's session. These are the signal `Lock` and the property `LockedHint` of a session of
/// logind, `PrepareForSleep`, and the screen saver. The end of a bus on which any of these
/// programs was seen is a lock as well, since later locks would go unnoticed. Ends with the object.
///
/// A lock of any session counts, also one of another user: that locks too often rather than too
/// seldom. Unlocking needs the passphrase, so no signal unlocks.
///
/// ```swift
/// let session = UnlockedSession(systemBus: address, sessionBus: nil, activity.beginSender()) { vault.lock() }
/// ```
final class UnlockedSession: Sendable {
    private let token: ServiceActivity.Token
    private let buses: [MessageBus]
    private let services: [BusService]
    private let follower: Follower

    /// Calls the handler, until the session ends.
    private final class Follower: Sendable {
        private let onLock: Mutex<(@Sendable () -> Void)?>
        init(_ onLock: @escaping @Sendable () -> Void) { self.onLock = Mutex(onLock) }
        func lock() { onLock.withLock { $0 }?() }
        func end() { onLock.withLock { $0 = nil } }
    }

    private static let login = "org.freedesktop.login1"
    private static let manager = BusMember("org.freedesktop.login1.Manager", "PrepareForSleep")
    private static let session = BusMember("org.freedesktop.login1.Session", "Lock")
    private static let properties = BusMember(BusService.properties, "PropertiesChanged")
    private static let screenSavers = ["org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver"]
        .map { BusMember($0, "ActiveChanged") }

    /// Connects to the buses. A bus that cannot be reached is ignored.
    ///
    /// - Parameters:
    ///   - systemBus: The address of the system bus; `nil` for none.
    ///   - sessionBus: The address of the session bus; `nil` for none.
    ///   - token: Keeps the service running.
    ///   - onLock: Called on the thread of a connection at each lock; must not block.
    init(
        systemBus: String?, sessionBus: String?, _ token: ServiceActivity.Token, onLock: @escaping @Sendable () -> Void
    ) {
        self.token = token
        let follower = Follower(onLock)
        self.follower = follower
        let system = systemBus.flatMap { Self.connect($0, follower) }
        let session = sessionBus.flatMap { Self.connect($0, follower) }
        buses = [system, session].compactMap { $0?.bus }
        var services: [BusService] = []
        func follow(_ name: String, on connection: Connection, _ signals: [BusService.Signals]) {
            let service = BusService(name, on: connection.bus)
            service.begin(hearing: signals) { [wasConnected = connection.wasConnected] event in
                // Without a connection, every program seems to be gone.
                if case .gone = event {} else { wasConnected.set() }
                if case .signal(let signal) = event, Self.isLock(signal) { follower.lock() }
            }
            services.append(service)
        }
        if let system {
            let hint = BusService.Signals.properties(
                Self.session.interface, below: "/org/freedesktop/login1/session")
            follow(Self.login, on: system, [.init(Self.manager), .init(Self.session), hint])
        }
        if let session { for saver in Self.screenSavers { follow(saver.interface, on: session, [.init(saver)]) } }
        self.services = services
    }

    deinit {
        token.end()
        follower.end()
        // The last owner may be a handler on the thread of a connection, which cannot end itself.
        DispatchQueue.global().async { [buses] in for bus in buses { bus.close() } }
    }

    private static func connect(_ address: String, _ follower: Follower) -> Connection? {
        let wasConnected = Connection.Flag()
        let bus = try? MessageBus(
            address: address, name: "session-lock",
            onCall: { $0.refuse(name: BusErrorName.unknownMethod, message: "This connection serves no calls.") },
            onDisconnect: { _ in if wasConnected.isSet { follower.lock() } })
        return bus.map { Connection(bus: $0, wasConnected: wasConnected) }
    }

    /// A connection to a bus.
    private struct Connection {
        let bus: MessageBus
        /// Set when a followed program was seen on the bus.
        let wasConnected: Flag

        final class Flag: Sendable {
            private let value = Atomic(false)
            var isSet: Bool { value.load(ordering: .acquiring) }
            func set() { value.store(true, ordering: .releasing) }
        }
    }

    private static func isLock(_ signal: BusSignal) -> Bool {
        switch signal.member {
        case session: true
        case manager: signal.arguments.first?.boolean == true
        case properties:
            signal.arguments.first?.text == session.interface
                && signal.arguments.dropFirst().first?.entries["LockedHint"]?.boolean == true
        default: screenSavers.contains(signal.member) && signal.arguments.first?.boolean == true
        }
    }
}
