// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery
import UniformTypeIdentifiers

/// A position between two results of a query. It stays valid for the lifetime of the store, even
/// when items are added or deleted.
public struct QueryCursor: Hashable, Sendable, Codable {
    /// The number of the last item before the position.
    public var number: Int64

    /// Creates the position after the item with a number.
    public init(after number: Int64) { self.number = number }
}

/// A page of query results.
public struct QueryPage: Hashable, Sendable, Codable {
    /// The items, in the order of their first donation.
    public var items: [StoredItem]
    /// The start of the next page; `nil` after the last page.
    public var next: QueryCursor?
    /// The durable donations that the query did not wait for; `nil` if there were none. Their items
    /// may be missing from the page or outdated.
    public var pending: PendingDonations?

    /// Creates a page.
    public init(items: [StoredItem], next: QueryCursor?, pending: PendingDonations? = nil) {
        self.items = items
        self.next = next
        self.pending = pending
    }
}

extension SearchIndex {
    /// The largest number of items on a page.
    public static let maximumPage = 10_000

    /// Returns the context of a query: the time of the index, the user's time zone and first
    /// weekday, and the types that are currently declared.
    public func queryContext(in place: QueryPlace = .current) -> QueryContext {
        let clock = place.clock(at: now())
        let types = UTTypeRegistry.shared.snapshot
        return QueryContext(clock: clock) { one, other in
            guard let one = types.type(one), let other = types.type(other) else { return false }
            return types.conforms(one, to: other)
        }
    }

    /// Returns a page of the items that satisfy a query, in number order.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - filters: Further queries. An item must satisfy all of them.
    ///   - bundle: Only items of this bundle; `nil` means all.
    ///   - name: Only items of the index with this name; `nil` means all.
    ///   - attributes: The attributes to include in the returned items; `nil` means all.
    ///     Identifier, domain and expiry are always included.
    ///   - limit: The maximum number of items, 1 to ``maximumPage``.
    ///   - maximumBytes: The maximum total size of the page's records; `nil` means no limit. The
    ///     first item is returned even if it exceeds the limit.
    ///   - cursor: The end of the previous page; `nil` for the first page.
    ///   - context: Time, types and attributes; `nil` means ``queryContext()``. Its `conforms` must
    ///     ignore case.
    /// - Throws: ``IndexQueryError``; `cancelled` shortly after the task is cancelled.
    public func items(
        matching query: QueryExpression, filters: [QueryExpression] = [], bundle: String? = nil,
        index name: String? = nil, attributes: Set<String>? = nil, limit: Int = 100, maximumBytes: Int? = nil,
        after cursor: QueryCursor? = nil, context: QueryContext? = nil
    ) async throws(IndexQueryError) -> QueryPage {
        var prepared = try PreparedQuery(
            query, filters: filters, bundle: bundle, context: context ?? queryContext())
        prepared.index = name
        return try await page(
            of: prepared, attributes: attributes, limit: limit, maximumBytes: maximumBytes, after: cursor)
    }

    func page(
        of prepared: PreparedQuery, attributes: Set<String>? = nil, limit: Int, maximumBytes: Int? = nil,
        after cursor: QueryCursor?
    ) async throws(IndexQueryError) -> QueryPage {
        let limit = max(1, min(Self.maximumPage, limit))
        return try await query("Searching") { [self] db in
            // Read before the data, so that donations applied in between are not considered
            // included.
            let pending = pending(of: prepared.bundle)
            return try prepared.run(db, now: clock.now(db)) { compiled in
                // Requests one more item than wanted, to see whether there is a next page.
                let select = compiled.page(limit: limit + 1, after: cursor)
                let rows = try Row.fetchCursor(
                    db, sql: select.sql, arguments: StatementArguments(select.arguments))
                var page = QueryPage(items: [], next: nil, pending: pending)
                var room = PageRoom(bytes: maximumBytes)
                while let row = try rows.next() {
                    var item = try StoredItem(row)
                    item.record.keep(attributes)
                    guard try page.items.count < limit && room.takes(item.record) else {
                        page.next = page.items.last.map { QueryCursor(after: $0.number) }
                        break
                    }
                    page.items.append(item)
                }
                return page
            }
        }
    }

