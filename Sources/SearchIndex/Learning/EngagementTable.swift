// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import UserSearch

/// The engagement table: a decayed count for each item, and for each pair of item and typed text.
///
/// The table is not derived data, so it survives the rebuild of derived tables. A row is deleted
/// with its item. A damaged row is skipped, because counts only affect the order of hits.
enum EngagementTable {
    static let name = "engagement"

    /// The columns of the table:
    ///
    /// - `reporter`: 0 for the user's own programs; otherwise, the number of the bundle whose app
    ///   reported the engagement.
    /// - `text`: the folded typed text (`EngagementText`); empty for the count over all texts.
    /// - `typed`: the text as last typed.
    /// - `unity`: see `DecayedCount`.
    /// - `events`, `last`: the number of events, and the time of the last one in seconds since
    ///   2001-01-01 UTC.
    static let schema = """
        CREATE TABLE engagement (
            id INTEGER PRIMARY KEY,
            item INTEGER NOT NULL REFERENCES item (id) ON DELETE CASCADE,
            reporter INTEGER NOT NULL,
            text TEXT NOT NULL,
            typed TEXT NOT NULL,
            unity REAL NOT NULL,
            events INTEGER NOT NULL,
            last REAL NOT NULL,
            UNIQUE (item, reporter, text)
        ) STRICT;
        CREATE INDEX engagement_text ON engagement (reporter, text, item, unity) WHERE text <> '';
        CREATE INDEX engagement_item ON engagement (reporter, unity, item) WHERE text = '';
        CREATE INDEX engagement_weakest ON engagement (reporter, unity) WHERE text <> '';
        """

    /// Returns `true` if the table exists. It is missing in stores of earlier formats that are
    /// opened read-only.
    static func exists(_ db: Database) throws -> Bool { try db.hasTable(name) }

    // MARK: Counting

    /// Counts an event for an item and, if a text was typed, for the pair of item and text.
    static func count(_ engagement: Engagement, reporter: Int64, at moment: Double, _ db: Database) throws {
        let typed = EngagementText.shown(engagement.text)
        let texts = [""] + [EngagementText.folded(engagement.text)].compactMap { $0 }
        for text in texts {
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: "SELECT unity, events FROM engagement WHERE item = ? AND reporter = ? AND text = ?"),
                arguments: [engagement.item, reporter, text])
            var count = DecayedCount(unity: try row?.decode(forColumn: "unity") ?? -.infinity)
            count.add(engagement.kind.weight, at: moment)
            let events = min(1 << 40, max(0, try row?.decode(Int64.self, forColumn: "events") ?? 0)) + 1
            try db.cachedStatement(
                sql: """
                    INSERT INTO engagement (item, reporter, text, typed, unity, events, last)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                    ON CONFLICT (item, reporter, text) DO UPDATE SET typed = ?4, unity = ?5, events = ?6, last = ?7
                    """
            ).execute(arguments: [
                engagement.item, reporter, text, text.isEmpty ? "" : typed, count.unity, events, moment,
            ])
            if row == nil { try removeWeakest(reporter, isText: !text.isEmpty, db) }
        }
    }

    /// The row limits of one reporter: for items, and for pairs of item and text.
    static let maximumRows = (user: (items: 10_000, texts: 20_000), app: (items: 500, texts: 1000))
    /// The largest number of rows for all apps together.
    static let maximumRowsOfApps = 10_000

    /// Deletes the smallest counts that exceed the limits, possibly including the row just written.
    private static func removeWeakest(_ reporter: Int64, isText: Bool, _ db: Database) throws {
        let bounds = reporter == 0 ? maximumRows.user : maximumRows.app
        let kind = isText ? "text <> ''" : "text = ''"
        try removeWeakest("reporter = ? AND \(kind)", [reporter], beyond: isText ? bounds.texts : bounds.items, db)
        if reporter != 0 { try removeWeakest("reporter > ? AND \(kind)", [0], beyond: maximumRowsOfApps, db) }
    }

    private static func removeWeakest(
        _ condition: String, _ arguments: StatementArguments, beyond maximum: Int, _ db: Database
    ) throws {
        let count =
            try Int.fetchOne(
                db.cachedStatement(sql: "SELECT count(*) FROM engagement WHERE \(condition)"), arguments: arguments)
            ?? 0
        guard count > maximum else { return }
        // Deletes more than necessary, so that most insertions need not delete rows.
        try db.execute(
            sql: """
                DELETE FROM engagement WHERE id IN (
                    SELECT id FROM engagement WHERE \(condition) ORDER BY unity LIMIT ?)
                """, arguments: arguments + [count - maximum + maximum / 100])
    }

    // MARK: Keeping

    /// Shifts all times after the wall clock was set (``StoreClock``).
    static func move(_ db: Database, by jump: Double) throws {
        guard try exists(db) else { return }
        try db.execute(sql: "UPDATE engagement SET unity = unity + ?1, last = last + ?1", arguments: [jump])
    }

    private static let columns = "engagement.item, reporter, text, typed, unity, events, last"
    /// The columns to select for copying a row to another database.
    static let salvagedColumns = "id, item, reporter, text, typed, unity, events, last"

    /// Copies a row to another database, if that database contains the item.
    ///
    /// - Throws: `RowDecodingError` or `SQLITE_CORRUPT` if the row is damaged.
    static func carry(_ row: Row, item: Int64? = nil, to db: Database) throws {
        let unity: Double = try row.decode(forColumn: "unity")
        let last: Double = try row.decode(forColumn: "last")
        guard unity.isFinite, last.isFinite else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO engagement (item, reporter, text, typed, unity, events, last)
                SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM item WHERE id = ?1
                """
        ).execute(arguments: [
            try item ?? row.decode(Int64.self, forColumn: "item"), try row.decode(Int64.self, forColumn: "reporter"),
            try row.decode(String.self, forColumn: "text"), try row.decode(String.self, forColumn: "typed"), unity,
            try row.decode(Int64.self, forColumn: "events"), last,
        ])
    }

    /// The counts of a scope's items, preserved while one batch deletes items and donates them
    /// again. Excludes items that are deleted as dependents of other items.
    struct Kept {
        private var rows: [(identifier: String, item: Int64, row: Row)] = []

        /// Adds the counts of the items that are about to be deleted.
        mutating func add(where condition: String, _ arguments: StatementArguments, _ db: Database) throws {
            // Qualifies the column names that occur in both tables.
            let statement = try db.cachedStatement(
                sql: """
                    SELECT item.unique_identifier, \(columns) FROM item CROSS JOIN engagement ON engagement.item = item.id
                    WHERE \(condition)
                    """)
            rows += try Row.fetchAll(statement, arguments: arguments).map {
                (try $0.decode(forColumn: "unique_identifier"), try $0.decode(forColumn: "item"), $0)
            }
        }

        /// Changes the identifiers of renamed items; the keys are the UTF-8 bytes of the old
        /// identifiers.
        mutating func rename(_ newIdentifiers: [Data: String]) {
            for index in rows.indices {
                guard let new = newIdentifiers[Data(rows[index].identifier.utf8)] else { continue }
                rows[index].identifier = new
            }
        }

        /// Restores the counts of items that were donated again under a new number.
        func restore(bundle: Int64, index: String, _ db: Database) throws {
            for (identifier, item, row) in rows {
                let present = try Int64.fetchOne(
                    db.cachedStatement(
                        sql: "SELECT id FROM item WHERE unique_identifier = ? AND bundle = ? AND index_name = ?"),
                    arguments: [identifier, bundle, index])
                if let present, present != item { try carry(row, item: present, to: db) }
            }
        }
    }
}
