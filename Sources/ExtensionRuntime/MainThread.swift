// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// A worker's main thread. It opens the extension's library before it runs the main queue.
///
/// A library that loads Foundation must be opened on the main thread. Its initializer calls
/// libdispatch's initializer again, which assumes that the calling thread is the main thread. If
/// the main queue then ran without its own thread, another thread would own it without serving it,
/// and `DispatchQueue.main.sync` would wait indefinitely.
enum MainThread {
    private static let waiting = Mutex<(@Sendable () -> Void)?>(nil)
    private static let isServing = Atomic(false)
    private static let handedOver = DispatchSemaphore(value: 0)

    /// Runs a closure and waits for it. The first call uses the main thread, which then runs its
    /// queue. Later calls, and all calls in a program whose main thread does not wait in
    /// ``serve()``, use the caller's thread.
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

    /// Declares that the main thread will call ``serve()``. Must be called before any
    /// ``perform(_:)``.
    static func announce() { isServing.store(true, ordering: .releasing) }

    /// Runs the first closure. Must be called on the main thread, after ``announce()``.
    static func serve() {
        handedOver.wait()
        waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }?()
    }
}
