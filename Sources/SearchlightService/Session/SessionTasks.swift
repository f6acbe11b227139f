// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The service's own tasks. Their number is bounded, and all of them are cancelled when the service
/// shuts down.
final class SessionTasks: Sendable {
    private struct State {
        var isClosed = false
        var last: UInt64 = 0
        var tasks: [UInt64: Task<Void, Never>] = [:]
    }
    private let state = Mutex(State())
    private let maximum: Int

    init(maximum: Int) { self.maximum = maximum }

    /// Starts a task, unless there are too many tasks or all were cancelled.
    func begin(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isClosed, state.tasks.count < maximum else { return }
            state.last += 1
            state.tasks[state.last] = Task { [number = state.last] in
                await body()
                end(number)
            }
        }
    }

    private func end(_ number: UInt64) { state.withLock { $0.tasks[number] = nil } }

    /// Cancels all tasks and starts no more.
    func cancelAll() {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }
}
