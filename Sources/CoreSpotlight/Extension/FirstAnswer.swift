// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Waits for what a handler is given.
func answer<Value>(_ ask: (FirstAnswer<Value>) -> Void) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in ask(FirstAnswer(continuation)) }.value
}

/// Gives a handler's first answer to the one who waits for it: a second answer is ignored, and none at all is an error.
final class FirstAnswer<Value>: Sendable {
    /// Sendable: the value is let go by the one who gives it, and taken by the one who waits.
    struct Handed: @unchecked Sendable { let value: Value }

    private let continuation: Mutex<CheckedContinuation<Handed, any Error>?>

    init(_ continuation: CheckedContinuation<Handed, any Error>) { self.continuation = Mutex(continuation) }

    func give(_ value: Value?, _ error: (any Error)?) {
        let waiting = continuation.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        if let error {
            waiting?.resume(throwing: error)
        } else if let value {
            waiting?.resume(returning: Handed(value: value))
        } else {
            waiting?.resume(
                throwing: MissingAnswer(description: "The completion handler was given neither reply nor error."))
        }
    }

    deinit {
        continuation.withLock { $0 }?.resume(
            throwing: MissingAnswer(description: "The completion handler was released without being called."))
    }
}

/// A handler was not called as it must be.
struct MissingAnswer: Error, CustomStringConvertible { let description: String }
