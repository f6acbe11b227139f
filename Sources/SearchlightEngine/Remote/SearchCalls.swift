// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import SearchIndex

/// An encoded query. It is sent as text, since the parser checks the limits. The queries for all
/// items and for no items have no text form, so they have their own cases.
enum QueryText: Hashable, Sendable, Codable {
    case all
    case none
    case text(String)

    /// The parser's limits. The canonical text may be longer than the text that the user typed.
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

    /// Parses the query.
    ///
    /// - Throws: ``ServiceProblem/refused(during:reason:)`` for a malformed text.
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

/// Finds items by words. An answer above the size limit cannot be split, since no cursor exists for
/// a position within a page. The client requests fewer hits instead.
package struct SearchCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "search" }
    /// The search.
    package var search: ItemSearch

    /// The maximum number of hits in one answer. The client requests the rest with further calls.
    package static let maximumHits = 1000

    package init(search: ItemSearch) { self.search = search }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> FoundItems {
        var search = search
        search.limit = max(1, min(search.limit, Self.maximumHits))
        search.countsUpTo = search.countsUpTo.map { max(0, $0) }
        var found = try await engine.find(search)
        if let opening = found.notes?.opening { found.notes?.opening = context.toldOnce(opening) }
        return found
    }
}

/// Finds the items that are similar to an item.
package struct SimilarCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "find similar items" }
    /// The number of the item.
    var item: Int64
    /// The conditions for the hits and their form; its text contains only filters.
    var search: ItemSearch

    /// The maximum number of hits in one answer.
    package static let maximumHits = SearchCall.maximumHits

    package init(to item: Int64, _ search: ItemSearch) { (self.item, self.search) = (item, search) }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> SimilarItems {
        var search = search
        search.limit = max(1, min(search.limit, Self.maximumHits))
        return try await engine.similar(to: item, search)
    }

    /// Returns the first half of the items.
    package static func half(of answer: SimilarItems) -> SimilarItems? {
        guard answer.hits.count > 1 else { return nil }
        var half = answer
        half.hits.removeLast(answer.hits.count / 2)
        return half
    }
}

/// Suggests completions for a text that the user is typing.
package struct SuggestCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "complete a text" }
    var request: SuggestionRequest

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> [Suggestion] { try await engine.suggestions(request) }
}

/// Explains why an item is or is not on the first page of a search.
package struct DiagnoseCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "diagnose a search" }
    /// The search; its limit is the page size.
    var search: ItemSearch
    /// The number of the item.
    var item: Int64

    package init(_ search: ItemSearch, item: Int64) { (self.search, self.item) = (search, item) }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> SearchDiagnosis { try await engine.diagnose(search, item: item) }
}

/// Finds an item that has expired but is not deleted yet. The answer is its number; `nil` if there
/// is no such item.
package struct ExpiredItemCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "find items" }
    /// The item's name: `@` and a number, or a unique identifier.
    var name: String
    /// The item's bundle, if several bundles have an item with this name.
    var bundle: String?

    package init(_ name: String, bundle: String?) { (self.name, self.bundle) = (name, bundle) }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> Int64? { try await engine.expiredItem(named: name, bundle: bundle) }
}

/// Finds items by a metadata query, in the order of their first donation.
package struct ItemsCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "find items" }
    var query: QueryText
    var bundle: String?
    /// The name of the index; `nil` means all.
    var index: String?
    var limit: Int
    var cursor: QueryCursor?
    var place = QueryPlace.current

    /// The maximum number of items in one answer. The client requests the rest with further calls.
    private static let maximumItems = 2000

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> QueryPage {
        try await engine.items(
            matching: try query.query(for: purpose), bundle: bundle, index: index,
            limit: max(1, min(limit, Self.maximumItems)), after: cursor, place: place)
    }

    /// Returns the first half of the items.
    package static func half(of answer: QueryPage) -> QueryPage? {
        guard answer.items.count > 1 else { return nil }
        var half = answer
        half.items.removeLast(answer.items.count / 2)
        half.next = half.items.last.map { QueryCursor(after: $0.number) }
        return half
    }
}

/// Counts the items that satisfy a query.
package struct CountCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "count items" }
    var query: QueryText
    var bundle: String?
    var place = QueryPlace.current

    package init(_ query: QueryExpression, bundle: String? = nil) {
        (self.query, self.bundle) = (QueryText(query), bundle)
    }

    init(query: QueryText, bundle: String?, place: QueryPlace) {
        (self.query, self.bundle, self.place) = (query, bundle, place)
    }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Int {
        try await engine.count(matching: try query.query(for: purpose), bundle: bundle, place: place)
    }
}

/// Explains a query's plan without running the query.
package struct ExplainCall: EngineCall {
    package var purpose: String { "explain a query" }
    var query: QueryText
    var bundle: String?
    var place = QueryPlace.current

    package init(_ query: QueryExpression, bundle: String? = nil) {
        (self.query, self.bundle) = (QueryText(query), bundle)
    }

    init(query: QueryText, bundle: String?, place: QueryPlace) {
        (self.query, self.bundle, self.place) = (query, bundle, place)
    }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> QueryPlan {
        try await engine.explain(try query.query(for: purpose), bundle: bundle, place: place)
    }
}

/// Looks items up by name; see ``EngineClient/items(named:bundle:index:)``.
package struct LookUpCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "find items" }
    var names: [String]
    var bundle: String?
    /// The name of the index; `nil` means all.
    var index: String?

    /// The maximum number of names in one call.
    static let maximumNames = 500

    /// The item for a name, or an error.
    package enum Found: Codable, Sendable {
        /// The item.
        case item(StoredItem)
        /// The error for a name that matches no item, or several.
        case nothing(EngineError)

        var result: Result<StoredItem, EngineError> {
            switch self {
            case .item(let item): .success(item)
            case .nothing(let error): .failure(error)
            }
        }
    }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> [Found] {
        guard names.count <= Self.maximumNames else {
            throw .service(.refused(during: purpose, reason: "more than \(Self.maximumNames) items were named"))
        }
        var found: [Found] = []
        for name in names {
            do throws(EngineError) {
                found.append(.item(try await engine.item(named: name, bundle: bundle, index: index)))
            } catch {
                switch error {
                case .itemNotFound, .itemElsewhere, .ambiguousItem: found.append(.nothing(error.withoutRecords))
                default: throw error
                }
            }
        }
        return found
    }

    /// Returns the first half of the items.
    package static func half(of answer: [Found]) -> [Found]? {
        answer.count > 1 ? Array(answer.prefix(answer.count / 2)) : nil
    }
}
