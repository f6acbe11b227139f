// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
internal import ServiceMessages

/// A sender that passes requests to a transport in order, on its own queue.
///
/// A transport may block. On the calling thread, it could block an app's main thread. It could also
/// block the thread pool for Swift tasks, which a host in the same process needs in order to make
/// progress.
final class RequestSender: Sendable {
    typealias Completion = @Sendable (IndexTransport.Outcome) -> Void

    /// The number of unacknowledged bytes above which callers without `await` are blocked. This
    /// prevents a loop over all of an app's documents from filling the memory.
    static let maximumWaitingBytes = 16 << 20

    private let transport: any IndexTransport
    private let queue = DispatchQueue(label: "searchlight.index.requests")
    private let window: Window

    init(transport: any IndexTransport, maximumWaitingBytes: Int = maximumWaitingBytes) {
        self.transport = transport
        window = Window(capacity: maximumWaitingBytes)
    }

    /// Reports content that an extension does not index.
    func reportLeftOut(_ name: String, reason: String) { transport.reportLeftOut(name, reason: reason) }

    /// Lists an index's identifiers after all previously sent requests.
    func list(
        index: String?, after: String, limit: Int,
        completion: @escaping @Sendable (Result<[String], CSIndexError>) -> Void
    ) {
        queue.async { [transport] in transport.list(index: index, after: after, limit: limit, completion: completion) }
    }

    /// Sends requests one after another, and calls `completion` once: when all are durable, or with
    /// the first error. After an error, the remaining requests are dropped.
    ///
    /// - Parameter holdsUp: `true` to block while too many bytes are unacknowledged. Must not be
    ///   `true` in asynchronous code.
    func submit(_ requests: [IndexRequest], holdsUp: Bool, completion: @escaping Completion) {
        guard !requests.isEmpty else { return completion(.success(nil)) }
        // Adding a constant per request also bounds the number of requests without data.
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
    // Sendable: the variables are read and written only under the lock.
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

/// Counts unacknowledged bytes and limits their number.
private final class Window: @unchecked Sendable {
    // Sendable: the variable is read and written only under the condition's lock.
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
