// SPDX-License-Identifier: Apache-2.0
import GRDB

/// How far the items of a bundle have been looked through in the order of their expiry.
public struct ExpiryMark: Hashable, Sendable, Codable, Comparable {
    /// Items that expire before this moment are behind it, in seconds since 2001-01-01 UTC;
    public var expires: Double
    /// of those that expire then, the ones up to this number.
    public var item: Int64

    /// Creates a mark. Without a number it is behind everything that expires until then.
    public init(expires: Double, item: Int64 = .max) { (self.expires, self.item) = (expires, item) }

    /// Whether a mark is before another.
    public static func < (one: ExpiryMark, other: ExpiryMark) -> Bool {
        (one.expires, one.item) < (other.expires, other.item)
    }
}

/// Items of a bundle that expire soon.
public struct ExpiringItems: Hashable, Sendable {
    /// Their unique identifiers, each once.
    public var identifiers: Set<String> = []
    /// When the first of them expires, in seconds since 2001-01-01 UTC.
    public var earliest: Double?
    /// How far was looked.
    public var mark: ExpiryMark
    /// When the next item after the mark expires; `nil` if none does. It may be one that nobody is asked for.
    public var next: Double?
}

extension SearchIndex {
    /// So many rows are looked at in one read: a few milliseconds.
    private static let expiryPage = 4096

    /// Items of a bundle that expire until a moment and were given a life that is long enough, in the order of their expiry.
    ///
    /// - Parameters:
    ///   - bundle: The bundle identifier.
    ///   - mark: How far was looked before.
    ///   - through: Only what expires until then.
    ///   - lifetime: Items that were to live shorter when they were donated, in seconds, are passed over.
    ///   - limit: The most items.
    /// - Returns: The items; also none, and then there are none up to its mark.
    public func expiringItems(
        of bundle: String, after mark: ExpiryMark?, through: Double, lifetime: Double, limit: Int
    ) async throws(SearchIndexError) -> ExpiringItems {
        try await settleForReading()
        try await adjustToClock()
        var found = ExpiringItems(mark: mark ?? ExpiryMark(expires: -.infinity))
        var isDone = false
        while !isDone {
            let start = found
            (found, isDone) = try await readApplied("Looking for what expires of \(bundle)") { db in
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
                    SELECT expires, id, donated, unique_identifier FROM item
                    WHERE bundle = (SELECT id FROM bundle WHERE identifier = ?1) AND expires >= ?2
                        AND (expires > ?2 OR id > ?3)
                    ORDER BY expires, id LIMIT ?4
                    """), arguments: [bundle, start.mark.expires, start.mark.item, expiryPage + 1])
        var count = 0
        while let row = try rows.next() {
            let expires: Double = try row.decode(forColumn: "expires")
            guard expires <= through, found.identifiers.count < limit else {
                found.next = expires
                // What is donated from now on expires later than what was looked through.
                if expires > through { found.mark = max(found.mark, ExpiryMark(expires: through)) }
                return (found, true)
            }
            if count == expiryPage { return (found, false) }
            count += 1
            found.mark = ExpiryMark(expires: expires, item: try row.decode(forColumn: "id"))
            guard expires - (try row.decode(Double.self, forColumn: "donated")) >= lifetime else { continue }
            found.identifiers.insert(try row.decode(forColumn: "unique_identifier"))
            found.earliest = found.earliest ?? expires
        }
        found.mark = max(found.mark, ExpiryMark(expires: through))
        return (found, true)
    }

    /// Moves the dates of items along with a wall clock that was set a moment ago, so that they can be compared with it.
    private func adjustToClock() async throws(SearchIndexError) {
        guard applier != nil, clock.isSet else { return }
        _ = try await writeAtOnce("Following the clock") { [clock] db in try clock.adjust(db) }
    }

    /// The bundles of which anything expires, and when the first of it does, in seconds since 2001-01-01 UTC.
    public func firstExpiries() async throws(SearchIndexError) -> [String: Double] {
        try await adjustToClock()
        return try await read("Reading what expires") { db in
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
