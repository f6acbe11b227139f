// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import MetadataQuery
import SearchIndex
import SearchlightEngine
import ServiceMessages
import UserSearch

/// Handles a bundle's queries about its own items.
struct AppQueries {
    let engine: SearchlightEngine
    let bundle: String
    let limits: ServiceLimits

    /// Returns a page of results for a metadata query.
    func query(_ request: QueryPageRequest) async throws(QueryRefusal) -> QueryPageReply {
        let query = PageCursor.Query(kind: "Query", bundle: bundle, request)
        let limit = try pageItems(request)
        let cursor = try PageCursor.queryCursor(request.cursor, of: query)
        let expression = try Self.parsed(request.text)
        let filters = try filters(request)
        do throws(EngineError) {
            let page = try await engine.items(
                matching: expression, filters: filters, bundle: bundle, attributes: Set(request.attributes),
                limit: limit, maximumBytes: limits.pageBytes, after: cursor, place: .current,
                readsProtected: Self.readsProtected(request))
            return try reply(page.items, request, next: page.next.map { PageCursor.bytes($0, of: query) })
        } catch {
            throw QueryRefusal(error)
        }
    }

    /// Returns a page of results for a search by words, and by meaning unless `usesMeaning` is
    /// `false`.
    func search(
        _ request: QueryPageRequest, usesMeaning: Bool = true
    ) async throws(QueryRefusal) -> QueryPageReply {
        let query = PageCursor.Query(kind: "Search", bundle: bundle, request)
        var search = SearchRequest(request.text, bundle: bundle)
        search.limit = try pageItems(request)
        search.attributes = Set(request.attributes)
        search.maximumBytes = limits.pageBytes
        search.cursor = try PageCursor.searchCursor(request.cursor, of: query, maximumHits: limits.searchHits)
        search.limit = min(search.limit, limits.searchHits - (search.cursor?.hitCount ?? 0))
        search.filters = try filters(request)
        // The ranking must not reveal to an app how the user uses other apps.
        search.learnsFrom = .app
        search.usesMeaning = usesMeaning
        do throws(EngineError) {
            let page = try await engine.search(search, readsProtected: Self.readsProtected(request))
            return try reply(
                page.hits.map(\.item), request,
                next: page.next.flatMap { PageCursor.bytes($0, of: query, maximumHits: limits.searchHits) })
        } catch {
            throw QueryRefusal(error)
        }
    }

    /// Prepares searches by meaning. If the model cannot be used, the app is not notified.
    func prepare() async { try? await engine.prepareMeaning() }

    /// `true` if a request asks for items of encrypted indexes. An answer without them has as many
    /// items as requested, because none needs to be removed from it.
    private static func readsProtected(_ request: QueryPageRequest) -> Bool {
        request.classes.isEmpty || request.classes.contains { ProtectionClass(rawValue: $0)?.isEncrypted == true }
    }

    /// The answer with the items of the requested classes.
    private func reply(
        _ items: [StoredItem], _ request: QueryPageRequest, next: [UInt8]?
    ) throws(EngineError) -> QueryPageReply {
        let classes = Set(request.classes.compactMap { ProtectionClass(rawValue: $0) })
        let isLimited = !request.classes.isEmpty
        let isPlainWanted = classes.contains { !$0.isEncrypted }
        var records: [UInt8] = []
        for item in items {
            if isLimited {
                let protection = engine.protection(of: item.scope)
                guard protection.map({ classes.contains($0) }) ?? isPlainWanted else { continue }
            }
            do throws(ItemRecordError) {
                RecordBatch.append(try item.record.encoded(), to: &records)
            } catch {
                throw .service(.refused(during: "find items", reason: error.description))
            }
        }
        return QueryPageReply(records: records, next: next ?? [])
    }

    /// Returns suggested completions for a text that the user is typing.
    func suggestions(_ text: String, limit: UInt64) async throws(QueryRefusal) -> [String] {
        guard limit > 0 else { return [] }
        var request = SuggestionRequest(text, bundle: bundle)
        request.limit = Int(min(limit, QueryRequest.maximumSuggestions))
        do throws(EngineError) {
            return try await engine.suggestions(request).map(\.text)
        } catch {
            throw QueryRefusal(error)
        }
    }

    /// The kinds of use that an app may report.
    private static let kinds: [EngagementKind] = [.select, .focus]

    /// Counts a use of one of the app's items.
    func engaged(_ item: String, after text: String, kind: String) async throws(QueryRefusal) -> Bool {
        guard let kind = Self.kinds.first(where: { $0.rawValue == kind }) else { throw .kind(kind, of: Self.kinds) }
        do throws(EngineError) {
            return try await engine.countEngagement(withItem: item, of: bundle, text: text, kind: kind)
        } catch {
            throw QueryRefusal(error)
        }
    }

    /// Returns the maximum number of items on a page.
    private func pageItems(_ request: QueryPageRequest) throws(QueryRefusal) -> Int {
        guard request.attributes.count <= limits.attributes else {
            throw .limit("attributes", request.attributes.count, limits.attributes)
        }
        guard request.limit > 0 else {
            throw QueryRefusal(name: BusErrorName.invalidArguments, message: "A page has at least one item.")
        }
        return Int(min(request.limit, UInt64(limits.pageItems)))
    }

    private func filters(_ request: QueryPageRequest) throws(QueryRefusal) -> [QueryExpression] {
        guard request.filters.count <= limits.filters else {
            throw .limit("filters", request.filters.count, limits.filters)
        }
        var filters: [QueryExpression] = []
        for text in request.filters { filters.append(try Self.parsed(text)) }
        return filters
    }

    private static func parsed(_ text: String) throws(QueryRefusal) -> QueryExpression {
        do throws(QuerySyntaxError) { return try QueryExpression(parsing: text) } catch { throw .syntax(error) }
    }
}
