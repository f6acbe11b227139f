// SPDX-License-Identifier: Apache-2.0
import Synchronization
import SystemSupport

/// A connection to a message bus, such as the session's: many who call and are called over one connection.
///
/// Like a ``BusConnection`` it has a thread of its own; every method may be called from any thread, and handlers are
/// called on that thread and must not block. What can be wrong with the bus is told by the end (`onDisconnect`), once
/// the calls that waited have failed with ``BusError/disconnected``.
public final class MessageBus: Sendable {
    /// The name of the bus itself.
    public static let busName = "org.freedesktop.DBus"
    /// The name of the service.
    public static let serviceName = "com.searchlight.Searchlight1"

    /// Whether a name could be had.
    public enum NameOutcome: Hashable, Sendable {
        /// It is this connection's.
        case acquired
        /// Another connection has it.
        case taken
    }

    fileprivate let connection: BusConnection
    fileprivate let watches: Watches

    /// What is to be done when somebody is gone, and who hears whom.
    fileprivate final class Watches: Sendable {
        let handlers = Mutex<[String: @Sendable () -> Void]>([:])
        /// By the name that is followed.
        let services = Mutex<[String: [Follower]]>([:])
        /// By the unique name of who has it.
        let listeners = Mutex<[String: [Follower]]>([:])

        struct Follower: Sendable {
            weak var service: BusService?
        }

        func receive(_ member: BusMember, _ arguments: [BusValue]) {
            guard member == BusMember(MessageBus.busName, "NameOwnerChanged"), arguments.count == 3,
                case .string(let name) = arguments[0], case .string(let owner) = arguments[2]
            else { return }
            for follower in services.withLock({ $0[name] ?? [] }) {
                follower.service?.setOwner(owner.isEmpty ? nil : owner)
            }
            if owner.isEmpty { handlers.withLock { $0.removeValue(forKey: name) }?() }
        }

        func listener(of sender: String) -> (@Sendable (BusSignal) -> Void)? {
            guard let followers = listeners.withLock({ $0[sender] }) else { return nil }
            return { signal in for follower in followers { follower.service?.receive(signal) } }
        }
    }

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - address: The address, as in `DBUS_SESSION_BUS_ADDRESS`.
    ///   - name: The name of the thread, up to 15 bytes, for debuggers.
    ///   - limits: What is taken from each sender.
    ///   - onCall: Receives incoming calls; ``IncomingCall/sender`` says whose.
    ///   - onDisconnect: Called once, with the reason, when the connection has ended or could not be made.
    /// - Throws: ``BusError/system(operation:code:)``.
    public init(
        address: String, name: String, limits: SenderLimits = SenderLimits(),
        onCall: @escaping BusConnection.CallHandler, onDisconnect: @escaping BusConnection.EndHandler
    ) throws(BusError) {
        let watches = Watches()
        self.watches = watches
        connection = try BusConnection(
            address: address, name: name, limits: limits, onCall: onCall, onSignal: watches.receive,
            listener: watches.listener(of:), onDisconnect: onDisconnect)
    }

    // MARK: Calls

    /// Calls somebody by their unique name, and waits for the reply; nobody else's reply counts.
    public func call(
        _ client: String, _ member: BusMember, _ arguments: [BusValue]
    ) async throws(BusError) -> [BusValue] {
        try await connection.call(.client(client), member, arguments)
    }

    /// The same, with a handler that is called on the connection's thread.
    public func call(
        _ client: String, _ member: BusMember, _ arguments: [BusValue], reply: @escaping BusConnection.ReplyHandler
    ) {
        connection.call(.client(client), member, arguments, reply: reply)
    }

    /// Sends a call that expects no reply.
    public func post(_ client: String, _ member: BusMember, _ arguments: [BusValue]) {
        connection.post(.client(client), member, arguments)
    }

    /// Ends the connection.
    public func close() { connection.close() }

    // MARK: The bus itself

    private func ask(_ member: String, _ arguments: [BusValue]) async throws(BusError) -> BusArguments {
        BusArguments(
            try await connection.call(.messageBus, BusMember(Self.busName, member), arguments), of: member)
    }

    /// Takes a name, neither replacing nor waiting for who has it.
    public func requestName(_ name: String) async throws(BusError) -> NameOutcome {
        // DBUS_NAME_FLAG_DO_NOT_QUEUE
        var arguments = try await ask("RequestName", [.string(name), .unsigned32(4)])
        switch try arguments.unsigned32() {
        // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER, DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER
        case 1, 4: return .acquired
        default: return .taken
        }
    }

