// SPDX-License-Identifier: Apache-2.0
import GRDB

/// The tables of a store and the steps by which older stores become newer ones. A step that has been released is never
/// changed.
///
/// - `store`: one row: the identifier that journal files bear, the number of the last journal entry that was applied, and
///   the generation, which grows when donations were lost.
/// - `client_state`: what apps gave with their last batch.
/// - `bundle`: the apps that own items, so that an item carries a small number instead of a name.
/// - `item`: the truth. `record` is the item as its donor encoded it; the other columns repeat what is asked for often.
///   The unique index begins with the identifier, so that it also finds items whose bundle is not known.
/// - `unconfirmed`: items that are to be deleted at the end of a reindex, unless they are donated again before.
/// - `attribute`, `attribute_name`, `attribute_format`: derived, see ``AttributeIndex``.
/// - `text_row`, `title_text`, `item_text`, `term`, `term_trigram`: derived, see ``FullTextIndex``.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE store (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        identifier BLOB NOT NULL,
                        applied INTEGER NOT NULL,
                        generation INTEGER NOT NULL
                    ) STRICT;
                    INSERT INTO store VALUES (1, randomblob(\(JournalStoreIdentifier.byteCount)), 0, 1);
                    CREATE TABLE bundle (
                        id INTEGER PRIMARY KEY,
                        identifier TEXT NOT NULL UNIQUE
                    ) STRICT;
                    CREATE TABLE client_state (
                        bundle INTEGER NOT NULL REFERENCES bundle (id),
                        index_name TEXT NOT NULL,
                        state BLOB NOT NULL,
                        PRIMARY KEY (bundle, index_name)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE item (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        bundle INTEGER NOT NULL REFERENCES bundle (id),
                        index_name TEXT NOT NULL,
                        text_row INTEGER,
                        unique_identifier TEXT NOT NULL,
                        domain TEXT,
                        expires REAL,
                        donated REAL NOT NULL,
                        record BLOB NOT NULL,
                        UNIQUE (unique_identifier, bundle, index_name)
                    ) STRICT;
                    CREATE INDEX item_domain ON item (bundle, index_name, domain);
                    CREATE INDEX item_expires ON item (expires) WHERE expires IS NOT NULL;
                    CREATE TABLE unconfirmed (
                        item INTEGER PRIMARY KEY REFERENCES item (id) ON DELETE CASCADE
                    ) STRICT;
                    """)
            try db.execute(sql: AttributeIndex.schema)
            try AttributeIndex.rebuild(db)
            try db.execute(sql: FullTextIndex.schema)
        }
        return migrator
    }
}
