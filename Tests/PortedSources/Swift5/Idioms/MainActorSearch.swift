// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

@MainActor
class MainActorSearch {
    private(set) var found = [String]()
    private(set) var error: (any Error)?

    func search(_ query: CSSearchQuery, whenDone: @escaping () -> Void) {
        query.foundItemsHandler = { items in
            MainActor.assertIsolated()
            self.found += items.map { $0.uniqueIdentifier }
        }
        query.completionHandler = { [weak self] error in
            MainActor.assertIsolated()
            self?.error = error
            whenDone()
        }
        query.start()
    }
}
