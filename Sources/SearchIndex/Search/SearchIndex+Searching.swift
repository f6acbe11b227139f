// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery

extension SearchIndex {
    /// Finds the items that have the words of a text, best first; a page at a time.
    ///
    /// - Throws: ``IndexQueryError``; `cancelled` soon after the task is.
    public func search(_ request: SearchRequest) async throws(IndexQueryError) -> SearchPage {
        try await answer(to: request).page
    }

    /// A page, and the request that it answers: without the filters in the text, if a date in words among these found nothing.
    func answer(
        to request: SearchRequest
    ) async throws(IndexQueryError) -> (page: SearchPage, request: SearchRequest) {
        var request = request
        if let cursor = request.cursor { request.readsFilters = request.readsFilters && cursor.readsFilters }
        guard let search = try PreparedSearch(self, request) else {
            let total = request.countsUpTo.map { _ in SearchTotal(count: 0, isExact: true) }
            return (SearchPage(hits: [], next: nil, total: total), request)
        }
        let page = try await self.page(of: search)
        guard page.hits.isEmpty, search.mayReadOtherwise, request.cursor == nil else { return (page, request) }
        var other = request
        other.readsFilters = false
        guard let search = try PreparedSearch(self, other) else { return (page, request) }
        return (try await self.page(of: search), other)
    }

    private func page(of search: PreparedSearch) async throws(IndexQueryError) -> SearchPage {
        let request = search.request
        let limit = max(1, min(Self.maximumPage, request.limit))
        return try await query("Searching", includingPending: request.includesPending) { [self] db in
            // Before the first read, so that what is applied later is not taken for found.
            let pending = pending.nonEmpty
            let shown = request.cursor?.shown ?? []
            let known = Set(shown)
            // One more than is wanted, to know whether there is one.
            let found = try search.outcome(shown.count + limit + 1, db)
            let run = found.run
            let rest = found.hits.filter { !known.contains($0.item) }
            let total = try request.countsUpTo.map {
                try run.total(
                    found.hits, areAll: found.areAll, shown: shown.count + min(limit, rest.count), upTo: $0)
            }
            var room = PageRoom(bytes: request.maximumBytes)
            var hits: [SearchHit] = []
            var count = 0
            for ranked in rest.prefix(limit) {
                if let hit = try run.read(ranked).map(search.projected) {
                    guard try room.takes(hit.item.record) else { break }
                    hits.append(hit)
                }
                count += 1
            }
            let next = SearchCursor(
                now: run.now, shown: shown + rest.prefix(count).map(\.item), replacements: found.replacements,
                readsFilters: request.readsFilters)
            return SearchPage(
                hits: hits, next: rest.count > count ? next : nil, pending: pending, total: total,
                correction: found.correction)
        }
    }

    /// How many items a search finds.
    ///
    /// - Parameters:
    ///   - request: its limit and cursor do not count.
    ///   - maximum: when so many are counted, that is enough; `nil` counts all.
    public func count(_ request: SearchRequest, upTo maximum: Int? = nil) async throws(IndexQueryError) -> Int {
        var request = request
        request.limits.countedReads = .max
        guard let search = try PreparedSearch(self, request) else { return 0 }
        return try await query("Counting items", includingPending: request.includesPending) { db in
            let found = try search.outcome(1, db)
            return try found.run.total(found.hits, areAll: found.areAll, shown: 1, upTo: maximum ?? .max).count
        }
    }

    /// The item with a number.
    public func item(number: Int64) async throws(SearchIndexError) -> StoredItem? {
        try await items(where: "item.id = ?", [number]).first
    }

    /// The item with a number, as it was applied; does not wait for pending donations. For callers that have found the item
    /// a moment ago and waited then.
    public func appliedItem(number: Int64) async throws(SearchIndexError) -> StoredItem? {
        try await readApplied("Looking up an item", itemsQuery(where: "item.id = ?", [number])).first
    }

    /// The items with a unique identifier, of one bundle or of all.
    ///
    /// With a bundle, an item that is not found is looked for once more: when what the bundle donated is applied, or
    /// ``StoreSeams/ReadLimits/timeForNamed`` has passed.
    public func items(
        uniqueIdentifier: String, bundle: String? = nil
    ) async throws(SearchIndexError) -> [StoredItem] {
        guard Self.canBeStored(uniqueIdentifier), Self.canBeStored(bundle) else { return [] }
        if let bundle {
            let lookUp = itemsQuery(
                where: "item.unique_identifier = ? AND bundle.identifier = ?", [uniqueIdentifier, bundle])
            let found = try await read("Looking up an item", lookUp)
            let current = ReadPatience.current
            guard found.isEmpty, current != .everything, current != .own(bundle) else { return found }
            // Who names an item and its bundle may have seen it donated a moment ago.
            do throws(SearchIndexError) {
                try await applier?.settleForAMoment(own: bundle)
            } catch .full, .readOnly {}
            return try await readApplied("Looking up an item", lookUp)
        }
        return try await items(where: "item.unique_identifier = ?", [uniqueIdentifier])
    }

    /// The unique identifiers of the items of a scope, in the order of their bytes.
    ///
    /// - Parameters:
    ///   - after: The last one of the page before; empty: from the beginning.
    ///   - limit: At most so many.
    public func identifiers(
        of scope: IndexScope, after: String, limit: Int
    ) async throws(SearchIndexError) -> [String] {
        guard Self.canBeStored(after), Self.canBeStored(scope.bundle), Self.canBeStored(scope.index) else { return [] }
        return try await read("Listing items") { [clock] db in
            // Along the names of all bundles, so that all pages together are one walk; by bundle, each would be sorted.
            try String.fetchAll(
                db,
                sql: """
                    SELECT unique_identifier FROM item
                    WHERE unique_identifier > ? AND +bundle = (SELECT id FROM bundle WHERE identifier = ?)
                        AND +index_name = ? AND (expires IS NULL OR expires > ?)
                    ORDER BY unique_identifier LIMIT ?
                    """, arguments: [after, scope.bundle, scope.index ?? "", clock.now(db), limit])
        }
    }

    private func items(
        where condition: String, _ arguments: StatementArguments
    ) async throws(SearchIndexError) -> [StoredItem] {
        try await read("Looking up an item", itemsQuery(where: condition, arguments))
    }

    private func itemsQuery(
        where condition: String, _ arguments: StatementArguments
    ) -> @Sendable (Database) throws -> [StoredItem] {
        { [clock] db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT \(StoredItem.columns) FROM item JOIN bundle ON bundle.id = item.bundle
                    WHERE \(condition) AND (item.expires IS NULL OR item.expires > ?)
                    ORDER BY item.id LIMIT 100
                    """, arguments: arguments + [clock.now(db)]
            ).map(StoredItem.init)
        }
    }

    /// How many items each bundle has.
    public func itemCounts() async throws(SearchIndexError) -> [String: Int] {
        try await read("Counting items") { [clock] db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT bundle.identifier, count(*) FROM item JOIN bundle ON bundle.id = item.bundle
                    WHERE item.expires IS NULL OR item.expires > ? GROUP BY bundle.id
                    """, arguments: [clock.now(db)])
            // Names that differ in bytes only, as composed and decomposed letters do, are one name here.
            return try Dictionary(rows.map { (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1)) }) { $0 + $1 }
        }
    }
}
