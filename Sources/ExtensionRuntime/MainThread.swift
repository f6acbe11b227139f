// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// The main thread of a worker, which opens the extension's library before it runs the main queue.
///
/// A library that brings Foundation has to be opened there: its initializer calls that of libdispatch a second time, which
/// takes whoever calls it for the main thread. Once the main queue runs without a thread of its own, that leaves the queue
/// owned by a thread that knows nothing of it, and `DispatchQueue.main.sync` waits for ever.
enum MainThread {
    private static let waiting = Mutex<(@Sendable () -> Void)?>(nil)
    private static let isServing = Atomic(false)
    private static let handedOver = DispatchSemaphore(value: 0)

    /// Does one thing on the main thread, and waits for it; where no main thread waits, as in other programs than a worker,
    /// on the caller's. The first time only: after that, the main thread runs its queue.
    static func perform(_ body: @escaping @Sendable () -> Void) {
        guard isServing.exchange(false, ordering: .acquiringAndReleasing) else { return body() }
        let done = DispatchSemaphore(value: 0)
        waiting.withLock { waiting in
            waiting = {
                body()
                done.signal()
            }
        }
        handedOver.signal()
        done.wait()
    }

    /// Says that the main thread will serve; before anybody could ask it to.
    static func announce() { isServing.store(true, ordering: .releasing) }

    /// Does the first thing that is to be done here. To be called on the main thread, after ``announce()``.
    static func serve() {
        handedOver.wait()
        waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }?()
    }
}
