// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
internal import ServiceMessages

/// A sender that passes requests to a transport in order, on a queue of its own.
///
/// A transport may block. On the calling thread, it could block an app's main thread. It could also
/// block the thread pool of Swift tasks, which a host in the same process needs for its progress.
final class RequestSender: Sendable {
    typealias Completion = @Sendable (IndexTransport.Outcome) -> Void

    /// The number of unacknowledged bytes above which callers without `await` are blocked. A loop
    /// over all documents of an app then does not fill the memory.
    static let maximumWaitingBytes = 16 << 20

    private let transport: any IndexTransport
    private let queue = DispatchQueue(label: "searchlight.index.requests")
    private let window: Window

    init(transport: any IndexTransport, maximumWaitingBytes: Int = maximumWaitingBytes) {
        self.transport = transport
        window = Window(capacity: maximumWaitingBytes)
    }

    /// Reports content that is left out of the index.
    func reportLeftOut(_ name: String, reason: String) { transport.reportLeftOut(name, reason: reason) }

    /// Lists identifiers of an index after the requests that were sent before.
    func list(
        index: String?, after: String, limit: Int,
        completion: @escaping @Sendable (Result<[String], CSIndexError>) -> Void
    ) {
        queue.async { [transport] in transport.list(index: index, after: after, limit: limit, completion: completion) }
    }

    /// Sends requests one after the other, and calls `completion` once: when all are durable, or
    /// with the first error. After an error, the remaining requests are dropped.
    ///
    /// - Parameter holdsUp: `true` to block while too many bytes are unacknowledged. Must not be
    ///   `true` in asynchronous code.
    func submit(_ requests: [IndexRequest], holdsUp: Bool, completion: @escaping Completion) {
        guard !requests.isEmpty else { return completion(.success(nil)) }
        // A constant for each request bounds requests without data too.
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

/// A collector that combines the outcomes of several requests.
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
            // The first error is kept.
            if case .success = outcome { outcome = reported }
            missing -= 1
            return missing == 0 ? outcome : nil
        }
        if let all { completion(all) }
    }
}

/// A counter of unacknowledged bytes that bounds them.
private final class Window: @unchecked Sendable {
    // Sendable: the variable is read and written under the condition's lock only.
    private let condition = NSCondition()
    private var waiting = 0
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    /// Adds bytes. With `waits`, first waits until there is room or no other bytes are waiting.
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
