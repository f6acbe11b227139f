// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Which activity the person is at: one in a process.
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
        // What goes with it is not let go with the lock held.
        withExtendedLifetime(current) {}
    }

    func isTaken(by activity: NSUserActivity) -> Bool {
        let current = place.withLock { $0.activity }
        return current === activity
    }
}
