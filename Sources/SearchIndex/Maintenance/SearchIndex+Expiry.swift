// SPDX-License-Identifier: Apache-2.0
import GRDB

/// A position among the items of a bundle, ordered by expiry.
public struct ExpiryMark: Hashable, Sendable, Codable, Comparable {
    /// The expiry time of the position, in seconds since 2001-01-01 UTC. Items that expire earlier
    /// precede the position.
    public var expires: Double
    /// The item number of the position. Items that expire exactly at ``expires`` precede the
    /// position if their numbers are at most this number.
    public var item: Int64

    /// Creates a mark. Without a number, all items that expire at that time precede it.
    public init(expires: Double, item: Int64 = .max) { (self.expires, self.item) = (expires, item) }

    /// Returns `true` if one mark precedes another.
    public static func < (one: ExpiryMark, other: ExpiryMark) -> Bool {
        (one.expires, one.item) < (other.expires, other.item)
    }
}

/// Items of a bundle that expire soon.
public struct ExpiringItems: Hashable, Sendable {
    /// An item that expires soon.
    public struct Item: Hashable, Sendable {
        /// The name of its index; `nil` for the default index.
        public var index: String?
        /// Its unique identifier.
        public var identifier: String
    }
    /// The items.
    public var items: Set<Item> = []
    /// The unique identifiers of the items.
    public var identifiers: Set<String> { Set(items.map(\.identifier)) }
    /// The expiry time of the first item, in seconds since 2001-01-01 UTC.
    public var earliest: Double?
    /// The position up to which items were examined.
    public var mark: ExpiryMark
    /// The expiry time of the next item after the mark; `nil` if there is none. The lifetime of
    /// that item may be too short to be reported.
    public var next: Double?
}

extension SearchIndex {
    /// The number of rows examined in one read, which takes a few milliseconds.
    private static let expiryPage = 4096

    /// Returns items of a bundle that expire soon and had a sufficiently long lifetime, in order of
    /// expiry.
    ///
    /// - Parameters:
    ///   - bundle: The bundle identifier.
    ///   - mark: The position up to which items were examined by earlier calls.
    ///   - through: The latest expiry time.
    ///   - lifetime: The shortest lifetime between donation and expiry, in seconds; items with a
    ///     shorter lifetime are skipped.
    ///   - limit: The largest number of items.
    /// - Returns: The items. If there are none, no item up to the new mark qualifies.
    public func expiringItems(
        of bundle: String, after mark: ExpiryMark?, through: Double, lifetime: Double, limit: Int
    ) async throws(SearchIndexError) -> ExpiringItems {
        try await settleForReading()
        try await adjustToClock()
        var found = ExpiringItems(mark: mark ?? ExpiryMark(expires: -.infinity))
        var isDone = false
        while !isDone {
            let start = found
            (found, isDone) = try await readApplied("Finding expiring items of \(bundle)") { db in
                try Self.expiryPage(db, bundle, after: start, through: through, lifetime: lifetime, limit: limit)
            }
        }
        return found
    }

    private static func expiryPage(
        _ db: Database, _ bundle: String, after start: ExpiringItems, through: Double, lifetime: Double, limit: Int
    ) throws -> (ExpiringItems, isDone: Bool) {
        var found = start
        found.next = nil
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT expires, id, donated, unique_identifier, index_name FROM item
                    WHERE bundle = (SELECT id FROM bundle WHERE identifier = ?1) AND expires >= ?2
                        AND (expires > ?2 OR id > ?3)
                    ORDER BY expires, id LIMIT ?4
                    """), arguments: [bundle, start.mark.expires, start.mark.item, expiryPage + 1])
        var count = 0
        while let row = try rows.next() {
            let expires: Double = try row.decode(forColumn: "expires")
            guard expires <= through, found.items.count < limit else {
                found.next = expires
                // Items donated after this read expire later than the examined range.
                if expires > through { found.mark = max(found.mark, ExpiryMark(expires: through)) }
                return (found, true)
            }
            if count == expiryPage { return (found, false) }
            count += 1
            found.mark = ExpiryMark(expires: expires, item: try row.decode(forColumn: "id"))
            guard expires - (try row.decode(Double.self, forColumn: "donated")) >= lifetime else { continue }
            let index: String = try row.decode(forColumn: "index_name")
            found.items.insert(
                ExpiringItems.Item(
                    index: index.isEmpty ? nil : index, identifier: try row.decode(forColumn: "unique_identifier")))
            found.earliest = found.earliest ?? expires
        }
        found.mark = max(found.mark, ExpiryMark(expires: through))
        return (found, true)
    }

    /// Shifts the dates of items if the wall clock was just set, so that they can be compared with
    /// the new time.
    private func adjustToClock() async throws(SearchIndexError) {
        guard applier != nil, clock.isSet else { return }
        _ = try await writeAtOnce("Adjusting the clock") { [clock] db in try clock.adjust(db) }
    }

    /// Returns the first expiry time of each bundle that has expiring items, in seconds since
    /// 2001-01-01 UTC.
    public func firstExpiries() async throws(SearchIndexError) -> [String: Double] {
        try await adjustToClock()
        return try await read("Reading expiration dates") { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT identifier, (
                            SELECT expires FROM item WHERE bundle = bundle.id AND expires IS NOT NULL
                            ORDER BY expires LIMIT 1
                        ) AS first FROM bundle WHERE first IS NOT NULL
                        """))
            var first: [String: Double] = [:]
            while let row = try rows.next() {
                first[try row.decode(forColumn: "identifier")] = try row.decode(Double.self, forColumn: "first")
            }
            return first
        }
    }
}
