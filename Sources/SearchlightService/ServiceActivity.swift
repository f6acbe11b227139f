// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The service's load: requests in progress, connections and pending work. A handler is called
/// whenever one of these becomes zero or non-zero, so that no component polls.
final class ServiceActivity: Sendable {
    /// The current load.
    struct Load: Sendable, Equatable {
        var requests = 0
        var connections = 0
        /// The number of clients on the session bus that have sent their first call.
        var senders = 0
        /// `true` if a job is pending that will run when the machine is idle.
        var isOwing = false
        /// `true` if files are followed for extensions. Only this service would notice changes to
        /// these files.
        var isFollowing = false
        /// The number of requests since the start.
        var total: UInt64 = 0

        /// `true` if there are no requests, no clients and no pending jobs.
        var isIdle: Bool { requests == 0 && connections == 0 && senders == 0 && !isOwing }

        /// `true` if the service may exit by itself.
        var mayEnd: Bool { isIdle && !isFollowing }
    }
    private struct Clients {
        var count = 0
        var onChange: (@Sendable (Bool) -> Void)?
    }
    /// The origin of a request.
    enum Asker {
        /// A client, which waits for the reply.
        case client
        /// The service itself.
        case service
    }
    private let load = Mutex(Load())
    private let clients = Mutex(Clients())
    private let onChange: @Sendable () -> Void

    /// Creates an empty load.
    ///
    /// - Parameter onChange: Called from any thread when requests, connections or another part of
    ///   the load become zero or non-zero.
    init(onChange: @escaping @Sendable () -> Void) { self.onChange = onChange }

    var now: Load { load.withLock { $0 } }

    /// Sets the handler that is called when the number of waiting clients becomes zero or non-zero.
    /// It is called under a lock, in order, and must not call back.
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

    /// Counts a request.
    ///
    /// - Returns: A token to keep until the request ends.
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

    /// Counts a connection, unless the limit is reached.
    ///
    /// - Returns: A token to keep until the connection ends; `nil` if the limit is reached.
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

    /// Records whether a job is pending.
    func noteOwing(_ isOwing: Bool) {
        let isChange = load.withLock { load in
            defer { load.isOwing = isOwing }
            return load.isOwing != isOwing
        }
        if isChange { onChange() }
    }

    /// Records whether files are followed.
    func noteFollowing(_ isFollowing: Bool) {
        let isChange = load.withLock { load in
            defer { load.isFollowing = isFollowing }
            return load.isFollowing != isFollowing
        }
        if isChange { onChange() }
    }

    /// Counts a client on the session bus.
    ///
    /// - Returns: A token to keep until the client has disconnected.
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

    /// A count that ends when the object is released or ``end()`` is called.
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
