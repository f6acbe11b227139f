// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A lock for a connection's sd-bus object. The connection's thread releases it while it waits for
/// the peer, and acquires it again in another function, which a `Mutex` closure does not allow.
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

    /// Acquires the lock. The caller must not hold it.
    func take() { pthread_mutex_lock(mutex) }

    /// Acquires the lock if it is free; returns `false` otherwise, even if the caller holds it.
    func tryTake() -> Bool { pthread_mutex_trylock(mutex) == 0 }

    /// Releases the lock on the thread that acquired it.
    func give() { pthread_mutex_unlock(mutex) }
}
