// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A task that can be cancelled before it starts.
///
/// The context that the host receives is a number, as in ``PendingCompletions``. If a task that has
/// ended is cancelled, no entry is found.
final class RequestTask: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
    }
    private let state = Mutex(State())

    func start(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            let task = Task { await body() }
            if state.isCancelled { task.cancel() }
            state.task = task
        }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    private struct Table {
        var lastNumber: UInt = 0
        var tasks: [UInt: RequestTask] = [:]
    }
    private static let table = Mutex(Table())

    /// Stores a task until it is removed, and returns its number for the host.
    static func add(_ task: RequestTask) -> UInt {
        table.withLock { table in
            table.lastNumber += 1
            table.tasks[table.lastNumber] = task
            return table.lastNumber
        }
    }

    /// Removes and returns the task with a number; `nil` if it has already been removed.
    static func remove(_ number: UInt) -> RequestTask? { table.withLock { $0.tasks.removeValue(forKey: number) } }
}
