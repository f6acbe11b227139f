// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

extension CSSearchableItem {
    static func permanent(_ identifier: String, _ attributes: CSSearchableItemAttributeSet) -> CSSearchableItem {
        let item = CSSearchableItem(uniqueIdentifier: identifier, domainIdentifier: nil, attributeSet: attributes)
        item.expirationDate = .distantFuture
        item.expirationDate = Date.distantFuture
        return item
    }

    func expire(after interval: TimeInterval) { expirationDate = Date().addingTimeInterval(interval) }
}
