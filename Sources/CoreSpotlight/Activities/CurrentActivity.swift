// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The process's current activity. There is at most one.
final class CurrentActivity: Sendable {
    static let ofProcess = CurrentActivity()

    private struct Place { weak var activity: NSUserActivity? }

    private let place = Mutex(Place())

    func take(_ activity: NSUserActivity) { place.withLock { $0.activity = activity } }

    func leave(_ activity: NSUserActivity) {
        let current = place.withLock { place in
            let current = place.activity
            if current === activity { place.activity = nil }
            return current
        }
        // The previous activity is released outside the lock, because its `deinit` may need the
        // lock.
        withExtendedLifetime(current) {}
    }

    func isTaken(by activity: NSUserActivity) -> Bool {
        let current = place.withLock { $0.activity }
        return current === activity
    }
}
