// SPDX-License-Identifier: Apache-2.0

import Synchronization
import UniformTypeIdentifiers

/// Waits for a handler's first answer.
func answer<Value>(_ ask: (FirstAnswer<Value>) -> Void) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in ask(FirstAnswer(continuation)) }.value
}

/// A handler's first answer. Later answers are ignored, and a missing answer is an error.
final class FirstAnswer<Value>: Sendable {
    // The handler gives up the value, and only the waiting task uses it afterwards.
    private let continuation: Mutex<CheckedContinuation<UncheckedBox<Value>, any Error>?>

    init(_ continuation: CheckedContinuation<UncheckedBox<Value>, any Error>) {
        self.continuation = Mutex(continuation)
    }

    func give(_ value: Value?, _ error: (any Error)?) {
        let waiting = continuation.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        if let error {
            waiting?.resume(throwing: error)
        } else if let value {
            waiting?.resume(returning: UncheckedBox(value))
        } else {
            waiting?.resume(
                throwing: MissingAnswer(
                    description: "The completion handler was called with neither a reply nor an error."))
        }
    }

    deinit {
        continuation.withLock { $0 }?.resume(
            throwing: MissingAnswer(description: "The completion handler was released without being called."))
    }
}

/// The error for a handler that was not called correctly.
struct MissingAnswer: Error, CustomStringConvertible { let description: String }
