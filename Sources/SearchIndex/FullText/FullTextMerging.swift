// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB

/// Merges of the FTS5 tables' segments, in steps of a bounded size.
///
/// Left to itself, FTS5 merges inside whatever commit brings the segment too many: at a million items a commit of ten
/// was seen to take nine seconds. So it is told never to, and after each commit a step is made in proportion to what was
/// written, and further ones while there is nothing else to do.
enum FullTextMerging {
    /// How many segments of a level are merged together.
    private static let segmentsPerMerge = 8

    /// Kept with the tables. A crisis is never reached while steps keep up; FTS5 allows 2,000 segments.
    static func settings(prefix: String) -> String {
        FullTextIndex.tables.map { prefix + $0 }.map { table in
            """
            INSERT INTO \(table) (\(table), rank) VALUES ('automerge', 0);
            INSERT INTO \(table) (\(table), rank) VALUES ('usermerge', \(segmentsPerMerge));
            INSERT INTO \(table) (\(table), rank) VALUES ('crisismerge', 512);
            """
        }.joined(separator: "\n")
    }

    /// The fewest pages of a step.
    static let minimumStep = 32
    /// The most: about 20 ms.
    static let maximumStep = 512

    /// Makes one step in each table.
    ///
    /// - Parameters:
    ///   - pages: about how many pages of 4 KiB are written to each.
    ///   - joinsAll: Whether all segments are to become one, however few of a level there are. Further steps go on with that.
    ///   - prefix: What stands before the names of the tables.
    /// - Returns: Whether there was anything to merge.
    static func step(_ db: Database, pages: Int, joinsAll: Bool = false, prefix: String = "") throws -> Bool {
        var hasWorked = false
        for table in try present(db, prefix) {
            let before = db.totalChangesCount
            let merge = try db.cachedStatement(sql: "INSERT INTO \(table) (\(table), rank) VALUES ('merge', ?)")
            merge.setUncheckedArguments([joinsAll ? -pages : pages])
            try merge.execute()
            // As SQLite documents it: fewer than two changes mean that nothing was done.
            hasWorked = hasWorked || db.totalChangesCount - before >= 2
        }
        return hasWorked
    }

    /// The tables that are there: those of the present format, or while a store is migrated what it has.
    private static func present(_ db: Database, _ prefix: String = "") throws -> [String] {
        if prefix.isEmpty, try IndexMigration.current(db) != nil {
            return [FullTextIndex.textTable, FullTextIndex.trigramTable]
        }
        return FullTextIndex.tables.map { prefix + $0 }
    }

    /// How many segments the fullest table has.
    static func segments(_ db: Database) throws -> Int {
        try present(db).reduce(0) { max($0, try FullTextSegments(of: $1, db).pages.count) }
    }

    /// Begins to join all segments of each table where that is worth it; ``step(_:pages:joinsAll:prefix:)`` goes on with it.
    ///
    /// - Returns: Whether there was anything to begin.
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

/// The segments of an FTS5 table, from the record in which FTS5 keeps them: a cookie of 4 bytes, since SQLite 3.43 perhaps a mark of
/// 4 more, then numbers. A record that is not understood has no segments.
struct FullTextSegments {
    /// How many pages each has.
    private(set) var pages: [Int] = []
    /// Whether some are being merged.
    private(set) var isMerging = false

    /// Each word is looked up in every segment. So a store at rest has one large segment, and smaller ones only as long as they
    /// hold less than a quarter of all: to join them each time would write everything anew for a few items.
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
        /// SQLite's variable-length numbers, of which these take no more than five bytes.
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
