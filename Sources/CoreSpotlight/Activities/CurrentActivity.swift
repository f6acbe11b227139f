// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Which activity the person is at: one in a process.
final class CurrentActivity: Sendable {
    static let ofProcess = CurrentActivity()

    private struct Place { weak var activity: NSUserActivity? }

    private let place = Mutex(Place())

    func take(_ activity: NSUserActivity) { place.withLock { $0.activity = activity } }

    func leave(_ activity: NSUserActivity) {
        place.withLock { if $0.activity === activity { $0.activity = nil } }
    }

    func isTaken(by activity: NSUserActivity) -> Bool { place.withLock { $0.activity === activity } }
}
