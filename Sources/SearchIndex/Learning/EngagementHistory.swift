// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import UserSearch

/// The recorded engagement, for display to the user.
public struct EngagementHistory: Hashable, Sendable, Codable {
    /// The counts of one item from one reporter.
    public struct Entry: Hashable, Sendable, Codable {
        /// The number of the item.
        public var item: Int64
        /// The bundle that donated the item.
        public var bundle: String
        /// The unique identifier of the item.
        public var uniqueIdentifier: String
        /// The title of the item, or its identifier; at most 200 characters.
        public var title: String
        /// The reporter of the engagement.
        public var reporter: EngagementReporter
        /// The count over all texts.
        public var total: Count
        /// The typed texts, ordered by count, largest first; at most 100.
        public var texts: [Text]
    }

    /// The count for one typed text.
    public struct Text: Hashable, Sendable, Codable {
        /// The text as last typed; at most 128 bytes.
        public var typed: String
        /// The count.
        public var count: Count
    }

    /// A decayed count of events.
    public struct Count: Hashable, Sendable, Codable {
        /// The number of events.
        public var events: Int
        /// The current value. Each event adds the weight of its kind; values halve every 30 days
        /// and are at most 16.
        public var value: Double
        /// The time of the last event, in seconds since 2001-01-01 UTC.
        public var last: Double
    }

    /// `true` if engagement is currently recorded.
    public var isOn: Bool
    /// The total number of entries.
    public var total: Int
    /// The number of different items in all entries.
    public var items: Int
    /// The entries of this page.
    public var entries: [Entry]

    private static let titleAttributes = ["title", "displayName"]
    private static let projection = RecordProjection(of: titleAttributes)
    private static let titleCharacters = 200
    private static let maximumTexts = 100

    init(isOn: Bool, from offset: Int, limit: Int, now: Double, _ db: Database) throws {
        (self.isOn, total, items, entries) = (isOn, 0, 0, [])
        guard try EngagementTable.exists(db) else { return }
        // An expired item counts as deleted, even if its row still exists.
        let counted = """
            FROM engagement CROSS JOIN item ON item.id = engagement.item CROSS JOIN bundle ON bundle.id = item.bundle
            WHERE text = '' AND (expires IS NULL OR expires > ?)
            """
        let totals = try Row.fetchOne(
            db, sql: "SELECT count(*) AS entries, count(DISTINCT item) AS items \(counted)", arguments: [now])
        total = try totals?.decode(forColumn: "entries") ?? 0
        items = try totals?.decode(forColumn: "items") ?? 0
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT engagement.item, reporter, unity, events, last, plain_record(item.record) AS record,
                    item.unique_identifier,
                    bundle.identifier
                \(counted) ORDER BY unity DESC, engagement.id LIMIT ? OFFSET ?
                """, arguments: [now, max(0, limit), max(0, offset)])
        while let row = try rows.next() {
            let identifier: String = try row.decode(forColumn: "unique_identifier")
            let titles = try row.withUnsafeData(named: "record") { record in
                record.flatMap { try? Self.projection.record(decoding: $0) }
                    .map { record in Self.titleAttributes.flatMap { record.texts($0) } }
            }
            let item: Int64 = try row.decode(forColumn: "item")
            let reporter: Int64 = try row.decode(forColumn: "reporter")
            entries.append(
                Entry(
                    item: item, bundle: try row.decode(forColumn: "identifier"), uniqueIdentifier: identifier,
                    title: String((titles?.first ?? identifier).prefix(Self.titleCharacters)),
                    reporter: reporter == 0 ? .user : .app, total: try Count(row, now: now),
                    texts: try Self.texts(of: item, reporter, now: now, db)))
        }
    }

    private static func texts(of item: Int64, _ reporter: Int64, now: Double, _ db: Database) throws -> [Text] {
        try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT typed, unity, events, last FROM engagement
                    WHERE item = ? AND reporter = ? AND text <> '' ORDER BY unity DESC, id LIMIT \(maximumTexts)
                    """), arguments: [item, reporter]
        ).map { Text(typed: try $0.decode(forColumn: "typed"), count: try Count($0, now: now)) }
    }
}

extension EngagementHistory.Count {
    fileprivate init(_ row: Row, now: Double) throws {
        value = DecayedCount(unity: try row.decode(forColumn: "unity")).value(at: now)
        (events, last) = (try row.decode(forColumn: "events"), try row.decode(forColumn: "last"))
    }
}