    /// Returns the number of items that satisfy a query. Parameters and errors are the same as in
    /// ``items(matching:filters:bundle:index:attributes:limit:maximumBytes:after:context:)``.
    public func count(
        matching query: QueryExpression, filters: [QueryExpression] = [], bundle: String? = nil,
        context: QueryContext? = nil
    ) async throws(IndexQueryError) -> Int {
        let prepared = try PreparedQuery(
            query, filters: filters, bundle: bundle, context: context ?? queryContext())
        return try await self.query("Counting items") { [clock] db in
            try prepared.run(db, now: clock.now(db)) { compiled in
                let select = compiled.select("count(*)")
                return try Int.fetchOne(db, sql: select.sql, arguments: StatementArguments(select.arguments)) ?? 0
            }
        }
    }

    /// Returns the number of items that satisfy a query, by bundle. Omits bundles without such
    /// items.
    public func counts(matching query: QueryExpression) async throws(IndexQueryError) -> [String: Int] {
        let prepared = try PreparedQuery(query, filters: [], bundle: nil, context: queryContext())
        return try await self.query("Counting items") { [clock] db in
            try prepared.run(db, now: clock.now(db)) { compiled in
                var tail = SQLFragment()
                tail.append(" GROUP BY bundle.id")
                let select = compiled.select("bundle.identifier, count(*)", tail: tail)
                let rows = try Row.fetchAll(db, sql: select.sql, arguments: StatementArguments(select.arguments))
                return try Dictionary(rows.map { (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1)) }) { $0 + $1 }
            }
        }
    }

    /// Reads the database. Interrupts the running statement if the task is cancelled.
    func query<Value: Sendable>(
        _ operation: String, includingPending: Bool = true, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(IndexQueryError) -> Value {
        do {
            if includingPending { try await settleForReading() }
            return try await readUnlessClosed(body)
        } catch is CancellationError {
            throw .cancelled
        } catch let error as IndexQueryError {
            throw error
        } catch  where SearchIndexError.isFromCancellation(error) {
            throw .cancelled
        } catch {
            throw .index(failure(error, operation))
        }
    }
}

/// The remaining space for records on a page.
struct PageRoom {
    private var bytes: Int?
    private var isEmpty = true

    /// - Parameter bytes: The largest number of bytes; `nil` for no limit.
    init(bytes: Int?) { self.bytes = bytes }

    /// Returns `true`, and subtracts the record's size, if the record fits. The first record always
    /// fits.
    mutating func takes(_ record: ItemRecord) throws(ItemRecordError) -> Bool {
        guard let room = bytes else { return true }
        let rest = room - (try record.encoded().count)
        guard isEmpty || rest >= 0 else { return false }
        (bytes, isEmpty) = (rest, false)
        return true
    }
}

extension ItemRecord {
    /// Removes all attributes except the wanted ones; `nil` keeps all attributes.
    mutating func keep(_ wanted: Set<String>?) {
        guard let wanted else { return }
        attributes = attributes.filter { wanted.contains($0.key) }
    }
}

extension CompiledQuery {
    /// Returns a statement that selects a page of items in number order.
    func page(limit: Int, after cursor: QueryCursor?) -> SQLFragment {
        var tail = SQLFragment()
        if let cursor {
            // Candidates are sorted; without candidates, the table scan starts at the cursor's
            // position.
            if hasCandidates {
                tail.append(" AND +item.id > ?", cursor.number)
            } else {
                tail.append(" AND item.id > ?", cursor.number)
            }
        }
        tail.append(" ORDER BY item.id LIMIT ?", limit)
        return select(StoredItem.columns, tail: tail)
    }
}
