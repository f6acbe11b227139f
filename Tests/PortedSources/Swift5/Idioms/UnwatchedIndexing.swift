// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func forget(_ identifiers: [String], domain: String) {
    let index = CSSearchableIndex.default()
    index.deleteSearchableItems(withIdentifiers: identifiers)
    index.deleteSearchableItems(withDomainIdentifiers: [domain])
    index.indexSearchableItems([CSSearchableItem(uniqueIdentifier: nil, domainIdentifier: nil, attributeSet: .init())])
    index.deleteAllSearchableItems()
}
