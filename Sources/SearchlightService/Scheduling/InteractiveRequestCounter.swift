// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Counts the requests that a user is waiting for: drags and previews.
final class InteractiveRequestCounter: Sendable {
    private struct State {
        var count = 0
        var onChange: (@Sendable (Int) -> Void)?
    }
    private let state = Mutex(State())

    /// Sets the handler that is called when the number becomes zero or non-zero. It is called under
    /// a lock, in order, and must not call back.
    func follow(_ onChange: @escaping @Sendable (Int) -> Void) { state.withLock { $0.onChange = onChange } }

    /// Runs a closure and counts it as an interactive request.
    func during<Value, Failure: Error>(_ body: () async throws(Failure) -> Value) async throws(Failure) -> Value {
        change(by: 1)
        defer { change(by: -1) }
        return try await body()
    }

    private func change(by difference: Int) {
        state.withLock { state in
            let before = state.count
            state.count += difference
            if (before == 0) != (state.count == 0) { state.onChange?(state.count) }
        }
    }
}
