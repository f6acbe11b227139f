// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The time of the last request, for the idle exit.
package final class Activity: Sendable {
    private struct State {
        var underWay = 0
        var last = ContinuousClock.now
    }

    private let state = Mutex(State())

    package init() {}

    /// Records the arrival of a request.
    func begin() { state.withLock { $0.underWay += 1 } }

    /// Records the reply to a request.
    func end(at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.underWay -= 1
            state.last = now
        }
    }

    /// Returns the remaining time until the server has been idle for `limit`; `nil` if it has.
    func rest(of limit: Duration, at now: ContinuousClock.Instant) -> Duration? {
        state.withLock { state in
            guard state.underWay == 0 else { return limit }
            let rest = limit - (now - state.last)
            return rest > .zero ? rest : nil
        }
    }

    /// Returns when no request has arrived for `limit`. If `limit` is `nil`, never returns.
    ///
    /// - Throws: `CancellationError`.
    func waitForIdle(_ limit: Duration?) async throws {
        guard let limit else {
            while true { try await Task.sleep(for: .seconds(86400)) }
        }
        while let rest = rest(of: limit, at: .now) { try await Task.sleep(for: rest) }
    }
}
