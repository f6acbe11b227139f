// SPDX-License-Identifier: Apache-2.0
import FlyingSocks
import Synchronization

/// The server package's own pool, with bounds for connections that wait for a request or the rest of one: each is ended after a
/// while, and of too many the one that has waited longest. A browser connects anew when it has something to ask.
///
/// What is sent is waited for without limit: a person may look for a folder while a download rests.
struct BoundedSocketPool<Base: AsyncSocketPool>: AsyncSocketPool {
    private let base: Base
    private let clock: any Clock<Duration>
    private let waiting = Waiting()

    init(_ base: Base, clock: any Clock<Duration> = ContinuousClock()) {
        self.base = base
        self.clock = clock
    }

    func prepare() async throws { try await base.prepare() }

    func run() async throws { try await base.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        // The one that is listened on has nobody at its other end, and waits for as long as nobody comes.
        guard events.contains(.read), (try? socket.remotePeer()) != nil else {
            return try await base.suspendSocket(socket, untilReadyFor: events)
        }
        let wait = Task { [base, clock] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await base.suspendSocket(socket, untilReadyFor: events) }
                group.addTask {
                    try await clock.sleep(for: QuickLookServer.idleConnection)
                    throw SocketError.disconnected
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
        let number = waiting.begin(wait)
        defer { waiting.end(number) }
        try await withTaskCancellationHandler {
            try await wait.value
        } onCancel: {
            wait.cancel()
        }
    }

    /// The connections that wait, by numbers that grow.
    private final class Waiting: Sendable {
        private struct State {
            var last: UInt64 = 0
            var all: [UInt64: Task<Void, any Error>] = [:]
        }
        private let state = Mutex(State())

        func begin(_ wait: Task<Void, any Error>) -> UInt64 {
            let (number, oldest) = state.withLock { state in
                state.last += 1
                state.all[state.last] = wait
                let isTooMany = state.all.count > QuickLookServer.maximumIdleConnections
                return (
                    state.last, isTooMany ? state.all.keys.min().flatMap { state.all.removeValue(forKey: $0) } : nil
                )
            }
            oldest?.cancel()
            return number
        }

        func end(_ number: UInt64) { state.withLock { _ = $0.all.removeValue(forKey: number) } }
    }
}
