// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord
import MetadataQuery

/// Found items as they travel: reduced to what was asked for, encoded, and bounded in bytes, whatever the items hold.
public struct RecordPage<Cursor: Sendable>: Sendable {
    /// The items, a ``RecordBatch``.
    public var records: [UInt8] = []
    /// How many there are.
    public var count = 0
    /// Where the next page begins; `nil` after the last one.
    public var next: Cursor?

    /// Adds an item, unless the page is full.
    ///
    /// - Returns: Whether it was added. The first always is.
    fileprivate mutating func add(_ record: ItemRecord, _ form: RecordPageForm) throws -> Bool {
        var record = record
        record.attributes = record.attributes.filter { form.attributes.contains($0.key) }
        let bytes = try record.encoded()
        guard count == 0 || (count < form.limit && records.count + bytes.count + 4 <= form.maximumBytes) else {
            return false
        }
        RecordBatch.append(bytes, to: &records)
        count += 1
        return true
    }
}

/// What a page of records shall be like.
public struct RecordPageForm: Sendable {
    /// The attributes that items carry; identifier, domain and expiry are always there.
    public var attributes: Set<String>
    /// At most so many items.
    public var limit: Int
    /// At most so many bytes, unless the first item alone has more.
    public var maximumBytes: Int

    /// Creates a form.
    public init(attributes: Set<String>, limit: Int, maximumBytes: Int) {
        self.attributes = attributes
        self.limit = limit
        self.maximumBytes = maximumBytes
    }
}

extension SearchIndex {
    /// The items that satisfy a query, as records; otherwise as
    /// ``items(matching:filters:bundle:limit:after:context:)``. Never holds more than a page and an item in memory.
    public func records(
        matching query: QueryExpression, filters: [QueryExpression], bundle: String?, as form: RecordPageForm,
        after cursor: QueryCursor?
    ) async throws(IndexQueryError) -> RecordPage<QueryCursor> {
        let prepared = try PreparedQuery(query, filters: filters, bundle: bundle, context: queryContext())
        return try await self.query("Searching") { [clock] db in
            try prepared.run(db, now: clock.now(db)) { compiled in
                // One more than is wanted, to know whether there is one.
                let select = compiled.page(limit: form.limit + 1, after: cursor)
                let rows = try Row.fetchCursor(
                    db, sql: select.sql, arguments: StatementArguments(select.arguments))
                var page = RecordPage<QueryCursor>()
                var last: Int64 = 0
                while let row = try rows.next() {
                    let item = try StoredItem(row)
                    guard try page.add(item.record, form) else {
                        page.next = QueryCursor(after: last)
                        break
                    }
                    last = item.number
                }
                return page
            }
        }
    }

    /// The items that a search finds, best first, as records; otherwise as ``search(_:)``. The request's limit and
    /// attributes do not count. Never holds more than a page and an item in memory.
    ///
    /// - Parameter maximumHits: After so many, over all pages, it ends: the cursor names each.
    public func records(
        _ request: SearchRequest, as form: RecordPageForm, maximumHits: Int
    ) async throws(IndexQueryError) -> RecordPage<SearchCursor> {
        guard let search = try PreparedSearch(self, request) else { return RecordPage() }
        return try await query("Searching", includingPending: request.includesPending) { db in
            var shown = request.cursor?.shown ?? []
            let known = Set(shown)
            var page = RecordPage<SearchCursor>()
            let found = try search.outcome(shown.count + form.limit + 1, db)
            for ranked in found.hits where !known.contains(ranked.item) {
                guard shown.count < maximumHits, let hit = try found.run.read(ranked) else { return page }
                guard try page.add(hit.item.record, form) else {
                    page.next = SearchCursor(
                        now: found.run.now, shown: shown, replacements: found.replacements,
                        readsFilters: request.readsFilters)
                    return page
                }
                shown.append(ranked.item)
            }
            return page
        }
    }
}
