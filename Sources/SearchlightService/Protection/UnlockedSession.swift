// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ConditionSensors
import Dispatch
import SearchlightEngine
import Synchronization
import SystemSupport

/// The time while protected items are unlocked: keeps the service running, follows the locks of the
/// user's session, and delays a suspend until the items are locked. Ends with the object.
///
/// Locks are the signal `Lock` and the property `LockedHint` of a session of logind,
/// `PrepareForSleep`, and the screen saver. The end of a bus on which any of these programs was
/// seen is a lock as well, since later locks would go unnoticed. A lock of any session counts, even
/// of another user's session, so that the items are locked too often rather than too seldom. No
/// signal unlocks.
///
/// ```swift
/// let session = await UnlockedSession.begin(
///     UnlockedSession.Buses(system: address, session: nil), user: getuid(), clock, activity.beginSender()
/// ) { vault.lock() }
/// guard !session.isLocked else { return }
/// ```
final class UnlockedSession: Sendable {
    /// The addresses of the buses; `nil` for none.
    struct Buses: Sendable {
        var system: String?
        var session: String?
    }

    private let token: ServiceActivity.Token
    private let follower: Follower
    private let buses: Mutex<[MessageBus]> = Mutex([])
    private let services: Mutex<[BusService]> = Mutex([])
    /// logind delays a suspend until this is closed.
    private let inhibitor: Mutex<OwnedDescriptor?> = Mutex(nil)

    /// Calls the handler until the session ends.
    private final class Follower: Sendable {
        private let onLock: Mutex<(@Sendable () -> Void)?>
        init(_ onLock: @escaping @Sendable () -> Void) { self.onLock = Mutex(onLock) }
        func lock() { onLock.withLock { $0 }?() }
        func end() { onLock.withLock { $0 = nil } }
    }

    private static let login = "org.freedesktop.login1"
    private static let loginPath = "/org/freedesktop/login1"
    private static let sessionPaths = loginPath + "/session"
    private static let managerInterface = "org.freedesktop.login1.Manager"
    private static let sleep = BusMember(managerInterface, "PrepareForSleep")
    private static let session = BusMember(LoginSession.interface, "Lock")
    private static let properties = BusMember(BusService.properties, "PropertiesChanged")
    private static let screenSavers = ["org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver"]
        .map { BusMember($0, "ActiveChanged") }
    /// The time for each answer.
    private static let patience = Duration.seconds(3)
    /// The largest number of sessions that are asked.
    private static let maximumSessions = 32

    private init(_ token: ServiceActivity.Token, _ onLock: @escaping @Sendable () -> Void) {
        (self.token, follower) = (token, Follower(onLock))
    }

    /// Connects to the buses, and returns when they deliver the signals of locks and have said
    /// whether the session is locked: at most three answers, one after the other.
    ///
    /// - Parameters:
    ///   - user: The user whose sessions are asked whether they are locked.
    ///   - clock: The clock of the time limit.
    ///   - token: Keeps the service running.
    ///   - onLock: Called on a connection's thread at each lock; must not block.
    static func begin(
        _ buses: Buses, user: UInt32, _ clock: any Clock<Duration>, _ token: ServiceActivity.Token,
        onLock: @escaping @Sendable () -> Void
    ) async -> UnlockingSession {
        let session = UnlockedSession(token, onLock)
        async let system = session.followLogin(buses.system, user, clock)
        async let saver = session.followScreenSavers(buses.session, clock)
        let (login, screen) = (await system, await saver)
        return UnlockingSession(
            isLocked: login.isLocked || screen.isLocked, notes: login.notes + screen.notes, owner: session)
    }

    deinit {
        token.end()
        follower.end()
        // The last owner may be a handler on a connection's thread, which cannot end itself.
        DispatchQueue.global().async { [buses = buses.withLock { $0 }] in for bus in buses { bus.close() } }
    }

    // MARK: Buses

    /// A connection to a bus.
    private struct Connection {
        let bus: MessageBus
        /// Set when a followed program was seen on the bus.
        let wasUsed: Flag
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }

    /// Starts to connect. The connection may fail later.
    private func connect(_ address: String?) -> Connection? {
        guard let address else { return nil }
        let wasUsed = Flag()
        let bus = try? MessageBus(
            address: address, name: "session-lock",
            onCall: { $0.refuse(name: BusErrorName.unknownMethod, message: "This connection serves no calls.") },
            onDisconnect: { [follower] _ in if wasUsed.isSet { follower.lock() } })
        guard let bus else { return nil }
        buses.withLock { $0.append(bus) }
        return Connection(bus: bus, wasUsed: wasUsed)
    }

    /// `true` if the bus answers. Without a connection, the programs on it seem to be gone before
    /// the end of the connection is reported, so only a call can tell the two apart.
    private func isReached(_ bus: MessageBus, _ clock: any Clock<Duration>) async -> Bool {
        let answer = AwaitedValue<Bool>()
        let asking = Task {
            do throws(BusError) {
                _ = try await bus.owner(of: MessageBus.busName)
                answer.deliver(true)
            } catch {
                answer.deliver(false)
            }
        }
        defer { asking.cancel() }
        return await answer.value(within: Self.patience, on: clock) == true
    }

    /// Follows a program, and returns it when the bus has the rules for its signals.
    ///
    /// - Returns: `nil` if the program is not there.
    private func follow(
        _ name: String, on connection: Connection, _ signals: [BusService.Signals], _ clock: any Clock<Duration>
    ) async -> BusService? {
        let service = BusService(name, on: connection.bus)
        services.withLock { $0.append(service) }
        // The bus processes the rules before the request for the owner, whose answer is the first
        // event.
        let isThere = AwaitedValue<Bool>()
        service.begin(hearing: signals) { [follower, wasUsed = connection.wasUsed] event in
            switch event {
            case .appeared:
                wasUsed.set()
                isThere.deliver(true)
            // Without a connection, every program seems to be gone.
            case .gone: isThere.deliver(false)
            case .signal(let signal): if Self.isLock(signal) { follower.lock() }
            }
        }
        return await isThere.value(within: Self.patience, on: clock) == true ? service : nil
    }

