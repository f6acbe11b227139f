// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a query asks for, as it was when the query was made.
struct ResultPagePlan: Sendable {
    /// The most results in one page.
    static let pageSize = 100
    /// The most suggestions of a query that names no number, and of any query.
    static let usualSuggestionCount = 10
    static let maximumSuggestionCount = 10

    let kind: ResultPageRequest.Kind
    /// In the query language, or as typed.
    let text: String
    let filters: [String]
    let attributes: [String]
    /// The most results; `nil` for all.
    let maximumCount: Int?
    /// How many results bear a rank; `nil` for all.
    let rankedCount: Int?
    let suggestionCount: Int

    /// A query in the query language.
    init(query: String, _ context: CSSearchQueryContext) {
        kind = .query
        text = query
        filters = context.filterQueries
        attributes = context.fetchAttributes
        maximumCount = nil
        rankedCount = nil
        suggestionCount = 0
    }

    /// What a person typed.
    init(typed: String?, _ context: CSUserQueryContext) {
        kind = .userText
        text = if let typed, !typed.isEmpty { typed } else { context.currentSuggestion?.text ?? "" }
        filters = context.filterQueries
        attributes = context.fetchAttributes
        maximumCount = context.maxResultCount > 0 ? context.maxResultCount : nil
        rankedCount = context.enableRankedResults ? max(context.maxRankedResultCount, 0) : 0
        let wanted = context.maxSuggestionCount > 0 ? context.maxSuggestionCount : Self.usualSuggestionCount
        suggestionCount = min(wanted, Self.maximumSuggestionCount)
    }

    /// Whether the service is to be asked for items: nothing typed finds nothing.
    var asksForItems: Bool { kind == .query || text.contains { !$0.isWhitespace } }

    /// The page at a cursor, after `count` results; `nil` if no more are wanted.
    func page(at cursor: [UInt8], after count: Int) -> ResultPageRequest? {
        let limit = min(Self.pageSize, maximumCount.map { $0 - count } ?? .max)
        guard limit > 0 else { return nil }
        return ResultPageRequest(
            kind: kind, text: text, filters: filters, attributes: attributes, cursor: cursor, limit: limit)
    }
}
