// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Sends requests over a transport in the order in which they were made, off the threads that make them.
///
/// A transport may block. Were it called where the requests are made, it could stop an app's main thread, or the threads
/// of Swift's tasks that the host in the same process needs in order to go on.
final class RequestSender: Sendable {
    typealias Completion = @Sendable (CSIndexError?) -> Void

    /// How many bytes may wait to be sent before callers that do not await the outcome are held up, so that a loop over
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
    func submit(_ requests: [IndexRequest], to indexName: String?, holdsUp: Bool, completion: @escaping Completion) {
        guard !requests.isEmpty else { return completion(nil) }
        let bytes = requests.reduce(0) { $0 + $1.byteCount }
        window.enter(bytes, waits: holdsUp)
        let outcome = Outcome(expected: requests.count, completion: completion)
        queue.async { [transport, window] in
            for request in requests {
                if let error = outcome.error {
                    outcome.report(error)
                } else {
                    transport.send(request, to: indexName) { outcome.report($0) }
                }
            }
            window.leave(bytes)
        }
    }
}

extension IndexRequest {
    /// About how much memory the request takes.
    fileprivate var byteCount: Int {
        switch self {
        case .index(let batch): batch.count
        case .deleteItems(let names), .deleteDomains(let names): names.reduce(0) { $0 + $1.utf8.count + 16 }
        case .deleteAll: 16
        }
    }
}

/// Gathers the outcomes of several requests into one.
private final class Outcome: @unchecked Sendable {
    // Sendable: the variables are read and written under the lock only.
    private let lock = NSLock()
    private var missing: Int
    private var firstError: CSIndexError?
    private let completion: RequestSender.Completion

    init(expected: Int, completion: @escaping RequestSender.Completion) {
        missing = expected
        self.completion = completion
    }

    var error: CSIndexError? { lock.withLock { firstError } }

    func report(_ error: CSIndexError?) {
        let isLast = lock.withLock {
            if firstError == nil { firstError = error }
            missing -= 1
            return missing == 0
        }
        if isLast { completion(self.error) }
    }
}

/// Counts the bytes that wait to be sent.
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
