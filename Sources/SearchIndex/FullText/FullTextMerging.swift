// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB

/// Merges the segments of the FTS5 tables in steps of bounded size.
///
/// By default, FTS5 merges within the commit that creates one segment too many: with a million
/// items, a commit of ten items took nine seconds. So automatic merging is disabled. Each commit is
/// followed by a merge step in proportion to the bytes written, and further steps run in idle time.
enum FullTextMerging {
    /// The number of segments on one level that are merged together.
    private static let segmentsPerMerge = 8

    /// Returns the SQL that stores the merge settings in the tables. While the steps keep up, the
    /// crisis merge limit is not reached; FTS5 allows 2,000 segments.
    static func settings(prefix: String) -> String {
        FullTextIndex.tables.map { prefix + $0 }.map { table in
            """
            INSERT INTO \(table) (\(table), rank) VALUES ('automerge', 0);
            INSERT INTO \(table) (\(table), rank) VALUES ('usermerge', \(segmentsPerMerge));
            INSERT INTO \(table) (\(table), rank) VALUES ('crisismerge', 512);
            """
        }.joined(separator: "\n")
    }

    /// The smallest number of pages in a step.
    static let minimumStep = 32
    /// The largest number of pages in a step, which takes about 20 ms.
    static let maximumStep = 512

    /// Runs one step in each table.
    ///
    /// - Parameters:
    ///   - pages: The approximate number of 4 KiB pages to write to each table.
    ///   - joinsAll: `true` to merge all segments into one, regardless of their levels. Later steps
    ///     continue that merge.
    ///   - prefix: The prefix of the table names.
    /// - Returns: `true` if there was anything to merge.
    static func step(_ db: Database, pages: Int, joinsAll: Bool = false, prefix: String = "") throws -> Bool {
        var hasWorked = false
        for table in try present(db, prefix) {
            let before = db.totalChangesCount
            let merge = try db.cachedStatement(sql: "INSERT INTO \(table) (\(table), rank) VALUES ('merge', ?)")
            merge.setUncheckedArguments([joinsAll ? -pages : pages])
            try merge.execute()
            // According to the FTS5 documentation, fewer than two changes mean that nothing was
            // merged.
            hasWorked = hasWorked || db.totalChangesCount - before >= 2
        }
        return hasWorked
    }

    /// Returns the existing tables: the tables of the current format, or of the previous format
    /// during a migration.
    private static func present(_ db: Database, _ prefix: String = "") throws -> [String] {
        if prefix.isEmpty, try IndexMigration.current(db) != nil {
            return [FullTextIndex.textTable, FullTextIndex.trigramTable]
        }
        return FullTextIndex.tables.map { prefix + $0 }
    }

    /// Returns the largest number of segments in any table.
    static func segments(_ db: Database) throws -> Int {
        try present(db).reduce(0) { max($0, try FullTextSegments(of: $1, db).pages.count) }
    }

    /// Starts merging all segments of each table where that is worthwhile.
    /// ``step(_:pages:joinsAll:prefix:)`` continues the merge.
    ///
    /// - Returns: `true` if a merge was started.
    static func beginJoining(_ db: Database) throws -> Bool {
        var hasBegun = false
        for table in try present(db) where try FullTextSegments(of: table, db).areWorthJoining {
            let merge = try db.cachedStatement(sql: "INSERT INTO \(table) (\(table), rank) VALUES ('merge', ?)")
            merge.setUncheckedArguments([-maximumStep])
            try merge.execute()
            hasBegun = true
        }
        return hasBegun
    }
}

/// The segments of an FTS5 table, parsed from its structure record. The record consists of a 4-byte
/// cookie, an optional 4-byte marker (since SQLite 3.43), and numbers. An unknown record format
/// yields no segments.
struct FullTextSegments {
    /// The number of pages of each segment.
    private(set) var pages: [Int] = []
    /// `true` if a merge is in progress.
    private(set) var isMerging = false

    /// `true` if merging all segments is worthwhile. Each lookup reads every segment, so an idle
    /// store keeps one large segment. Smaller segments may hold up to a quarter of all pages;
    /// merging earlier would rewrite everything for a few items.
    var areWorthJoining: Bool {
        let (sum, largest) = (pages.reduce(0, +), pages.max() ?? 0)
        return !isMerging && pages.count > 2 && (sum - largest) * 4 > sum
    }

    init(of table: String, _ db: Database) throws {
        let record =
            try Data.fetchOne(db.cachedStatement(sql: "SELECT block FROM \(table)_data WHERE id = 10")) ?? Data()
        self.init(Array(record))
    }

    init(_ record: [UInt8]) {
        var bytes = record.dropFirst(4)
        let isSecond = bytes.starts(with: [0xFF, 0, 0, 1])
        if isSecond { bytes = bytes.dropFirst(4) }
        /// Reads an SQLite variable-length number of at most five bytes.
        func number() -> Int? {
            var value = 0
            for _ in 0..<5 {
                guard let byte = bytes.popFirst() else { return nil }
                value = value << 7 | Int(byte & 0x7F)
                if byte < 0x80 { return value }
            }
            return nil
        }
        guard let levels = number(), let count = number(), number() != nil, levels <= 64, count <= 2000 else { return }
        for _ in 0..<levels {
            guard let merged = number(), let segments = number() else { return }
            isMerging = isMerging || merged > 0
            for _ in 0..<min(segments, count) {
                guard number() != nil, let first = number(), let last = number() else { return }
                pages.append(max(0, last - first + 1))
                if isSecond { for _ in 0..<5 where number() == nil { return } }
            }
        }
    }
}
