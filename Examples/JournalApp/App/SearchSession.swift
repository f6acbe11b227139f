// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import DesktopApp

/// The search of the open app: the current query with its suggestions and results.
actor SearchSession {
    private var query: CSUserQuery?
    private var items: [CSUserQuery.Item] = []
    private var suggestions: [CSUserQuery.Suggestion] = []

    /// Searches for a text, and shows the suggestions and the results. Returns the number of
    /// results.
    ///
    /// - Parameter wordsOnly: `true` for results that contain the words, without results of a
    ///   similar meaning.
    @discardableResult
    func search(_ text: String, wordsOnly: Bool) async throws -> Int {
        try await run(text, CSUserQueryContext(), wordsOnly: wordsOnly)
    }

    /// Searches for the text of a shown suggestion.
    func complete(_ number: Int) async throws {
        guard suggestions.indices.contains(number - 1) else { throw CommandError("There is no suggestion \(number).") }
        let suggestion = suggestions[number - 1]
        query?.userEngaged(suggestion, visibleSuggestions: suggestions, interaction: .select)
        // Without a text of its own, the query takes the text of the suggestion.
        _ = try await run(nil, CSUserQueryContext(currentSuggestion: suggestion.suggestion), wordsOnly: false)
    }

    private func run(_ text: String?, _ context: CSUserQueryContext, wordsOnly: Bool) async throws -> Int {
        // A query runs once, so each search needs a new one.
        query?.cancel()
        context.fetchAttributes = ["title", "contentDescription"]
        context.enableRankedResults = true
        context.maxResultCount = 20
        context.maxSuggestionCount = 5
        context.disableSemanticSearch = wordsOnly
        let query = CSUserQuery(userQueryString: text, userQueryContext: context)
        self.query = query
        (items, suggestions) = ([], [])
        for try await response in query.responses {
            switch response {
            case .suggestion(let suggestion): suggestions.append(suggestion)
            case .item(let item): items.append(item)
            }
        }
        // Results with the better rank come first.
        items.sort()
        for (number, suggestion) in suggestions.enumerated() {
            show("? \(number + 1) \(String(suggestion.suggestion.localizedAttributedSuggestion.characters))")
        }
        for (number, item) in items.enumerated() { show("\(number + 1) \(item.item.attributeSet.title ?? item.id)") }
        show("\(items.count) results")
        return items.count
    }

    /// Notes that the user chose a result, so that it ranks higher in later searches.
    ///
    /// - Returns: The identifier of the result; `nil` if there is none with this number.
    func view(_ number: Int) -> String? {
        guard items.indices.contains(number - 1) else { return nil }
        query?.userEngaged(items[number - 1], visibleItems: items, interaction: .select)
        return items[number - 1].id
    }
}
