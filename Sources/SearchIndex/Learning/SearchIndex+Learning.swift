// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import GRDB
import ItemRecord
import UserSearch

extension SearchIndex {
    /// `true` if engagement is recorded and affects ranking. The user decides
    /// (``setLearning(_:)``).
    public var learns: Bool { !folder.isLearningOff }

    /// Sets whether engagement is recorded and affects ranking. Existing counts are kept.
    ///
    /// - Returns: `true` if the setting changed.
    public func setLearning(_ isOn: Bool) throws(SearchIndexError) -> Bool {
        guard learns != isOn else { return false }
        try folder.setLearning(isOn)
        return true
    }

    /// Returns `true` if the store has the current format, so that opening it for writing does not
    /// upgrade it.
    public func hasCurrentFormat() async throws(SearchIndexError) -> Bool {
        try await readApplied("Reading the format") { try StoreRow($0).format == StoreRow.currentFormat }
    }

    /// Records what the user did with items, unless learning is off. When the call returns, the
    /// counts are durable.
    ///
    /// ```swift
    /// try await index.countEngagement([Engagement(item: 12, text: "quart", kind: .open)])
    /// ```
    ///
    /// - Returns: The number of reports counted; 0 if learning is off. Reports about unknown items
    ///   are not counted.
    @discardableResult
    public func countEngagement(_ engagements: [Engagement]) async throws(SearchIndexError) -> Int {
        try await countEngagement { db, now in
            let find = try db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM item WHERE id = ? AND (expires IS NULL OR expires > ?))")
            return try engagements.filter { try Bool.fetchOne(find, arguments: [$0.item, now]) == true }
                .map { ($0, reporter: 0) }
        }
    }

    /// Records an app's reports about its own items, separately from the reports of the user's
    /// programs.
    ///
    /// - Parameters:
    ///   - identifier: The unique identifier of the item; an app may have one such item in each of
    ///     its indexes.
    ///   - bundle: The app's bundle identifier.
    ///   - text: The text typed in the app.
    ///   - kind: The user's action.
    /// - Returns: `true` if the report was counted; `false` if learning is off, there is no such
    ///   item, or the app reports too often.
    @discardableResult
    public func countEngagement(
        withItem identifier: String, of bundle: String, text: String, kind: EngagementKind
    ) async throws(SearchIndexError) -> Bool {
        guard learns, Self.canBeStored(identifier), Self.canBeStored(bundle),
            // Checked before taking any lock, so that rejected reports do not delay donations.
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
        return try await writeAtOnce("Counting uses") { [clock, folder] db in
            let now = try clock.adjust(db)
            // Learning may have been turned off during the wait.
            guard !folder.isLearningOff else { return 0 }
            let events = try events(db, now)
            for (engagement, reporter) in events {
                try EngagementTable.count(engagement, reporter: reporter, at: now, db)
            }
            return events.count
        }
    }

    /// Returns a page of the recorded engagement, the largest counts first.
    ///
    /// - Parameters:
    ///   - offset: The number of entries to skip.
    ///   - limit: The largest number of entries.
    public func engagementHistory(from offset: Int, limit: Int) async throws(SearchIndexError) -> EngagementHistory {
        let isOn = learns
        return try await readApplied("Reading the counts of use") { [clock] db in
            try EngagementHistory(isOn: isOn, from: offset, limit: limit, now: clock.now(db), db)
        }
    }

    /// Erases all recorded engagement, including its traces in the pages of the database and its
    /// WAL. Free pages may contain counts of deleted items, so they are returned to the file
    /// system, except from database files that older versions created.
    ///
    /// - Returns: The number of items whose counts were erased.
    /// - Throws: ``SearchIndexError`` if counts may remain on disk; the table is empty
    ///   nevertheless. The call can be repeated.
    @discardableResult
    public func clearEngagement() async throws(SearchIndexError) -> Int {
        let erased = try await writeAtOnce("Erasing the counts of use") { db in
            let count = try Int.fetchOne(db, sql: "SELECT count(DISTINCT item) FROM engagement") ?? 0
            let before = try Int.fetchOne(db, sql: "PRAGMA secure_delete") ?? 0
            try db.execute(sql: "PRAGMA secure_delete = ON")
            // `secure_delete` is a setting of the connection, not of the transaction.
            defer { try? db.execute(sql: "PRAGMA secure_delete = \(["OFF", "ON", "FAST"][min(max(before, 0), 2)])") }
            try db.execute(sql: "DELETE FROM engagement")
            return count
        }
        let operation = "Overwriting the counts of use"
        var steps = try await writeAtOnce(operation) { try Int.fetchOne($0, sql: "PRAGMA freelist_count") ?? 0 }
        // Considers only pages that were free at the start; pages freed later may come from other
        // data.
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
