// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What a session has under way: bounded, and all cancelled at its end.
final class SessionTasks: Sendable {
    private struct State {
        var isClosed = false
        var last: UInt64 = 0
        var tasks: [UInt64: Task<Void, Never>] = [:]
    }
    private let state = Mutex(State())
    private let maximum: Int

    init(maximum: Int) { self.maximum = maximum }

    /// How many there are.
    var count: Int { state.withLock { $0.tasks.count } }

    /// Begins one.
    ///
    /// - Returns: Cancels it; `nil` if there are too many or all was cancelled.
    func begin(_ body: @escaping @Sendable () async -> Void) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.isClosed, state.tasks.count < maximum else { return nil }
            state.last += 1
            let number = state.last
            let task = Task {
                await body()
                end(number)
            }
            state.tasks[number] = task
            return { task.cancel() }
        }
    }

    private func end(_ number: UInt64) { state.withLock { $0.tasks[number] = nil } }

    /// Cancels all, and begins none any more.
    func cancelAll() {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }

    /// Returns when none is left, of those that are there now.
    func drain() async {
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }
}
