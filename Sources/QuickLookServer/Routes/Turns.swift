// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Keeps the newest request of each kind and page. A newer request cancels the older one, down to the extension.
package final class Turns: Sendable {
    /// A kind of request, and the page that sends it.
    package struct Line: Hashable, Sendable {
        package var page: String
        package var kind: String

        package init(page: String, kind: String) {
            self.page = page
            self.kind = kind
        }
    }

    /// The request is older than one that arrived before.
    package struct Stale: Error {}

    private struct Turn {
        var number: Int
        var cancel: @Sendable () -> Void
    }

    private struct State {
        var turns: [Line: Turn] = [:]
        /// The lines, the one used last at the end.
        var order: [Line] = []
    }

    private let state = Mutex(State())
    /// The most pages that are remembered, twice, since users have few open.
    private static let maximumLines = 64

    package init() {}

    /// Runs a body until a newer request arrives.
    ///
    /// - Parameters:
    ///   - number: Grows with each request of the line.
    ///   - body: What to do; its task is cancelled when its turn is over, and when the caller's is.
    /// - Throws: ``Stale``, or what the body throws.
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
            // Keeps what was the result no longer than needed.
            state.withLock { if $0.turns[line]?.number == number { $0.turns[line]?.cancel = {} } }
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
