// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import SystemSupport

/// Time limits for operations that may never finish, such as access to a disk whose server has
/// disappeared.
enum Patience {
    /// Runs a body on its own thread; `nil` after the time limit, when the thread is abandoned.
    static func look<Value: Sendable>(_ seconds: Double, _ body: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            let answer = Answer(continuation)
            if OwnThread.start("doctor", { answer.give(body()) }) != 0 { answer.give(nil) }
            answer.giveUp(after: seconds)
        }
    }

    /// Runs a body in a task; `nil` after the time limit, when the task is cancelled.
    static func ask<Value: Sendable>(
        _ seconds: Double, _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let answer = Answer(continuation)
            let task = Task { answer.give(await body()) }
            answer.giveUp(after: seconds) { task.cancel() }
        }
    }

    /// An answer that only the first of two callers sets.
    private final class Answer<Value: Sendable>: Sendable {
        private let continuation: Mutex<CheckedContinuation<Value?, Never>?>

        init(_ continuation: CheckedContinuation<Value?, Never>) { self.continuation = Mutex(continuation) }

        @discardableResult
        func give(_ value: Value?) -> Bool {
            let waiting = continuation.withLock { continuation in
                defer { continuation = nil }
                return continuation
            }
            waiting?.resume(returning: value)
            return waiting != nil
        }

        func giveUp(after seconds: Double, _ then: @escaping @Sendable () -> Void = {}) {
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { if self.give(nil) { then() } }
        }
    }
}
