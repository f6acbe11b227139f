// SPDX-License-Identifier: Apache-2.0
import GRDB

/// By what it is judged whether the index wants care. Reading it takes some ten milliseconds at a million items.
public struct IndexWear: Hashable, Sendable, Codable {
    /// How many segments the fullest of the full-text tables has. Each word is looked up in every one.
    public var segments = 0
    /// Grows with each text that is put in, and never shrinks.
    public var texts: Int64 = 0
    /// How many items there are.
    public var items: Int64 = 0
    /// The pages of the database.
    public var pages = 0
    /// How many of them are free.
    public var freePages = 0
    /// Whether free pages can be given back to the file system a few at a time. Files of older versions cannot; they use
    /// their free pages again.
    public var canGiveBack = false
}

extension SearchIndex {
    /// A step of maintenance ends after about so long.
    static let maintenanceStep = Duration.milliseconds(4)
    private static let expiredPerStep = 64
    static let pagesPerStep = 64

    /// What the index is like now.
    public func wear() async throws(SearchIndexError) -> IndexWear {
        try await readApplied("Measuring the index") { db in
            var wear = IndexWear()
            wear.segments = try FullTextMerging.segments(db)
            // A store that is being migrated has none yet.
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

    /// Deletes some of what has expired, and what depends on it, for a few milliseconds. What depends on one item goes in the
    /// same step, however much it is.
    ///
    /// - Returns: How many items had expired and are gone; fewer than there are, so that 0 says that none is left.
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
                // One may have gone with another.
                count += try ItemWriter.delete(db, where: "id = ?", [id], derived)
                if ContinuousClock.now >= end { break }
            }
            try derived.finish()
            return (count, derived.deletedItems)
        }
        applier?.noteDeleted(deleted)
        return count
    }

    /// Merges segments of the full-text tables for a few milliseconds, until each table is one.
    ///
    /// - Parameter isFirst: Whether what came since is to be merged too. The steps that follow go on with what was begun, so
    ///   that donations in between do not keep them from ending.
    /// - Returns: Whether there was anything to do.
    public func mergeStep(isFirst: Bool) async throws(SearchIndexError) -> Bool {
        try await write("Merging what full texts are found by") { db in
            try FullTextMerging.step(db, pages: FullTextMerging.minimumStep, joinsAll: isFirst)
        }
    }

    /// Gives some free pages back to the file system.
    ///
    /// - Returns: How many are left; 0 where that cannot be done in steps.
    public func vacuumStep() async throws(SearchIndexError) -> Int {
        try await write("Giving back free pages", Self.giveBackPages)
    }

    /// Gives some free pages back if they are many, so that those that a merge needs next need not be asked for again.
    ///
    /// - Returns: Whether it did.
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
        // One by one: of several, each is a row without columns, which not every reader steps over.
        for _ in 0..<pagesPerStep { try db.execute(sql: "PRAGMA incremental_vacuum(1)") }
        return try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
    }
}
