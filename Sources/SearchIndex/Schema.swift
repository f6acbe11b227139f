// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import GRDB

/// The tables of a store and the steps by which older stores become newer ones. A step that has been released is never
/// changed.
///
/// - `store`: one row, see ``StoreRow``.
/// - `client_state`: what apps gave with their last batch.
/// - `bundle`: the apps that own items, so that an item carries a small number instead of a name.
/// - `item`: the truth. `record` is the item as its donor encoded it, compressed (``RecordCompression``); the other columns repeat
///   what is asked for often.
///   The unique index begins with the identifier, so that it also finds items whose bundle is not known.
/// - `recovery`: what the last opening that found something wrong found.
/// - `derived_index`: which derived tables there are; they are made at the opening, see ``DerivedIndex``.
/// - `unconfirmed`: items that are to be deleted at the end of a reindex, unless they are donated again before.
/// - `replacement`: the number of each reindex in pages, see ``SearchIndex/beginWholeReplacement(of:)``.
/// - `engagement`: what users did with items, see ``EngagementTable``. A row goes with its item.
/// - `attribute`, `attribute_name`: derived, see ``AttributeIndex``.
/// - `text_row`, `text_total`, `text_language`, `ranked_word`, `item_text`, `term`, `term_trigram`, `spelling_block`,
///   `spelling_total`: derived, see ``FullTextIndex``.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(sql: String(decoding: PackageResources.schema_sql, as: UTF8.self))
            try StoreRow(identifier: StoreIdentifier()).write(db)
        }
        // The tables are the same; an earlier program could not read the log.
        migrator.registerMigration("2") { db in try StoreRow.update(db) { $0.format = 2 } }
        // Nothing refers to anything new, so that not every item has to be looked at.
        migrator.registerMigration("3", foreignKeyChecks: .immediate) { db in
            try db.execute(sql: EngagementTable.schema)
            try StoreRow.update(db) { $0.format = 3 }
        }
        // The tables are the same; an earlier program could not read records that are compressed.
        migrator.registerMigration("4", foreignKeyChecks: .immediate) { db in
            try StoreRow.update(db) { $0.format = 4 }
        }
        // The tables are the same; an earlier program could not read records that zstd compressed.
        migrator.registerMigration("5", foreignKeyChecks: .immediate) { db in
            try StoreRow.update(db) { $0.format = 5 }
        }
        return migrator
    }

    /// Whether this version can read a store without changing it: format 2 has the tables of format 1, format 3 one more, which
    /// a reader does without, and formats 4 and 5 have compressed records beside those that are not.
    static func canBeRead(_ db: Database) throws -> Bool { try migrator.appliedIdentifiers(db).contains("1") }

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
