// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// When somebody asked last.
package final class Activity: Sendable {
    private struct State {
        var underWay = 0
        var last = ContinuousClock.now
    }

    private let state = Mutex(State())

    package init() {}

    /// To be called when a request arrives.
    func begin() { state.withLock { $0.underWay += 1 } }

    /// To be called when it is answered.
    func end(at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.underWay -= 1
            state.last = now
        }
    }

    /// How long nothing may be asked from now on until it was idle for a time; `nil` when it was.
    func rest(of limit: Duration, at now: ContinuousClock.Instant) -> Duration? {
        state.withLock { state in
            guard state.underWay == 0 else { return limit }
            let rest = limit - (now - state.last)
            return rest > .zero ? rest : nil
        }
    }

    /// Returns once nothing was asked for so long; `nil` never does.
    ///
    /// - Throws: `CancellationError`.
    func waitForIdle(_ limit: Duration?) async throws {
        guard let limit else {
            while true { try await Task.sleep(for: .seconds(86400)) }
        }
        while let rest = rest(of: limit, at: .now) { try await Task.sleep(for: rest) }
    }
}
