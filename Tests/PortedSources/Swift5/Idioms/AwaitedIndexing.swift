// SPDX-License-Identifier: Apache-2.0
@preconcurrency import CoreSpotlight

actor Library {
    private let index = CSSearchableIndex(name: "library")

    func replace(_ titles: [String]) async throws {
        try await index.deleteAllSearchableItems()
        let items = titles.map { title in
            let attributes = CSSearchableItemAttributeSet(contentType: .content)
            attributes.displayName = title
            return CSSearchableItem(uniqueIdentifier: title, domainIdentifier: "books", attributeSet: attributes)
        }
        try await index.indexSearchableItems(items)
        try await index.deleteSearchableItems(withDomainIdentifiers: ["magazines"])
    }
}
