// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How long a worker was made to stand still: time in which nothing can be expected of it.
final class PausedTime: Sendable {
    private struct State {
        var since: Duration?
        var total = Duration.zero
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())
    private let elapsed: @Sendable () -> Duration

    init(clock: any Clock<Duration>) { elapsed = stopwatch(clock) }

    /// Begins to count, unless that goes on.
    func begin() {
        let now = elapsed()
        state.withLock { $0.since = $0.since ?? now }
    }

    /// Ends it, if it goes on.
    func end() {
        let now = elapsed()
        let waiting = state.withLock { state in
            if let since = state.since { state.total += now - since }
            state.since = nil
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    var soFar: Duration {
        let now = elapsed()
        return state.withLock { state in state.total + (state.since.map { now - $0 } ?? .zero) }
    }

    /// All of it, once it does not go on. Cancelling does not end the waiting; the end of the worker does.
    func total() async -> Duration {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let goesOn = state.withLock { state in
                if state.since != nil { state.waiting.append(continuation) }
                return state.since != nil
            }
            if !goesOn { continuation.resume() }
        }
        return soFar
    }
}
