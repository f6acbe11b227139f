// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How many requests there are for which a person waits: drags and previews.
final class InteractiveRequestCounter: Sendable {
    private struct State {
        var count = 0
        var onChange: (@Sendable (Int) -> Void)?
    }
    private let state = Mutex(State())

    /// Has somebody told whenever there are some or none. Told under a lock, so that the order is right: must not call back.
    func follow(_ onChange: @escaping @Sendable (Int) -> Void) { state.withLock { $0.onChange = onChange } }

    /// Does something for a person.
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
