// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import GRDB
import ItemRecord
import UserSearch

/// A text that the user typed and whose hits were used.
public struct RecentSearch: Hashable, Sendable, Codable {
    /// The text as it was typed last.
    public var text: String
    /// The decayed count of what was done with its hits.
    public var count: Double
    /// When that was last, in seconds since 2001-01-01 UTC.
    public var last: Double
}

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
        guard Self.canBeStored(identifier), Self.canBeStored(bundle) else { return false }
        let count = try await countEngagement { [self] db, now in
            guard let reporter = try EngagementTable.reporter(of: bundle, db),
                allowance.withLock({ $0.take(reporter: reporter, at: now) })
            else { return [] }
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

    /// Erases everything that was counted, also from the pages of the database and from its log.
    ///
    /// - Returns: For how many items something was counted.
    @discardableResult
    public func clearEngagement() async throws(SearchIndexError) -> Int {
        let erased = try await writeAtOnce("Erasing what was counted") { db in
            let count = try Int.fetchOne(db, sql: "SELECT count(DISTINCT item) FROM engagement") ?? 0
            let before = try Int.fetchOne(db, sql: "PRAGMA secure_delete") ?? 0
            try db.execute(sql: "PRAGMA secure_delete = ON; DELETE FROM engagement")
            // The setting is the connection's, not the transaction's.
            try db.execute(sql: "PRAGMA secure_delete = \(["OFF", "ON", "FAST"][min(max(before, 0), 2)])")
            return count
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { [pool] in
                // Who reads for longer than is waited for has the log end later.
                try? pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
                continuation.resume()
            }
        }
        return erased
    }

    /// The texts that the user searched for before and whose hits were used, the most used first; none while learning is off.
    ///
    /// - Parameters:
    ///   - beginning: How they begin, in any case and with or without accents; empty for all.
    ///   - limit: At most so many.
    public func recentSearches(
        beginningWith beginning: String, limit: Int
    ) async throws(SearchIndexError) -> [RecentSearch] {
        guard learns, limit > 0 else { return [] }
        let start = EngagementText.folded(beginning) ?? ""
        return try await readApplied("Reading earlier searches") { [clock] db in
            guard try EngagementTable.exists(db) else { return [] }
            let now = try clock.now(db)
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT text, typed, unity, last FROM engagement
                        WHERE reporter = 0 AND text <> '' AND text >= ? AND text < ? LIMIT 20000
                        """), arguments: [start, start + "\u{10FFFF}"])
            var searches: [String: RecentSearch] = [:]
            while let row = try rows.next() {
                let typed: String = try row.decode(forColumn: "typed")
                let last: Double = try row.decode(forColumn: "last")
                var search =
                    searches[try row.decode(forColumn: "text")] ?? RecentSearch(text: typed, count: 0, last: last)
                if last > search.last { (search.text, search.last) = (typed, last) }
                search.count += DecayedCount(unity: try row.decode(forColumn: "unity")).value(at: now)
                searches[try row.decode(forColumn: "text")] = search
            }
            let order = searches.values.sorted { ($1.count, $0.text) < ($0.count, $1.text) }
            return Array(order.prefix(limit))
        }
    }
}
