// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func emptyItem() -> CSSearchableItem {
    let item = CSSearchableItem()
    item.uniqueIdentifier = "later"
    item.domainIdentifier = "d"
    item.attributeSet = CSSearchableItemAttributeSet()
    return item
}
