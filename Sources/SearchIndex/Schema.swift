// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB

/// The tables of a store and the steps by which older stores become newer ones. A step that has been released is never
/// changed.
///
/// - `store`: one row, see ``StoreRow``.
/// - `client_state`: what apps gave with their last batch.
/// - `bundle`: the apps that own items, so that an item carries a small number instead of a name.
/// - `item`: the truth. `record` is the item as its donor encoded it; the other columns repeat what is asked for often.
/// - `unconfirmed`: items that are to be deleted at the end of a reindex, unless they are donated again before.
/// - `recovery`: what the last opening that found something wrong found.
/// - `derived_index`: which derived tables there are, see ``DerivedIndex``.
/// - `attribute`, `attribute_name`: derived, see ``AttributeIndex``.
/// - `item_text`: derived, an FTS5 table without content of its own; it can be rebuilt from `item` at any time.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE bundle (
                        id INTEGER PRIMARY KEY,
                        identifier TEXT NOT NULL UNIQUE
                    ) STRICT;
                    CREATE TABLE item (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        bundle INTEGER NOT NULL REFERENCES bundle (id),
                        index_name TEXT NOT NULL,
                        unique_identifier TEXT NOT NULL,
                        domain TEXT,
                        content_type TEXT,
                        title TEXT,
                        expires REAL,
                        donated REAL NOT NULL,
                        record BLOB NOT NULL,
                        UNIQUE (bundle, index_name, unique_identifier)
                    ) STRICT;
                    CREATE INDEX item_domain ON item (bundle, index_name, domain) WHERE domain IS NOT NULL;
                    CREATE INDEX item_expires ON item (expires) WHERE expires IS NOT NULL;
                    CREATE INDEX item_unique_identifier ON item (unique_identifier);
                    CREATE TABLE unconfirmed (
                        item INTEGER PRIMARY KEY REFERENCES item (id) ON DELETE CASCADE
                    ) STRICT;
                    CREATE VIRTUAL TABLE item_text USING fts5 (
                        title, keywords, description, body,
                        content = '', tokenize = "unicode61 remove_diacritics 2"
                    );
                    """)
        }
        // Made the attribute index, which is made at the opening now as every derived one.
        migrator.registerMigration("2") { _ in }
        migrator.registerMigration("3") { db in
            try db.execute(
                sql: """
                    CREATE TABLE store (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        identifier BLOB NOT NULL,
                        applied INTEGER NOT NULL,
                        generation INTEGER NOT NULL
                    ) STRICT;
                    INSERT INTO store VALUES (1, randomblob(\(JournalStoreIdentifier.byteCount)), 0, 1);
                    CREATE TABLE client_state (
                        bundle INTEGER NOT NULL REFERENCES bundle (id),
                        index_name TEXT NOT NULL,
                        state BLOB NOT NULL,
                        PRIMARY KEY (bundle, index_name)
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("4") { db in
            let identifier = try Data.fetchOne(db, sql: "SELECT identifier FROM store")
            let applied = try Int64.fetchOne(db, sql: "SELECT applied FROM store")
            let generation = try Int.fetchOne(db, sql: "SELECT generation FROM store")
            try db.execute(
                sql: """
                    DROP TABLE IF EXISTS attribute_format;
                    CREATE TABLE derived_index (name TEXT PRIMARY KEY, format INTEGER NOT NULL) STRICT, WITHOUT ROWID;
                    CREATE TABLE recovery (moment REAL NOT NULL, finding TEXT NOT NULL) STRICT;
                    ALTER TABLE item ADD COLUMN checksum INTEGER;
                    ALTER TABLE client_state ADD COLUMN checksum INTEGER;
                    ALTER TABLE store ADD COLUMN format INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE store ADD COLUMN stateless_through INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE store ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
                    """)
            guard let bytes = identifier, let identifier = JournalStoreIdentifier(bytes: Array(bytes)) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the store has no identifier")
            }
            var row = StoreRow(identifier: identifier)
            (row.applied, row.generation) = (UInt64(clamping: applied ?? 0), generation ?? 1)
            try row.write(db)
            try RowChecksum.computeAll(db)
        }
        return migrator
    }

    /// Refuses a store of a later version of this program. Steps that this version does not know are not enough to take it
    /// for one: the list of steps has no checksum, the format beside it has.
    ///
    /// - Throws: ``SearchIndexError/newerFormat(path:)``; `SQLITE_CORRUPT` if the list of steps is damaged.
    static func refuseNewer(_ db: Database, path: String) throws {
        guard try migrator.hasBeenSuperseded(db) else { return }
        if let row = try? StoreRow(db), row.format <= StoreRow.currentFormat {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the list of steps of the format is damaged")
        }
        throw SearchIndexError.newerFormat(path: path)
    }
}
