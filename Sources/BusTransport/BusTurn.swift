// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whose turn it is with a connection's sd-bus object: a lock that its thread gives up while it waits for the peer, and
/// takes again in another function, which the closures of a `Mutex` cannot say.
///
/// `@unchecked Sendable`: the pointer is set once, and what it points to is made to be used by several threads.
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

    /// Waits for the turn. Not by who has it.
    func take() { pthread_mutex_lock(mutex) }

    /// Takes the turn if nobody has it; also `false` for who has it.
    func tryTake() -> Bool { pthread_mutex_trylock(mutex) == 0 }

    /// Gives it back, on the thread that took it.
    func give() { pthread_mutex_unlock(mutex) }
}
