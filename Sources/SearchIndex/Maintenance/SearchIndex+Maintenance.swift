// SPDX-License-Identifier: Apache-2.0
import GRDB

/// The statistics that decide whether the index needs maintenance. Reading them takes about ten
/// milliseconds for a million items.
public struct MaintenanceStats: Hashable, Sendable, Codable {
    /// The largest number of segments of a full-text table. Each word lookup reads every segment.
    public var segments = 0
    /// The number of texts ever inserted; never decreases.
    public var texts: Int64 = 0
    /// The number of items.
    public var items: Int64 = 0
    /// The number of database pages.
    public var pages = 0
    /// The number of free pages.
    public var freePages = 0
    /// `true` if free pages can be returned to the file system in small steps. Databases created by
    /// older versions can only reuse their free pages.
    public var canGiveBack = false
}

extension SearchIndex {
    /// The approximate duration of one maintenance step.
    static let maintenanceStep = Duration.milliseconds(4)
    private static let expiredPerStep = 64
    static let pagesPerStep = 64

    /// Returns the current statistics.
    public func wear() async throws(SearchIndexError) -> MaintenanceStats {
        try await readApplied("Measuring the index") { db in
            var wear = MaintenanceStats()
            wear.segments = try FullTextMerging.segments(db)
            // A store in migration does not have this table yet.
            if try db.hasTable("text_total") {
                wear.texts = try Int64.fetchOne(db, sql: "SELECT changes FROM text_total") ?? 0
                wear.items = try Int64.fetchOne(db, sql: "SELECT texts FROM text_total") ?? 0
            }
            wear.pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            wear.freePages = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            wear.canGiveBack = try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == 2
            return wear
        }
    }

    /// Spends a few milliseconds deleting expired items and their dependents. All dependents of an
    /// item are deleted in the same step, however many there are.
    ///
    /// - Returns: The number of expired items deleted; 0 if there are none.
    public func purgeStep() async throws(SearchIndexError) -> Int {
        let (count, deleted) = try await write("Deleting expired items") { [clock] db in
            let now = try clock.adjust(db)
            let end = ContinuousClock.now + Self.maintenanceStep
            let expired = try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT id FROM item WHERE bundle IN (SELECT id FROM bundle) AND expires <= ? LIMIT ?
                        """), arguments: [now, Self.expiredPerStep])
            let derived = DerivedWriter(db)
            var count = 0
            for id in expired {
                // An item may have been deleted as a dependent of another.
                count += try ItemWriter.delete(db, where: "id = ?", [id], derived)
                if ContinuousClock.now >= end { break }
            }
            try derived.finish()
            return (count, derived.deletedItems)
        }
        applier?.noteDeleted(deleted)
        return count
    }

    /// Spends a few milliseconds merging segments of the full-text tables, until each table has one
    /// segment.
    ///
    /// - Parameter isFirst: `true` to include segments created since the last merge. Later steps
    ///   only continue a merge, so that new donations do not prolong it indefinitely.
    /// - Returns: `true` if there was anything to do.
    public func mergeStep(isFirst: Bool) async throws(SearchIndexError) -> Bool {
        try await write("Merging the full-text index") { db in
            try FullTextMerging.step(db, pages: FullTextMerging.minimumStep, joinsAll: isFirst)
        }
    }

    /// Returns some free pages to the file system.
    ///
    /// - Returns: The number of free pages left; 0 if pages cannot be returned in steps.
    public func vacuumStep() async throws(SearchIndexError) -> Int {
        try await write("Releasing free pages", Self.giveBackPages)
    }

    /// Returns some free pages to the file system if there are many. Keeps a reserve for the next
    /// merge.
    ///
    /// - Returns: `true` if pages were returned.
    @Sendable static func giveBackUnused(_ db: Database) throws -> Bool {
        let free = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA freelist_count")) ?? 0
        guard free >= unusedPages,
            try Int.fetchOne(db.cachedStatement(sql: "PRAGMA page_count")) ?? 0 < free * unusedShare
        else { return false }
        return try giveBackPages(db) < free
    }

    private static let unusedPages = 128
    private static let unusedShare = 64

    @Sendable static func giveBackPages(_ db: Database) throws -> Int {
        guard try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == 2 else { return 0 }
        // One page at a time: with several, SQLite returns a row without columns for each page,
        // which not every reader skips.
        for _ in 0..<pagesPerStep { try db.execute(sql: "PRAGMA incremental_vacuum(1)") }
        return try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
    }
}
