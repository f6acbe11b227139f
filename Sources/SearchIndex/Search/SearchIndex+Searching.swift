// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery

extension SearchIndex {
    /// Finds the items that contain the words of a text, best first, one page at a time.
    ///
    /// - Throws: ``IndexQueryError``; `cancelled` soon after the task is cancelled.
    public func search(_ request: SearchRequest) async throws(IndexQueryError) -> SearchPage {
        try await answer(to: request).page
    }

    /// Returns a page and the request that it answers. If the text has a date phrase without a
    /// filter name and nothing is found, the search is repeated with the phrase as words, and the
    /// returned request says so. Filters with a name apply to both searches.
    func answer(
        to request: SearchRequest
    ) async throws(IndexQueryError) -> (page: SearchPage, request: SearchRequest) {
        var request = request
        if let cursor = request.cursor {
            request.readsFilters = request.readsFilters && cursor.readsFilters
            request.readsBareDates = request.readsBareDates && cursor.readsBareDates
        }
        guard let search = try PreparedSearch(self, request) else {
            let total = request.countsUpTo.map { _ in SearchTotal(count: 0, isExact: true) }
            return (SearchPage(hits: [], next: nil, total: total), request)
        }
        let page = try await self.page(of: search)
        guard page.hits.isEmpty, search.mayReadOtherwise, request.cursor == nil else { return (page, request) }
        var other = request
        other.readsBareDates = false
        guard let search = try PreparedSearch(self, other) else { return (page, request) }
        return (try await self.page(of: search), other)
    }

    private func page(of search: PreparedSearch) async throws(IndexQueryError) -> SearchPage {
        let request = search.request
        let limit = max(1, min(Self.maximumPage, request.limit))
        return try await query("Searching", includingPending: request.includesPending) { [self] db in
            // Read before the data, so that donations applied in between are not considered
            // included.
            let pending = pending(of: request.bundle)
            let shown = request.cursor?.shown ?? []
            let known = Set(shown)
            // Requests one more hit than wanted, to see whether there is a next page.
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
                readsFilters: request.readsFilters, readsBareDates: request.readsBareDates)
            return SearchPage(
                hits: hits, next: rest.count > count ? next : nil, pending: pending, total: total,
                correction: found.correction)
        }
    }

    /// Counts the items that a search finds. Like a search, a count that finds nothing is repeated
    /// with date phrases without a filter name as words.
    ///
    /// - Parameters:
    ///   - request: The search; its limit and cursor are ignored.
    ///   - maximum: The number at which counting stops; `nil` to count all items.
    public func count(_ request: SearchRequest, upTo maximum: Int? = nil) async throws(IndexQueryError) -> Int {
        var request = request
        (request.limits.countedReads, request.limits.countedBytes) = (.max, .max)
        request.cursor = nil
        guard let search = try PreparedSearch(self, request) else { return 0 }
        let count = try await self.count(search, upTo: maximum)
        guard count == 0, search.mayReadOtherwise, maximum != 0 else { return count }
        request.readsBareDates = false
        guard let search = try PreparedSearch(self, request) else { return 0 }
        return try await self.count(search, upTo: maximum)
    }

    private func count(_ search: PreparedSearch, upTo maximum: Int?) async throws(IndexQueryError) -> Int {
        try await query("Counting items", includingPending: search.request.includesPending) { db in
            let found = try search.outcome(1, db)
            return try found.run.total(found.hits, areAll: found.areAll, shown: 1, upTo: maximum ?? .max).count
        }
    }

    /// Returns the item with a number.
    public func item(number: Int64) async throws(SearchIndexError) -> StoredItem? {
        try await items(where: "item.id = ?", [number]).first
    }

    /// Returns the item with a number from the applied donations, without waiting for pending ones.
    /// For callers that found the item shortly before.
    public func appliedItem(number: Int64) async throws(SearchIndexError) -> StoredItem? {
        try await readApplied("Looking up an item", itemsQuery(where: "item.id = ?", [number])).first
    }

    /// Returns the items with a unique identifier, in one bundle or in all bundles.
    ///
    /// With a bundle, an item that is not found is looked up again. The second lookup waits until
    /// the bundle's donations are applied, but no longer than
    /// ``StoreHooks/ReadLimits/timeForNamed``.
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
            // A caller that names an item and its bundle may have seen a recent donation.
            do throws(SearchIndexError) {
                try await applier?.settleForAMoment(own: bundle)
            } catch .full, .readOnly {}
            return try await readApplied("Looking up an item", lookUp)
        }
        return try await items(where: "item.unique_identifier = ?", [uniqueIdentifier])
    }

    /// Returns the unique identifiers of the items of a scope, in byte order.
    ///
    /// - Parameters:
    ///   - after: The last identifier of the previous page; empty for the first page.
    ///   - limit: The largest number of identifiers.
    public func identifiers(
        of scope: IndexScope, after: String, limit: Int
    ) async throws(SearchIndexError) -> [String] {
        guard Self.canBeStored(after), Self.canBeStored(scope.bundle), Self.canBeStored(scope.index) else { return [] }
        return try await read("Listing items") { [clock] db in
            // The unary plus makes SQLite scan the index by identifier, so that all pages together
            // are one scan. With an index by bundle, SQLite would sort the identifiers for each
            // page.
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

    /// Returns the number of items of each bundle.
    public func itemCounts() async throws(SearchIndexError) -> [String: Int] {
        try await read("Counting items") { [clock] db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT bundle.identifier, count(*) FROM item JOIN bundle ON bundle.id = item.bundle
                    WHERE item.expires IS NULL OR item.expires > ? GROUP BY bundle.id
                    """, arguments: [clock.now(db)])
            // Swift treats identifiers that differ only in Unicode normalization as equal; their
            // counts are added up.
            return try Dictionary(rows.map { (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1)) }) { $0 + $1 }
        }
    }
}
