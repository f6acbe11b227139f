// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Glibc

/// The sizes of a store's contents and files, in bytes.
public struct StoreSizes: Hashable, Sendable, Codable {
    /// The size of one bundle.
    public struct Bundle: Hashable, Sendable, Codable {
        /// The bundle identifier.
        public var bundle: String
        /// The number of items, including expired items that are not deleted yet.
        public var items: Int
        /// The total length of the records.
        public var recordBytes: Int
    }
    /// The sizes of the bundles, sorted by identifier.
    public var bundles: [Bundle] = []
    /// `true` if record lengths are estimated from a sample.
    public var isEstimated = false
    /// The bytes of the database by structure: “items”, the names of derived indexes, “other”,
    /// “free”. `nil` if SQLite cannot report them, or not quickly enough.
    public var structures: [String: Int]?
    /// The size of the database file.
    public var databaseBytes = 0
    /// The size of the SQLite WAL.
    public var logBytes = 0
    /// The total size of the write-ahead log's files.
    public var journalBytes = 0
}

extension SearchIndex {
    /// The limits for exact sizes: the number of items, and the length of the database file. Beyond
    /// them, record sizes are estimated from a sample.
    private static let exactItems = 50_000
    private static let exactBytes = 128 << 20
    private static let sample = 2000

    /// Returns the sizes by bundle and by structure.
    ///
    /// - Parameter isExact: `true` to measure everything, which may take long. The default is fast
    ///   for stores of any size.
    public func sizes(isExact: Bool = false) async throws(SearchIndexError) -> StoreSizes {
        let files = fileSizes
        return try await readApplied("Measuring the store") { db in
            var sizes = files
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT (SELECT identifier FROM bundle WHERE id = item.bundle) AS name, count(*) AS items, bundle
                    FROM item GROUP BY bundle
                    """)
            let items = try rows.reduce(0) { try $0 + $1.decode(Int.self, forColumn: "items") }
            sizes.isEstimated = !isExact && items > Self.exactItems
            let lengths = try sizes.isEstimated ? Self.sampledLengths(db) : Self.lengths(db)
            for row in rows {
                let count: Int = try row.decode(forColumn: "items")
                let mean = lengths[try row.decode(Int64.self, forColumn: "bundle")] ?? 0
                sizes.bundles.append(
                    .init(
                        bundle: try row.decode(String?.self, forColumn: "name") ?? "?", items: count,
                        recordBytes: Int((mean * Double(count)).rounded())))
            }
            sizes.bundles.sort { $0.bundle < $1.bundle }
            if isExact || sizes.databaseBytes <= Self.exactBytes { sizes.structures = try Self.structures(db) }
            return sizes
        }
    }

    /// The sizes of the store's files only. Reads nothing from the database.
    public var fileSizes: StoreSizes {
        var sizes = StoreSizes()
        sizes.databaseBytes = folder.size(folder.database) ?? 0
        sizes.logBytes = folder.size(folder.database + "-wal") ?? 0
        for name in (try? folder.logFileNames()) ?? [] {
            sizes.journalBytes += folder.size(folder.log + "/" + name) ?? 0
        }
        return sizes
    }

    /// Returns the mean record length of each bundle.
    private static func lengths(_ db: Database) throws -> [Int64: Double] {
        let rows = try Row.fetchAll(db, sql: "SELECT bundle, avg(length(record)) FROM item GROUP BY bundle")
        return try Dictionary(rows.map { (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1)) }) { one, _ in one }
    }

    /// Estimates the mean record lengths from evenly spaced items.
    private static func sampledLengths(_ db: Database) throws -> [Int64: Double] {
        let range = try Row.fetchOne(db, sql: "SELECT (SELECT min(id) FROM item), (SELECT max(id) FROM item)")
        guard let range, let first = try range.decode(Int64?.self, atIndex: 0),
            let last = try range.decode(Int64?.self, atIndex: 1)
        else { return [:] }
        var sums: [Int64: (bytes: Int, count: Int)] = [:]
        let next = try db.makeStatement(
            sql: "SELECT bundle, length(record) FROM item WHERE id >= ? ORDER BY id LIMIT 1")
        let step = max(1, (last - first) / Int64(sample))
        for id in stride(from: first, through: last, by: Int64.Stride(step)) {
            guard let row = try Row.fetchOne(next, arguments: [id]) else { break }
            var sum = sums[try row.decode(Int64.self, atIndex: 0), default: (0, 0)]
            sum = (sum.bytes + (try row.decode(Int.self, atIndex: 1)), sum.count + 1)
            sums[try row.decode(Int64.self, atIndex: 0)] = sum
        }
        return sums.mapValues { Double($0.bytes) / Double($0.count) }
    }

    /// Returns the pages of each structure, according to `dbstat`; `nil` if SQLite was built
    /// without it.
    private static func structures(_ db: Database) throws -> [String: Int]? {
        guard
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'dbstat')") == true
        else { return nil }
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT coalesce(entry.tbl_name, dbstat.name) AS name, sum(dbstat.pgsize) AS bytes
                FROM dbstat LEFT JOIN sqlite_schema AS entry ON entry.name = dbstat.name GROUP BY 1
                """)
        var structures: [String: Int] = [:]
        for row in rows {
            let table: String = try row.decode(forColumn: "name")
            let index = DerivedIndex.all.first { $0.tables.contains { table == $0 || table.hasPrefix($0 + "_") } }
            let name = index?.name ?? (["item", "bundle"].contains(table) ? "items" : "other")
            structures[name, default: 0] += try row.decode(Int.self, forColumn: "bytes")
        }
        let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
        let page = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        structures["free"] = free * page
        return structures
    }
}
