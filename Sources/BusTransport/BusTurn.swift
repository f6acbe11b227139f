// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A lock of a connection's sd-bus object. The connection's thread releases it while it waits for
/// the peer. It takes the lock again in another function, which the closure of a `Mutex` does not
/// allow.
///
/// `@unchecked Sendable`: the pointer is set once, and the mutex that it points to is made for use
/// by several threads.
final class BusTurn: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Takes the lock. The caller must not hold it.
    func take() { pthread_mutex_lock(mutex) }

    /// Takes the lock if it is free; `false` otherwise, also if the caller holds it.
    func tryTake() -> Bool { pthread_mutex_trylock(mutex) == 0 }

    /// Releases the lock, on the thread that took it.
    func give() { pthread_mutex_unlock(mutex) }
}
