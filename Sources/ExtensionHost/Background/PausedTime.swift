// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The total time for which a worker was paused and could make no progress.
final class PausedTime: Sendable {
    private struct State {
        var since: Duration?
        var total = Duration.zero
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())
    private let elapsed: @Sendable () -> Duration

    init(clock: any Clock<Duration>) { elapsed = stopwatch(clock) }

    /// Starts the clock, unless it is running.
    func begin() {
        let now = elapsed()
        state.withLock { $0.since = $0.since ?? now }
    }

    /// Stops the clock, if it is running.
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

    /// Returns the total once the clock is stopped. Cancelling the task does not end the wait; the
    /// worker's exit does.
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