    /// Gives a name back.
    public func releaseName(_ name: String) async throws(BusError) { _ = try await ask("ReleaseName", [.string(name)]) }

    /// Has a service started, unless it runs, and waits until it has its name.
    ///
    /// - Throws: ``BusError``; `remote` when nothing starts it.
    public func startService(_ name: String) async throws(BusError) {
        _ = try await ask("StartServiceByName", [.string(name), .unsigned32(0)])
    }

    /// The names of the services that the bus starts when they are called.
    public func activatableNames() async throws(BusError) -> [String] {
        var arguments = try await ask("ListActivatableNames", [])
        return try arguments.strings()
    }

    /// The unique name of who has a name.
    ///
    /// - Throws: ``BusError``; `remote` when nobody has.
    public func owner(of name: String) async throws(BusError) -> String {
        var arguments = try await ask("GetNameOwner", [.string(name)])
        return try arguments.string()
    }

    /// Who a client is, by the bus and then the kernel. The bus gives the number of the process that connected: of one that
    /// has ended and whose connection another one goes on with, the number may be somebody else's by now.
    ///
    /// - Throws: ``BusError``, or ``PeerIdentityError`` for what cannot be determined.
    public func identity(of client: String) async throws -> PeerIdentity {
        var process = try await ask("GetConnectionUnixProcessID", [.string(client)])
        var user = try await ask("GetConnectionUnixUser", [.string(client)])
        guard let number = Int32(exactly: try process.unsigned32()) else { throw PeerIdentityError.invisible }
        return try PeerIdentity(process: number, user: try user.unsigned32())
    }

    /// Has a handler called once when a client is gone, on the connection's thread.
    ///
    /// - Throws: ``BusError``. A client that was gone before is not told of: ask something about it afterwards.
    public func watch(_ client: String, onGone: @escaping @Sendable () -> Void) async throws(BusError) {
        watches.handlers.withLock { $0[client] = onGone }
        do throws(BusError) { _ = try await ask("AddMatch", [.string(Self.rule(client))]) } catch {
            watches.handlers.withLock { $0[client] = nil }
            throw error
        }
    }

    /// Ends that.
    public func unwatch(_ client: String) {
        watches.handlers.withLock { $0[client] = nil }
        connection.post(
            .messageBus, BusMember(Self.busName, "RemoveMatch"), [.string(Self.rule(client))])
    }

    fileprivate static func rule(_ client: String) -> String {
        """
        type='signal',sender='\(busName)',interface='\(busName)',member='NameOwnerChanged',arg0='\(client)'
        """
    }
}

// MARK: Other programs

extension MessageBus {
    func addRule(_ rule: String) {
        connection.post(.messageBus, BusMember(Self.busName, "AddMatch"), [.string(rule)])
    }

    func removeRule(_ rule: String) {
        connection.post(.messageBus, BusMember(Self.busName, "RemoveMatch"), [.string(rule)])
    }

    /// Tells a service who has its name, now and whenever that changes.
    func follow(_ service: BusService) {
        // References that are made with a lock held are kept until it is given back: each may be the last.
        let known = watches.services.withLock { services in
            let known = (services[service.name] ?? []).compactMap(\.service)
            services[service.name] = (known + [service]).map { Watches.Follower(service: $0) }
            return known
        }
        withExtendedLifetime(known) {}
        addRule(Self.rule(service.name))
        // After the rule, so that nothing is missed in between.
        connection.call(.messageBus, BusMember(Self.busName, "GetNameOwner"), [.string(service.name)]) {
            [weak service] result in
            if case .success(let values) = result, case .string(let owner)? = values.first {
                service?.setOwner(owner)
            } else {
                service?.setOwner(nil)
            }
        }
    }

    func listen(to new: String?, insteadOf old: String?, _ service: BusService) {
        let known = watches.listeners.withLock { listeners in
            let known = old.flatMap { listeners[$0] }?.compactMap(\.service) ?? []
            if let old {
                let others = known.filter { $0 !== service }
                listeners[old] = others.isEmpty ? nil : others.map { Watches.Follower(service: $0) }
            }
            if let new { listeners[new, default: []].append(Watches.Follower(service: service)) }
            return known
        }
        withExtendedLifetime(known) {}
    }

    func call(
        _ owner: String, path: String, _ member: BusMember, _ arguments: [BusValue],
        reply: @escaping BusService.ReplyHandler
    ) {
        connection.send(BusTarget(destination: owner, path: path), member, arguments, reply: .foreign(reply))
    }
}
