// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How much is going on: requests under way and connections. Whoever wants to know is told of each change between
/// something and nothing, so that nobody has to look.
final class ServiceActivity: Sendable {
    /// What is going on.
    struct Load: Sendable, Equatable {
        var requests = 0
        var connections = 0
        /// Clients on the session bus that have said who they are.
        var senders = 0
        /// Whether something is owed that will be done when the machine has nothing better to do.
        var isOwing = false
        /// Whether files are followed for extensions: nobody else would notice what changes.
        var isFollowing = false
        /// Requests since the beginning.
        var total: UInt64 = 0

        /// Whether nobody is connected and nothing is pending that nobody else would do.
        var isIdle: Bool { requests == 0 && connections == 0 && senders == 0 && !isOwing }

        /// Whether the service may end by itself.
        var mayEnd: Bool { isIdle && !isFollowing }
    }
    private struct Clients {
        var count = 0
        var onChange: (@Sendable (Bool) -> Void)?
    }
    /// Who asks.
    enum Asker {
        /// A client, which waits for the answer.
        case client
        /// The service itself.
        case service
    }
    private let load = Mutex(Load())
    private let clients = Mutex(Clients())
    private let onChange: @Sendable () -> Void

    /// - Parameter onChange: Called when requests or connections become some or none, from any thread.
    init(onChange: @escaping @Sendable () -> Void) { self.onChange = onChange }

    var now: Load { load.withLock { $0 } }

    /// Has somebody told whenever clients begin to wait and none does any more. Told under a lock, so that the order is right:
    /// must not call back.
    func followClients(_ onChange: @escaping @Sendable (Bool) -> Void) {
        clients.withLock { clients in
            clients.onChange = onChange
            if clients.count > 0 { onChange(true) }
        }
    }

    private func changeClients(by difference: Int) {
        clients.withLock { clients in
            let before = clients.count
            clients.count += difference
            if (before == 0) != (clients.count == 0) { clients.onChange?(clients.count > 0) }
        }
    }

    /// Notes a request.
    ///
    /// - Returns: Lives as long as the request does.
    func beginRequest(of asker: Asker = .client) -> Token {
        if asker == .client { changeClients(by: 1) }
        let isFirst = load.withLock { load in
            load.requests += 1
            load.total += 1
            return load.requests == 1
        }
        if isFirst { onChange() }
        return Token { [self] in
            if asker == .client { changeClients(by: -1) }
            let isLast = load.withLock { load in
                load.requests -= 1
                return load.requests == 0
            }
            if isLast { onChange() }
        }
    }

    /// Notes a connection, unless there are so many already.
    ///
    /// - Returns: Lives as long as the connection does.
    func beginConnection(limit: Int) -> Token? {
        let count: Int? = load.withLock { load in
            guard load.connections < limit else { return nil }
            load.connections += 1
            return load.connections
        }
        guard let count else { return nil }
        if count == 1 { onChange() }
        return Token { [self] in
            let isLast = load.withLock { load in
                load.connections -= 1
                return load.connections == 0
            }
            if isLast { onChange() }
        }
    }

    /// Notes whether something is owed.
    func noteOwing(_ isOwing: Bool) {
        let isChange = load.withLock { load in
            defer { load.isOwing = isOwing }
            return load.isOwing != isOwing
        }
        if isChange { onChange() }
    }

    /// Notes whether files are followed.
    func noteFollowing(_ isFollowing: Bool) {
        let isChange = load.withLock { load in
            defer { load.isFollowing = isFollowing }
            return load.isFollowing != isFollowing
        }
        if isChange { onChange() }
    }

    /// Notes a client on the session bus.
    ///
    /// - Returns: Lives as long as it is there.
    func beginSender() -> Token {
        let isFirst = load.withLock { load in
            load.senders += 1
            return load.senders == 1
        }
        if isFirst { onChange() }
        return Token { [self] in
            let isLast = load.withLock { load in
                load.senders -= 1
                return load.senders == 0
            }
            if isLast { onChange() }
        }
    }

    /// Something that goes on for as long as this object lives, or until it is ended.
    final class Token: Sendable {
        private let onEnd: Mutex<(@Sendable () -> Void)?>

        init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = Mutex(onEnd) }

        func end() {
            let action = onEnd.withLock { action in
                defer { action = nil }
                return action
            }
            action?()
        }

        deinit { end() }
    }
}
