// SPDX-License-Identifier: Apache-2.0
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
    static let settings: String = [
        FullTextIndex.titleTable, FullTextIndex.textTable, FullTextIndex.trigramTable,
    ].map { table in
        """
        INSERT INTO \(table) (\(table), rank) VALUES ('automerge', 0);
        INSERT INTO \(table) (\(table), rank) VALUES ('usermerge', \(segmentsPerMerge));
        INSERT INTO \(table) (\(table), rank) VALUES ('crisismerge', 512);
        """
    }.joined(separator: "\n")

    /// The fewest pages of a step.
    static let minimumStep = 32
    /// The most: about 20 ms.
    static let maximumStep = 512

    /// Makes one step in each table.
    ///
    /// - Parameter pages: about how many pages of 4 KiB are written to each.
    /// - Returns: Whether there was anything to merge.
    static func step(_ db: Database, pages: Int) throws -> Bool {
        var hasWorked = false
        for table in [FullTextIndex.titleTable, FullTextIndex.textTable, FullTextIndex.trigramTable] {
            let before = db.totalChangesCount
            let merge = try db.cachedStatement(sql: "INSERT INTO \(table) (\(table), rank) VALUES ('merge', ?)")
            merge.setUncheckedArguments([pages])
            try merge.execute()
            // As SQLite documents it: fewer than two changes mean that nothing was done.
            hasWorked = hasWorked || db.totalChangesCount - before >= 2
        }
        return hasWorked
    }
}
