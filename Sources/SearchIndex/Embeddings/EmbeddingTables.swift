// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import SystemSupport

/// The tables with the embeddings of items. They exist only in stores with an embedding model. They
/// are derived: they can be dropped at any time, and are refilled in the background.
///
/// - `embedding_state`: one row that records the model and the rule of the embeddings.
/// - `embedding`: the embedding of each passage. A row is deleted in the transaction that deletes
///   its item or changes the item's record. Row numbers are never reused.
/// - `embedding_pending`: the items whose passages are not all embedded, keyed by text number so
///   that the newest come first.
///
/// Foreign keys and triggers keep the tables consistent, so the code that changes items does not
/// depend on them, and a store without a model does no extra work.
enum EmbeddingTables {
    static let tables = ["embedding", "embedding_pending", "embedding_state"]
    private static let triggers = ["embedding_inserted", "embedding_changed", "embedding_deleted"]

    private static let schema = """
        CREATE TABLE embedding_state (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            epoch INTEGER NOT NULL,
            model TEXT NOT NULL,
            rule INTEGER NOT NULL,
            width INTEGER NOT NULL,
            listed INTEGER NOT NULL,
            deleted INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE embedding (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            item INTEGER NOT NULL REFERENCES item (id) ON DELETE CASCADE,
            bundle INTEGER NOT NULL,
            passage INTEGER NOT NULL,
            start INTEGER NOT NULL,
            size INTEGER NOT NULL,
            scale REAL NOT NULL,
            vector BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            UNIQUE (item, passage)
        ) STRICT;
        CREATE TABLE embedding_pending (
            item INTEGER PRIMARY KEY REFERENCES item (id) ON DELETE CASCADE,
            text INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX embedding_pending_text ON embedding_pending (text);
        CREATE TRIGGER embedding_inserted AFTER INSERT ON item BEGIN
            INSERT OR REPLACE INTO embedding_pending (item, text) VALUES (new.id, ifnull(new.text_row, 0));
        END;
        CREATE TRIGGER embedding_changed AFTER UPDATE OF record ON item BEGIN
            DELETE FROM embedding WHERE item = new.id;
            INSERT OR REPLACE INTO embedding_pending (item, text) VALUES (new.id, ifnull(new.text_row, 0));
        END;
        CREATE TRIGGER embedding_deleted AFTER DELETE ON embedding BEGIN
            UPDATE embedding_state SET deleted = deleted + 1;
        END;
        """

    /// The state of the tables.
    struct State: Hashable {
        /// A random number, which tells a cache that the tables were created again.
        var epoch: Int64
        var model: String
        var rule: Int
        var width: Int
        /// The text number from which on all items are listed as pending or embedded. Older items
        /// are listed in steps, because listing a million takes seconds.
        var listed: Int64
        /// The number of rows ever deleted from `embedding`.
        var deleted: Int64
    }

    /// Returns the state; `nil` if there are no tables.
    static func state(_ db: Database) throws -> State? {
        guard try db.hasTable("embedding_state") else { return nil }
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT epoch, model, rule, width, listed, deleted FROM embedding_state WHERE id = 1"))
        return try row.map {
            State(
                epoch: try $0.decode(forColumn: "epoch"), model: try $0.decode(forColumn: "model"),
                rule: try $0.decode(forColumn: "rule"), width: try $0.decode(forColumn: "width"),
                listed: try $0.decode(forColumn: "listed"), deleted: try $0.decode(forColumn: "deleted"))
        }
    }

    /// Returns the state if the embeddings were computed with the model and the current rule.
    static func state(of model: String, _ db: Database) throws -> State? {
        guard let state = try state(db), state.model == model, state.rule == EmbeddedText.rule else { return nil }
        return state
    }

    /// Creates empty tables for a model. They replace the current tables.
    static func create(model: String, width: Int, epoch: Int64, _ db: Database) throws {
        try drop(db)
        try db.execute(sql: schema)
        try db.execute(
            sql: """
                INSERT INTO embedding_state (id, epoch, model, rule, width, listed, deleted)
                VALUES (1, ?, ?, ?, ?, ?, 0)
                """, arguments: [epoch, model, EmbeddedText.rule, width, Int64.max])
    }

    /// Drops the tables if they exist.
    static func drop(_ db: Database) throws {
        for trigger in triggers { try db.execute(sql: "DROP TRIGGER IF EXISTS \(trigger)") }
        for table in tables { try db.execute(sql: "DROP TABLE IF EXISTS \(table)") }
    }

