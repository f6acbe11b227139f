// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A task that may be cancelled before it was started.
///
/// The host is given a number for a context, as in ``PendingCompletions``: what it says of a task that has ended finds
/// nothing.
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

    /// Keeps a task until it is removed; its number, by which the host names it.
    static func add(_ task: RequestTask) -> UInt {
        table.withLock { table in
            table.lastNumber += 1
            table.tasks[table.lastNumber] = task
            return table.lastNumber
        }
    }

    /// The task behind a number, the first time it is asked for.
    static func remove(_ number: UInt) -> RequestTask? { table.withLock { $0.tasks.removeValue(forKey: number) } }
}
