// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

@MainActor
final class SearchModel {
    var items: [CSUserQuery.Item] = []
    var suggestions: [CSUserQuery.Suggestion] = []
    private var query: CSUserQuery?

    func search(_ text: String) async throws {
        query?.cancel()
        let context = CSUserQueryContext()
        context.fetchAttributes = ["title", "contentDescription"]
        context.maxResultCount = 10
        context.maxSuggestionCount = 4
        context.enableRankedResults = true
        if #available(iOS 18, macOS 15, *) {
            context.maxRankedResultCount = 2
            context.disableSemanticSearch = false
        }
        let query = CSUserQuery(userQueryString: text, userQueryContext: context)
        self.query = query
        for try await element in query.responses {
            switch element {
            case .item(let item): items.append(item)
            case .suggestion(let suggestion): suggestions.append(suggestion)
            @unknown default: break
            }
        }
        items.sort { first, second in first.item.compare(byRank: second.item) == .orderedAscending }
    }

    func opened(_ item: CSUserQuery.Item) {
        query?.userEngaged(item, visibleItems: items, interaction: .select)
    }
}
