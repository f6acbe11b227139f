// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Keeps only the newest request of each kind for each page. A newer request cancels the older one,
/// including the work in the extension.
package final class Turns: Sendable {
    /// A kind of request from one page.
    package struct Line: Hashable, Sendable {
        package var page: String
        package var kind: String

        package init(page: String, kind: String) {
            self.page = page
            self.kind = kind
        }
    }

    /// An error for a request that is older than a previous one.
    package struct Stale: Error {}

    private struct Turn {
        var number: Int
        var cancel: @Sendable () -> Void
    }

    private struct State {
        var turns: [Line: Turn] = [:]
        /// The lines in order of use, most recent last.
        var order: [Line] = []
    }

    private let state = Mutex(State())
    /// The maximum number of stored lines. A page has a few lines, and users have few pages open.
    private static let maximumLines = 64

    package init() {}

    /// Runs a closure until a newer request arrives.
    ///
    /// - Parameters:
    ///   - number: A number that increases with each request in the line.
    ///   - body: The closure. Its task is cancelled when a newer request arrives or the caller is
    ///     cancelled.
    /// - Throws: ``Stale``, or the closure's error.
    package func take<Value: Sendable>(
        _ number: Int, in line: Line, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = try state.withLock { state in
            if let last = state.turns[line] {
                guard last.number < number else { throw Stale() }
                last.cancel()
            }
            let task = Task { try await body() }
            state.turns[line] = Turn(number: number) { task.cancel() }
            state.order.removeAll { $0 == line }
            state.order.append(line)
            if state.order.count > Self.maximumLines {
                state.turns.removeValue(forKey: state.order.removeFirst())?.cancel()
            }
            return task
        }
        defer {
            // Releases the task and its result.
            state.withLock { if $0.turns[line]?.number == number { $0.turns[line]?.cancel = {} } }
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
