// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import GRDB
import ItemRecord
import UserSearch

extension SearchIndex {
    /// Whether use is counted and changes the order of hits. The user decides (``setLearning(_:)``).
    public var learns: Bool { !folder.isLearningOff }

    /// Sets whether use is counted and changes the order of hits. What was counted before is kept.
    ///
    /// - Returns: Whether it was set otherwise before.
    public func setLearning(_ isOn: Bool) throws(SearchIndexError) -> Bool {
        guard learns != isOn else { return false }
        try folder.setLearning(isOn)
        return true
    }

    /// Whether the store has the current format, so that to open it to be changed upgrades nothing.
    public func hasCurrentFormat() async throws(SearchIndexError) -> Bool {
        try await readApplied("Reading the format") { try StoreRow($0).format == StoreRow.currentFormat }
    }

    /// Counts what the user did with items, unless learning is off. Durable when it returns.
    ///
    /// ```swift
    /// try await index.countEngagement([Engagement(item: 12, text: "quart", kind: .open)])
    /// ```
    ///
    /// - Returns: How many reports were counted: none if learning is off, and none of items that are not there.
    @discardableResult
    public func countEngagement(_ engagements: [Engagement]) async throws(SearchIndexError) -> Int {
        try await countEngagement { db, now in
            let find = try db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM item WHERE id = ? AND (expires IS NULL OR expires > ?))")
            return try engagements.filter { try Bool.fetchOne(find, arguments: [$0.item, now]) == true }
                .map { ($0, reporter: 0) }
        }
    }

    /// Counts what an app reports of its own items, apart from what the user's programs report.
    ///
    /// - Parameters:
    ///   - identifier: The unique identifier of the items; an app may have one in several of its indexes.
    ///   - bundle: The app's bundle identifier.
    ///   - text: What was typed in the app.
    ///   - kind: What was done.
    /// - Returns: Whether it was counted: not if learning is off, there is no such item, or the app reports too often.
    @discardableResult
    public func countEngagement(
        withItem identifier: String, of bundle: String, text: String, kind: EngagementKind
    ) async throws(SearchIndexError) -> Bool {
        guard learns, Self.canBeStored(identifier), Self.canBeStored(bundle),
            // Before anything is locked for it, so that what is refused holds up no donation.
            allowance.withLock({ $0.take(reporter: bundle, at: now()) })
        else { return false }
        let count = try await countEngagement { db, now in
            guard let reporter = try EngagementTable.reporter(of: bundle, db) else { return [] }
            let items = try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT id FROM item
                        WHERE unique_identifier = ? AND bundle = ? AND (expires IS NULL OR expires > ?) LIMIT 8
                        """), arguments: [identifier, reporter, now])
            return items.map { (Engagement(item: $0, text: text, kind: kind), reporter: reporter) }
        }
        return count > 0
    }

    private func countEngagement(
        _ events: @escaping @Sendable (Database, _ now: Double) throws -> [(Engagement, reporter: Int64)]
    ) async throws(SearchIndexError) -> Int {
        guard learns else { return 0 }
        return try await writeAtOnce("Counting what was used") { [clock, folder] db in
            let now = try clock.adjust(db)
            // It may have been switched off while this waited.
            guard !folder.isLearningOff else { return 0 }
            let events = try events(db, now)
            for (engagement, reporter) in events {
                try EngagementTable.count(engagement, reporter: reporter, at: now, db)
            }
            return events.count
        }
    }

    /// What is counted, the largest counts first; a page at a time.
    ///
    /// - Parameters:
    ///   - offset: So many items are passed over.
    ///   - limit: At most so many items.
    public func engagementHistory(from offset: Int, limit: Int) async throws(SearchIndexError) -> EngagementHistory {
        let isOn = learns
        return try await readApplied("Reading what was counted") { [clock] db in
            try EngagementHistory(isOn: isOn, from: offset, limit: limit, now: clock.now(db), db)
        }
    }

    /// Erases everything that was counted, also from the pages of the database and from its log. What was counted for items that are
    /// gone may be in free pages, so these are given back to the file system; files of older versions keep them.
    ///
    /// - Returns: For how many items something was counted.
    /// - Throws: ``SearchIndexError`` if something may be left; nothing is counted any more all the same. It can be done again.
    @discardableResult
    public func clearEngagement() async throws(SearchIndexError) -> Int {
        let erased = try await writeAtOnce("Erasing what was counted") { db in
            let count = try Int.fetchOne(db, sql: "SELECT count(DISTINCT item) FROM engagement") ?? 0
            let before = try Int.fetchOne(db, sql: "PRAGMA secure_delete") ?? 0
            try db.execute(sql: "PRAGMA secure_delete = ON")
            // The setting is the connection's, not the transaction's.
            defer { try? db.execute(sql: "PRAGMA secure_delete = \(["OFF", "ON", "FAST"][min(max(before, 0), 2)])") }
            try db.execute(sql: "DELETE FROM engagement")
            return count
        }
        let operation = "Overwriting what was counted"
        var steps = try await writeAtOnce(operation) { try Int.fetchOne($0, sql: "PRAGMA freelist_count") ?? 0 }
        // What others free meanwhile may be from anything.
        while steps > 0, try await writeAtOnce(operation, Self.giveBackPages) > 0 { steps -= Self.pagesPerStep }
        let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { [pool] in
                continuation.resume(
                    returning: Result { try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } })
            }
        }
        do { try result.get() } catch { throw failure(error, operation) }
        return erased
    }
}
