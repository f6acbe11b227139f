// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// Passes requests from one thread to another.
final class Handover<Request: Sendable>: Sendable {
    private let requests = Mutex<[Request?]>([])
    private let available = DispatchSemaphore(value: 0)

    func add(_ request: Request) { put(request) }

    /// After the requests that were added, ``next()`` returns `nil`.
    func end() { put(nil) }

    private func put(_ request: Request?) {
        requests.withLock { $0.append(request) }
        available.signal()
    }

    /// Waits for the next request.
    func next() -> Request? {
        available.wait()
        return requests.withLock { $0.removeFirst() }
    }
}
