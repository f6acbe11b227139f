// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How many bytes of donations the service holds for all clients together.
final class ByteBudget: Sendable {
    private struct State {
        var held = 0
        var peak = 0
    }
    private let state = Mutex(State())
    let limit: Int

    init(limit: Int) { self.limit = limit }

    /// The most that were held at once.
    var peak: Int { state.withLock { $0.peak } }
    /// How many are held.
    var held: Int { state.withLock { $0.held } }

    /// Takes some; `false` if that would be too many.
    func take(_ count: Int) -> Bool {
        state.withLock { state in
            guard state.held + count <= limit else { return false }
            state.held += count
            state.peak = max(state.peak, state.held)
            return true
        }
    }

    func give(_ count: Int) { state.withLock { $0.held -= count } }
}
