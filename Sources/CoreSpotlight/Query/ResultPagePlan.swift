// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A query's parameters, copied when the query was created.
struct ResultPagePlan: Sendable {
    /// The maximum number of results on a page.
    static let pageSize = 100
    /// The default number of suggestions, and the maximum.
    static let usualSuggestionCount = 10
    static let maximumSuggestionCount = 10

    let kind: ResultPageRequest.Kind
    /// The text in the query language, or as typed.
    let text: String
    let filters: [String]
    let attributes: [String]
    /// The maximum number of results; `nil` for all.
    let maximumCount: Int?
    /// The number of results with a rank; `nil` for all.
    let rankedCount: Int?
    let suggestionCount: Int

    /// Creates the parameters for a query in the query language.
    init(query: String, _ context: CSSearchQueryContext) {
        kind = .query
        text = query
        filters = context.filterQueries
        attributes = context.fetchAttributes
        maximumCount = nil
        rankedCount = nil
        suggestionCount = 0
    }

    /// Creates the parameters for a typed query.
    init(typed: String?, _ context: CSUserQueryContext) {
        kind = context.disableSemanticSearch ? .userWords : .userText
        text = if let typed, !typed.isEmpty { typed } else { context.currentSuggestion?.text ?? "" }
        filters = context.filterQueries
        attributes = context.fetchAttributes
        maximumCount = context.maxResultCount > 0 ? context.maxResultCount : nil
        rankedCount = context.enableRankedResults ? max(context.maxRankedResultCount, 0) : 0
        let wanted = context.maxSuggestionCount > 0 ? context.maxSuggestionCount : Self.usualSuggestionCount
        suggestionCount = min(wanted, Self.maximumSuggestionCount)
    }

    /// `true` if items are requested from the service. Empty typed text finds none.
    var asksForItems: Bool { kind == .query || text.contains { !$0.isWhitespace } }

    /// Returns the request for the page at a cursor, after `count` results; `nil` if no more
    /// results are needed.
    func page(at cursor: [UInt8], after count: Int) -> ResultPageRequest? {
        let limit = min(Self.pageSize, maximumCount.map { $0 - count } ?? .max)
        guard limit > 0 else { return nil }
        return ResultPageRequest(
            kind: kind, text: text, filters: filters, attributes: attributes, cursor: cursor, limit: limit)
    }
}
