// SPDX-License-Identifier: Apache-2.0
import Synchronization
import SystemSupport

/// A connection to a message bus, such as the session bus.
///
/// Like a ``BusConnection``, it has its own thread. Every method may be called from any thread;
/// handlers are called on the connection's thread and must not block. Problems with the bus are
/// reported to `onDisconnect`, after the pending calls have failed with ``BusError/disconnected``.
public final class MessageBus: Sendable {
    /// The name of the message bus itself.
    public static let busName = "org.freedesktop.DBus"
    /// The well-known name of the service.
    public static let serviceName = "com.searchlight.Searchlight1"

    /// The result of a request for a name.
    public enum NameOutcome: Hashable, Sendable {
        /// This connection owns the name.
        case acquired
        /// Another connection owns the name.
        case taken
    }

    fileprivate let connection: BusConnection
    fileprivate let watches: Watches

    /// The handlers for disconnected clients, and the followers of other programs.
    fileprivate final class Watches: Sendable {
        let handlers = Mutex<[String: @Sendable () -> Void]>([:])
        /// The followers, by well-known name.
        let services = Mutex<[String: [Follower]]>([:])
        /// The followers, by the owner's unique name.
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

    /// Starts connecting.
    ///
    /// - Parameters:
    ///   - address: The address, as in `DBUS_SESSION_BUS_ADDRESS`.
    ///   - name: The name of the thread, up to 15 bytes, for debuggers.
    ///   - limits: The limits for each sender.
    ///   - onCall: Receives incoming calls; ``IncomingCall/sender`` is the caller.
    ///   - onDisconnect: Called once, with the reason, when the connection has ended or could not
    ///     be established.
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

    /// Calls a client by its unique name and waits for its reply. Replies from other clients are
    /// ignored.
    public func call(
        _ client: String, _ member: BusMember, _ arguments: [BusValue]
    ) async throws(BusError) -> [BusValue] {
        try await connection.call(.client(client), member, arguments)
    }

    /// Calls a client by its unique name. The handler is called on the connection's thread.
    public func call(
        _ client: String, _ member: BusMember, _ arguments: [BusValue], reply: @escaping BusConnection.ReplyHandler
    ) {
        connection.call(.client(client), member, arguments, reply: reply)
    }

    /// Calls another program's object by the program's unique name, and waits for its reply.
    package func call(
        _ client: String, path: String, _ member: BusMember, _ arguments: [BusValue]
    ) async throws(BusError) -> [BusValue] {
        try await connection.call(BusTarget(destination: client, path: path), member, arguments)
    }

    /// Returns the object path of an app (Desktop Entry Specification, D-Bus Activation): the name
    /// with dots replaced by slashes and `-` by `_`. `nil` if the text is not a bus name.
    package static func objectPath(ofApplication name: String) -> String? {
        let bytes = Array(name.utf8)
        guard bytes.first != UInt8(ascii: ":"), BusName.isBusName(bytes[...]) else { return nil }
        return "/" + String(name.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 })
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

    /// Requests a name. The request neither replaces a current owner nor waits for the name.
    public func requestName(_ name: String) async throws(BusError) -> NameOutcome {
        // DBUS_NAME_FLAG_DO_NOT_QUEUE
        var arguments = try await ask("RequestName", [.string(name), .unsigned32(4)])
        switch try arguments.unsigned32() {
        // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER, DBUS_REQUEST_NAME_REPLY_ALREADY_OWNER
        case 1, 4: return .acquired
        default: return .taken
        }
    }

    /// Releases a name.
    public func releaseName(_ name: String) async throws(BusError) { _ = try await ask("ReleaseName", [.string(name)]) }

    /// Starts a service unless it is running, and waits until it owns its name.
    ///
    /// - Throws: ``BusError``; `remote` if the bus cannot start it.
    public func startService(_ name: String) async throws(BusError) {
        _ = try await ask("StartServiceByName", [.string(name), .unsigned32(0)])
    }

    /// Returns the names of the services that the bus starts on demand.
    public func activatableNames() async throws(BusError) -> [String] {
        var arguments = try await ask("ListActivatableNames", [])
        return try arguments.strings()
    }

    /// Returns the unique name of a name's owner.
    ///
    /// - Throws: ``BusError``; `remote` if there is no owner.
    public func owner(of name: String) async throws(BusError) -> String {
        var arguments = try await ask("GetNameOwner", [.string(name)])
        return try arguments.string()
    }

    /// Identifies a client through the bus and the kernel. The bus reports the process that
    /// connected. If that process has exited and another one uses its connection, the process ID
    /// may belong to a third process by now.
    ///
    /// - Throws: ``BusError``, or ``PeerIdentityError`` if the client cannot be identified.
    public func identity(of client: String) async throws -> PeerIdentity {
        var process = try await ask("GetConnectionUnixProcessID", [.string(client)])
        var user = try await ask("GetConnectionUnixUser", [.string(client)])
        guard let number = Int32(exactly: try process.unsigned32()) else { throw PeerIdentityError.invisible }
        return try PeerIdentity(process: number, user: try user.unsigned32())
    }

    /// Sets a handler that is called once, on the connection's thread, when a client disconnects.
    ///
    /// - Throws: ``BusError``. If the client had already disconnected, the handler is never called,
    ///   so call the client afterwards to detect that.
    public func watch(_ client: String, onGone: @escaping @Sendable () -> Void) async throws(BusError) {
        watches.handlers.withLock { $0[client] = onGone }
        do throws(BusError) { _ = try await ask("AddMatch", [.string(Self.rule(client))]) } catch {
            watches.handlers.withLock { $0[client] = nil }
            throw error
        }
    }

    /// Removes the handler of a client.
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

    /// Reports the owner of a service's name to the service object, immediately and after each
    /// change.
    func follow(_ service: BusService) {
        // Strong references that are created under the lock are kept until it is released, because
        // releasing the last one would run a deinitializer.
        let known = watches.services.withLock { services in
            let known = (services[service.name] ?? []).compactMap(\.service)
            services[service.name] = (known + [service]).map { Watches.Follower(service: $0) }
            return known
        }
        withExtendedLifetime(known) {}
        addRule(Self.rule(service.name))
        // Called after the rule is set, so that no change is missed.
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

    /// Calls another program's object by the program's unique name. The values of the reply may
    /// have any type.
    package func call(
        _ owner: String, path: String, _ member: BusMember, _ arguments: [BusValue],
        reply: @escaping BusService.ReplyHandler
    ) {
        connection.send(BusTarget(destination: owner, path: path), member, arguments, reply: .foreign(reply))
    }
}
