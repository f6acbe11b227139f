// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import SearchIndex

/// A query on its way: its text, since that is what the parser bounds. The queries that hold for all items and for none
/// have no short text.
enum QueryText: Hashable, Sendable, Codable {
    case all
    case none
    case text(String)

    /// The canonical text may be longer than what was typed.
    private static let limits: QueryLimits = {
        var limits = QueryLimits.standard
        limits.maximumBytes *= 8
        return limits
    }()

    init(_ query: QueryExpression) {
        self =
            switch query {
            case .and([]): .all
            case .or([]): .none
            default: .text(query.description)
            }
    }

    /// The query itself.
    ///
    /// - Throws: ``ServiceProblem/refused(during:reason:)`` for a text that is none.
    func query(for purpose: String) throws(EngineError) -> QueryExpression {
        switch self {
        case .all: return .and([])
        case .none: return .or([])
        case .text(let text):
            do throws(QuerySyntaxError) {
                return try QueryExpression(parsing: text, limits: Self.limits)
            } catch {
                throw .service(.refused(during: purpose, reason: error.description))
            }
        }
    }
}

/// An answer that is too large is not cut: no cursor can be made for a place within a page, so the client asks for fewer.
struct SearchCall: EngineCall {
    static let name = "search"
    var purpose: String { "search" }
    var search: ItemSearch

    func perform(_ desk: CallDesk) async throws(EngineError) -> FoundItems {
        var search = search
        search.limit = max(1, min(search.limit, SearchIndex.maximumPage))
        search.countsUpTo = search.countsUpTo.map { max(0, $0) }
        var found = try await desk.store().find(search)
        if let opening = found.notes?.opening { found.notes?.opening = desk.toldOnce(opening) }
        return found
    }
}

struct ItemsCall: EngineCall {
    static let name = "items"
    var purpose: String { "find items" }
    var query: QueryText
    var bundle: String?
    var limit: Int
    var cursor: QueryCursor?
    var place: QueryPlace

    /// The most items of one answer; more are asked for again.
    private static let maximumItems = 2000

    func perform(_ desk: CallDesk) async throws(EngineError) -> QueryPage {
        try await desk.store().items(
            matching: try query.query(for: purpose), bundle: bundle, limit: max(1, min(limit, Self.maximumItems)),
            after: cursor, place: place)
    }

    static func half(of answer: QueryPage) -> QueryPage? {
        guard answer.items.count > 1 else { return nil }
        var half = answer
        half.items.removeLast(answer.items.count / 2)
        half.next = half.items.last.map { QueryCursor(after: $0.number) }
        return half
    }
}

struct CountCall: EngineCall {
    static let name = "count"
    var purpose: String { "count items" }
    var query: QueryText
    var bundle: String?
    var place: QueryPlace

    func perform(_ desk: CallDesk) async throws(EngineError) -> Int {
        try await desk.store().count(matching: try query.query(for: purpose), bundle: bundle, place: place)
    }
}

struct ExplainCall: EngineCall {
    static let name = "explain"
    var purpose: String { "explain a query" }
    var query: QueryText
    var bundle: String?
    var place: QueryPlace

    func perform(_ desk: CallDesk) async throws(EngineError) -> QueryPlan {
        try await desk.store().explain(try query.query(for: purpose), bundle: bundle, place: place)
    }
}

struct ItemCall: EngineCall {
    static let name = "item"
    var purpose: String { "find an item" }
    /// The item's; `name` is the call's.
    var item: String
    var bundle: String?

    func perform(_ desk: CallDesk) async throws(EngineError) -> StoredItem {
        try await desk.store().item(named: item, bundle: bundle)
    }
}
