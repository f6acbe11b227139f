// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
internal import ServiceMessages

/// Sends requests over a transport in the order in which they were made, off the threads that make them.
///
/// A transport may block. Were it called where the requests are made, it could stop an app's main thread, or the threads
/// of Swift's tasks that the host in the same process needs in order to go on.
final class RequestSender: Sendable {
    typealias Completion = @Sendable (IndexTransport.Outcome) -> Void

    /// How many bytes may be unacknowledged before callers that do not await the outcome are held up, so that a loop over
    /// all documents of an app does not fill the memory.
    static let maximumWaitingBytes = 16 << 20

    private let transport: any IndexTransport
    private let queue = DispatchQueue(label: "searchlight.index.requests")
    private let window: Window

    init(transport: any IndexTransport, maximumWaitingBytes: Int = maximumWaitingBytes) {
        self.transport = transport
        window = Window(capacity: maximumWaitingBytes)
    }

    /// Sends requests, one after the other, and reports once: when all are durable, or else the first error. After an
    /// error, those not yet sent are dropped.
    ///
    /// - Parameter holdsUp: whether to block while too many bytes wait. Must not be set in asynchronous code.
    func submit(_ requests: [IndexRequest], holdsUp: Bool, completion: @escaping Completion) {
        guard !requests.isEmpty else { return completion(.success(nil)) }
        // A little for each, so that what carries no bytes is bounded too.
        let bytes = requests.reduce(0) { $0 + $1.byteCount + 64 }
        window.enter(bytes, waits: holdsUp)
        let gathering = Gathering(expected: requests.count) { [window] outcome in
            window.leave(bytes)
            completion(outcome)
        }
        queue.async { [transport] in
            for request in requests {
                if let error = gathering.error {
                    gathering.report(.failure(error))
                } else {
                    transport.send(request) { gathering.report($0) }
                }
            }
        }
    }
}

/// Gathers the outcomes of several requests into one.
private final class Gathering: @unchecked Sendable {
    // Sendable: the variables are read and written under the lock only.
    private let lock = NSLock()
    private var missing: Int
    private var outcome = IndexTransport.Outcome.success(nil)
    private let completion: RequestSender.Completion

    init(expected: Int, completion: @escaping RequestSender.Completion) {
        missing = expected
        self.completion = completion
    }

    var error: CSIndexError? {
        guard case .failure(let error) = lock.withLock({ outcome }) else { return nil }
        return error
    }

    func report(_ reported: IndexTransport.Outcome) {
        let all: IndexTransport.Outcome? = lock.withLock {
            // The first error stays.
            if case .success = outcome { outcome = reported }
            missing -= 1
            return missing == 0 ? outcome : nil
        }
        if let all { completion(all) }
    }
}

/// Counts the bytes that are unacknowledged.
private final class Window: @unchecked Sendable {
    // Sendable: the variable is read and written under the condition's lock only.
    private let condition = NSCondition()
    private var waiting = 0
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    /// Adds bytes; if asked to, waits first until there is room, or nothing else waits.
    func enter(_ bytes: Int, waits: Bool) {
        condition.withLock {
            while waits, waiting > 0, waiting + bytes > capacity { condition.wait() }
            waiting += bytes
        }
    }

    func leave(_ bytes: Int) {
        condition.withLock {
            waiting -= bytes
            condition.broadcast()
        }
    }
}
