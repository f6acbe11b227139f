// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

// The example from WWDC24 session 10131, rewritten: an app that searches its own content.

/// A journal that is donated in batches, so that an interrupted donation continues where it
/// stopped.
public final class JournalDonor {
    public let index = CSSearchableIndex(name: "Journal")

    public init() {}

    /// Donates entries, and stores its progress with the batch.
    public func donate(_ entries: [(identifier: String, title: String, text: String)], upTo state: Data) async throws {
        index.beginBatch()
        let items = entries.map { entry -> CSSearchableItem in
            let attributes = CSSearchableItemAttributeSet(contentType: .text)
            attributes.title = entry.title
            attributes.textContent = entry.text
            attributes.contentDescription = "Entry"
            return CSSearchableItem(
                uniqueIdentifier: entry.identifier, domainIdentifier: "journal", attributeSet: attributes)
        }
        try await index.indexSearchableItems(items)
        try await index.endBatch(withClientState: state)
    }

    /// Changes only the title.
    public func rename(_ identifier: String, to title: String) async throws {
        let attributes = CSSearchableItemAttributeSet(contentType: .text)
        attributes.title = title
        let item = CSSearchableItem(uniqueIdentifier: identifier, domainIdentifier: "journal", attributeSet: attributes)
        item.isUpdate = true
        try await index.indexSearchableItems([item])
    }
}

/// A search field over the journal.
public final class JournalSearch {
    public var items: [CSUserQuery.Item] = []
    public var suggestions: [CSUserQuery.Suggestion] = []
    var query: CSUserQuery?

    public init() {}

    /// Called when the field appears.
    public func appear() { CSUserQuery.prepare() }

    /// Searches for the typed text, and only among images if requested.
    public func search(_ text: String, imagesOnly: Bool = false) async throws {
        let context = CSUserQueryContext()
        context.fetchAttributes = ["title", "contentDescription"]
        context.maxResultCount = 20
        context.maxSuggestionCount = 4
        context.enableRankedResults = true
        context.maxRankedResultCount = 2
        if imagesOnly { context.filterQueries = ["contentTypeTree=\"public.image\""] }
        let query = CSUserQuery(userQueryString: text, userQueryContext: context)
        self.query = query
        (items, suggestions) = ([], [])
        for try await response in query.responses {
            switch response {
            case .item(let item): items.append(item)
            case .suggestion(let suggestion): suggestions.append(suggestion)
            @unknown default: break
            }
        }
    }

    /// Returns the user opened a result.
    func open(_ item: CSUserQuery.Item) -> String {
        query?.userEngaged(item, visibleItems: items, interaction: .select)
        return item.id
    }
}