    private static func isLock(_ signal: BusSignal) -> Bool {
        switch signal.member {
        case session: true
        case sleep: signal.arguments.first?.boolean == true
        case properties:
            signal.arguments.first?.text == session.interface
                && signal.arguments.dropFirst().first?.entries["LockedHint"]?.boolean == true
        default: screenSavers.contains(signal.member) && signal.arguments.first?.boolean == true
        }
    }

    // MARK: Programs

    private func followLogin(
        _ address: String?, _ user: UInt32, _ clock: any Clock<Duration>
    ) async -> (isLocked: Bool, notes: [String]) {
        let effect = "so neither a lock of the session nor a suspend locks protected items."
        guard let connection = connect(address) else { return (false, ["There is no system bus, \(effect)"]) }
        let hint = BusService.Signals.properties(Self.session.interface, below: Self.sessionPaths)
        let signals: [BusService.Signals] = [.init(Self.sleep), .init(Self.session), hint]
        guard let service = await follow(Self.login, on: connection, signals, clock) else {
            let isReached = await isReached(connection.bus, clock)
            let reason = isReached ? "logind does not run" : "The system bus cannot be reached"
            return (false, ["\(reason), \(effect)"])
        }
        async let problem = delaySleep(connection.bus, clock)
        let isLocked = await Self.isLocked(service, user, clock)
        var notes: [String] = []
        if isLocked == nil {
            notes.append("logind does not say whether the session is locked, so it may be locked already.")
        }
        if let reason = await problem {
            notes.append(
                "logind does not delay a suspend, so the machine may sleep before the items are locked. \(reason)")
        }
        return (isLocked == true, notes)
    }

    /// `true` if the user has sessions on a display, and all of them are locked; `nil` if logind
    /// does not say that.
    private static func isLocked(_ service: BusService, _ user: UInt32, _ clock: any Clock<Duration>) async -> Bool? {
        let list = BusMember(managerInterface, "ListSessions")
        guard case .success(let values)? = await service.answer(loginPath, list, within: patience, on: clock) else {
            return nil
        }
        // The second field of each session is the user, and the last one the path.
        let own = (values.first?.members ?? []).filter { $0.members.dropFirst().first?.unsigned == UInt64(user) }
        let paths = own.prefix(maximumSessions).compactMap { $0.members.last?.text }
        let get = BusMember(BusService.properties, "GetAll")
        let answers = await withTaskGroup(of: LoginSession?.self) { group in
            for path in paths where path.hasPrefix(sessionPaths + "/") {
                group.addTask {
                    let answer = await service.answer(
                        path, get, [.string(LoginSession.interface)], within: patience, on: clock)
                    guard case .success(let values)? = answer else { return nil }
                    var session = LoginSession()
                    session.take(values.first?.entries ?? [:])
                    return session
                }
            }
            return await group.reduce(into: [LoginSession?]()) { $0.append($1) }
        }
        let sessions = answers.compactMap(\.self).filter { $0.isGraphical && $0.user == UInt64(user) }
        guard sessions.isEmpty else { return sessions.allSatisfy { $0.isLocked == true } }
        return answers.count < own.count || answers.contains(nil) ? nil : false
    }

    /// Makes logind delay a suspend until this object is released.
    ///
    /// - Returns: The reason why logind does not delay a suspend; `nil` if it does.
    private func delaySleep(_ bus: MessageBus, _ clock: any Clock<Duration>) async -> String? {
        let answer = AwaitedValue<Result<OwnedDescriptor, BusError>>()
        let asking = Task {
            do throws(BusError) {
                var arguments = BusArguments(
                    try await bus.call(
                        bus.owner(of: Self.login), path: Self.loginPath, BusMember(Self.managerInterface, "Inhibit"),
                        ["sleep", "Searchlight", "Protected items are locked before the machine sleeps.", "delay"]
                            .map { .string($0) }), of: "Inhibit")
                answer.deliver(.success(try arguments.descriptor()))
            } catch {
                answer.deliver(.failure(error))
            }
        }
        defer { asking.cancel() }
        switch await answer.value(within: Self.patience, on: clock) {
        case .success(let descriptor):
            inhibitor.withLock { $0 = descriptor }
            return nil
        case .failure(let error): return error.description
        case nil: return "It does not answer."
        }
    }

    private func followScreenSavers(
        _ address: String?, _ clock: any Clock<Duration>
    ) async -> (isLocked: Bool, notes: [String]) {
        let effect = "so a screen saver does not lock protected items."
        guard let connection = connect(address) else { return (false, ["There is no session bus, \(effect)"]) }
        let isActive = await withTaskGroup(of: Bool.self) { group in
            for saver in Self.screenSavers {
                group.addTask { [self] in
                    guard let service = await follow(saver.interface, on: connection, [.init(saver)], clock) else {
                        return false
                    }
                    let path = "/" + saver.interface.split(separator: ".").joined(separator: "/")
                    let answer = await service.answer(
                        path, BusMember(saver.interface, "GetActive"), within: Self.patience, on: clock)
                    guard case .success(let values)? = answer else { return false }
                    return values.first?.boolean == true
                }
            }
            return await group.reduce(false) { $0 || $1 }
        }
        let isReached = await isReached(connection.bus, clock)
        return (isActive, isReached ? [] : ["The session bus cannot be reached, \(effect)"])
    }
}
