// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import GRDB

/// The tables of a store, and the migrations that upgrade older stores. A released migration never
/// changes.
///
/// - `store`: one row, see ``StoreRow``.
/// - `client_state`: the client state of each app's last batch.
/// - `bundle`: the apps that own items; an item stores a small number instead of a name.
/// - `item`: the primary data. `record` is the item as its donor encoded it, compressed
///   (``RecordCompression``). The other columns duplicate frequently queried values. The unique
///   index begins with the identifier, so that it also finds items when the bundle is unknown.
/// - `recovery`: the findings of the last opening that found a problem.
/// - `derived_index`: the list of existing derived tables, which are created when the store is
///   opened; see ``DerivedIndex``.
/// - `unconfirmed`: the items to delete at the end of a reindex unless they are donated again.
/// - `replacement`: the number of each paged reindex, see
///   ``SearchIndex/beginWholeReplacement(of:)``.
/// - `engagement`: what users did with items, see ``EngagementTable``. A row is deleted with its
///   item.
/// - `attribute`, `attribute_name`: derived, see ``AttributeIndex``.
/// - `text_row`, `text_total`, `text_language`, `ranked_word`, `item_text`, `term`, `term_trigram`,
///   `spelling_block`, `spelling_total`: derived, see ``FullTextIndex``.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(sql: String(decoding: PackageResources.schema_sql, as: UTF8.self))
            try StoreRow(identifier: StoreIdentifier()).write(db)
        }
        // The tables are the same, but earlier programs cannot read the new log format.
        migrator.registerMigration("2") { db in try StoreRow.update(db) { $0.format = 2 } }
        // No existing row refers to the new table, so it is unnecessary to check the foreign keys
        // of every item.
        migrator.registerMigration("3", foreignKeyChecks: .immediate) { db in
            try db.execute(sql: EngagementTable.schema)
            try StoreRow.update(db) { $0.format = 3 }
        }
        // The tables are the same, but earlier programs cannot read compressed records.
        migrator.registerMigration("4", foreignKeyChecks: .immediate) { db in
            try StoreRow.update(db) { $0.format = 4 }
        }
        // The tables are the same, but earlier programs cannot read records compressed by zstd.
        migrator.registerMigration("5", foreignKeyChecks: .immediate) { db in
            try StoreRow.update(db) { $0.format = 5 }
        }
        return migrator
    }

    /// Returns `true` if this version can read a store without changing it. Format 2 has the tables
    /// of format 1. Format 3 adds a table that readers do not need. In formats 4 and 5, records may
    /// be compressed.
    static func canBeRead(_ db: Database) throws -> Bool { try migrator.appliedIdentifiers(db).contains("1") }

    /// Rejects a store from a later version of this program. Unknown migrations alone do not prove
    /// a later version: the list of migrations has no checksum, unlike the format number.
    ///
    /// - Throws: ``SearchIndexError/newerFormat(path:)``; `SQLITE_CORRUPT` if the list of
    ///   migrations is damaged.
    static func refuseNewer(_ db: Database, path: String) throws {
        guard try migrator.hasBeenSuperseded(db) else { return }
        if let row = try? StoreRow(db), row.format <= StoreRow.currentFormat {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the list of format steps is damaged")
        }
        throw SearchIndexError.newerFormat(path: path)
    }
}