    /// Returns the structural faults of the tables and the first damaged rows.
    static func problems(_ db: Database) throws -> [String] {
        guard try tables.contains(where: { try db.hasTable($0) }) else { return [] }
        let missing = try tables.filter { try !db.hasTable($0) }
        guard missing.isEmpty else { return ["the table \(missing[0]) is missing"] }
        return try tables.flatMap { try db.structuralFaults(in: $0) }
    }

    // MARK: Pending items

    /// The number of items that are listed in one step.
    static let listedAtOnce = 5000

    /// Lists the next older items as pending, newest first.
    ///
    /// - Returns: `true` if there may be more.
    static func listOlder(_ state: State, _ db: Database) throws -> Bool {
        guard state.listed > .min else { return false }
        let texts = try Int64.fetchAll(
            db, sql: "SELECT id FROM text_row WHERE id < ? ORDER BY id DESC LIMIT ?",
            arguments: [state.listed, listedAtOnce])
        if let last = texts.last {
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO embedding_pending (item, text)
                    SELECT item, id FROM text_row WHERE id < ? AND id >= ?
                        AND EXISTS (SELECT 1 FROM item WHERE item.id = text_row.item)
                    """, arguments: [state.listed, last])
        }
        let listed = texts.count < listedAtOnce ? Int64.min : texts.last ?? .min
        try db.execute(sql: "UPDATE embedding_state SET listed = ?", arguments: [listed])
        return listed > .min
    }

    /// Returns the next pending items: the most used items, then the newest.
    static func next(_ count: Int, _ db: Database) throws -> [Int64] {
        var items: [Int64] = []
        if try EngagementTable.exists(db) {
            items = try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT item FROM (
                            SELECT item, unity FROM engagement WHERE reporter = 0 AND text = ''
                            ORDER BY unity DESC LIMIT \(favourites)
                        ) WHERE item IN (SELECT item FROM embedding_pending) ORDER BY unity DESC LIMIT ?
                        """), arguments: [count])
        }
        let newest = try Int64.fetchAll(
            db.cachedStatement(sql: "SELECT item FROM embedding_pending ORDER BY text DESC LIMIT ?"),
            arguments: [count])
        let known = Set(items)
        return Array((items + newest.filter { !known.contains($0) }).prefix(count))
    }

    /// The number of most used items that precede newer ones.
    private static let favourites = 1000

    /// Marks an item as embedded.
    static func finish(_ item: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM embedding_pending WHERE item = ?").execute(arguments: [item])
    }

    /// Deletes the embeddings of an item and lists it as pending again.
    static func repeatItem(_ item: Int64, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM embedding WHERE item = ?", arguments: [item])
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO embedding_pending (item, text)
                SELECT id, ifnull(text_row, 0) FROM item WHERE id = ?
                """, arguments: [item])
    }

    // MARK: Embeddings

    /// Returns the number of embedded passages of an item.
    static func passages(of item: Int64, _ db: Database) throws -> Int {
        try Int.fetchOne(
            db.cachedStatement(sql: "SELECT count(*) FROM embedding WHERE item = ?"), arguments: [item]) ?? 0
    }

    static func insert(
        _ entry: EmbeddedPassages.Passage, item: Int64, bundle: Int64, passage: Int, _ db: Database
    ) throws {
        let vector = entry.components.withUnsafeBytes { Data($0) }
        try db.cachedStatement(
            sql: """
                INSERT INTO embedding (item, bundle, passage, start, size, scale, vector, checksum)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            item, bundle, passage, entry.range.lowerBound, entry.range.count, Double(entry.scale), vector,
            checksum(item: item, bundle: bundle, passage: passage, entry.range, entry.scale, vector),
        ])
    }

    /// Returns the checksum of a row.
    static func checksum(
        item: Int64, bundle: Int64, passage: Int, _ range: Range<Int>, _ scale: Float, _ vector: some ContiguousBytes
    ) -> Int64 {
        var crc = CRC32C()
        for number in [item, bundle, Int64(passage), Int64(range.lowerBound), Int64(range.count)] {
            withUnsafeBytes(of: number.littleEndian) { crc.add($0) }
        }
        withUnsafeBytes(of: scale.bitPattern.littleEndian) { crc.add($0) }
        vector.withUnsafeBytes { crc.add($0) }
        return Int64(crc.value)
    }

    static func counts(_ state: State, _ db: Database) throws -> EmbeddingCounts {
        let listed = try Int.fetchOne(db, sql: "SELECT count(*) FROM embedding_pending") ?? 0
        let older =
            state.listed == .min
            ? 0
            : try Int.fetchOne(db, sql: "SELECT count(*) FROM text_row WHERE id < ?", arguments: [state.listed]) ?? 0
        return EmbeddingCounts(
            embedded: try Int.fetchOne(db, sql: "SELECT count(DISTINCT item) FROM embedding") ?? 0,
            pending: listed + older)
    }
}
