// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

protocol HandlerIndex: AnyObject {
    func indexSearchableItems(_ items: [CSSearchableItem], completionHandler: ((Error?) -> Void)?)
    func deleteSearchableItems(withIdentifiers identifiers: [String], completionHandler: ((Error?) -> Void)?)
}

final class FakeSearchableIndex: HandlerIndex {
    var items: [CSSearchableItem] = []

    func indexSearchableItems(_ items: [CSSearchableItem], completionHandler: ((Error?) -> Void)? = nil) {
        self.items += items
        completionHandler?(nil)
    }

    func deleteSearchableItems(withIdentifiers identifiers: [String], completionHandler: ((Error?) -> Void)? = nil) {
        items.removeAll { identifiers.contains($0.uniqueIdentifier) }
        completionHandler?(nil)
    }
}
