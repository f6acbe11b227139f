// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord

/// Changes the items of one scope and the tables derived from them, inside a transaction.
struct ItemWriter {
    let db: Database
    let bundle: Int64
    let scope: IndexScope
    let index: String
    let now: Double
    /// The number of seconds added to the dates that the app gave; see ``StoreClock``.
    private let shift: Double
    let derived: DerivedWriter

    init(_ db: Database, _ scope: IndexScope, now: Double, shift: Double = 0, _ derived: DerivedWriter) throws {
        self.db = db
        self.shift = shift
        // SQLite stores whole seconds in half as many bytes.
        self.now = now.rounded(.down)
        self.derived = derived
        self.scope = scope
        index = scope.index ?? ""
        guard SearchIndex.canBeStored(scope.bundle), SearchIndex.canBeStored(scope.index) else {
            throw SearchIndexError.invalidItem(
                identifier: scope.bundle, reason: "the name of its bundle or of its index contains a NUL")
        }
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO bundle (identifier) VALUES (?)")
            .execute(arguments: [scope.bundle])
        bundle =
            try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT id FROM bundle WHERE identifier = ?"), arguments: [scope.bundle]) ?? 0
    }

    /// Adds, replaces or updates an item.
    ///
    /// - Returns: `true` if the item was written; `false` for an update of an item that does not
    ///   exist.
    @discardableResult
    func put(_ item: EncodedItem) throws -> Bool {
        var item = item
        let identifier = item.record.uniqueIdentifier
        guard SearchIndex.canBeStored(identifier), SearchIndex.canBeStored(item.record.domainIdentifier) else {
            throw SearchIndexError.invalidItem(
                identifier: identifier, reason: "its identifier or its domain contains a NUL")
        }
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT \(ItemRow.columns), text_row FROM item
                    WHERE bundle = ? AND index_name = ? AND unique_identifier = ?
                    """),
            arguments: [bundle, index, identifier])
        let existing = try row.map(ItemRow.init)
        if item.record.isUpdate {
            // An expired item counts as deleted, even if its row still exists.
            guard let existing, existing.expires ?? .infinity > now else { return false }
            item = try merged(item.record, into: existing.record)
        }
        let id: Int64
        let text: Int64
        if let existing, let row {
            id = existing.id
            try db.cachedStatement(sql: "DELETE FROM unconfirmed WHERE item = ?").execute(arguments: [id])
            // A reindex mostly donates unchanged items; then only the dates are updated.
            if existing.bytes == Data(item.bytes) {
                try db.cachedStatement(
                    sql: "UPDATE item SET expires = ?, donated = ?, checksum = ? WHERE id = ?"
                )
                .execute(arguments: [expiry(of: item.record), now, checksum(of: item), id])
                return true
            }
            try derived.remove(
                existing.record, bundle: bundle, item: id, text: try row.decode(forColumn: "text_row"))
            text = try derived.nextText(of: item.record, donated: now)
            try db.cachedStatement(
                sql: """
                    UPDATE item SET text_row = ?, domain = ?, expires = ?, donated = ?, record = stored_record(?),
                        checksum = ?
                    WHERE id = ?
                    """
            ).execute(arguments: columns(of: item, text: text) + [id])
        } else {
            text = try derived.nextText(of: item.record, donated: now)
            try insert(item, text: text)
            id = db.lastInsertedRowID
        }
        try derived.insert(item.record, bundle: bundle, item: id, text: text)
        return true
    }

    /// Applies a batch from the log.
    ///
    /// - Parameter keepsState: `true` if the entry's client state is reliable; see
    ///   ``StoreRow/statelessThrough``.
    /// - Returns: The items that were left out, with the reasons. An invalid item does not block
    ///   later ones.
    func apply(_ batch: IndexBatch, keepsState: Bool = true) throws -> [LeftOutItem] {
        var leftOut: [LeftOutItem] = []
        var dependents: [String] = []
        var kept = batch.donatesAgain ? EngagementTable.Kept() : nil
        for change in batch.changes.changes {
            switch change {
            case .put(let items):
                for record in records(of: items, &leftOut) {
                    do {
                        let item = try EncodedItem(decoding: Array(record))
                        if try !put(item) { leftOut.append(LeftOutItem(scope: scope, problem: nil)) }
                        if RelatedItems.related(of: item.record) != nil {
                            dependents.append(item.record.uniqueIdentifier)
                        }
                    } catch let error as ItemRecordError {
                        leftOut.append(
                            LeftOutItem(scope: scope, problem: .invalidItem(identifier: "?", reason: error.description))
                        )
                    } catch let error as SearchIndexError {
                        leftOut.append(LeftOutItem(scope: scope, problem: error))
                    }
                }
            case .deleteItems(let identifiers):
                for identifier in identifiers where SearchIndex.canBeStored(identifier) {
                    try delete("unique_identifier = ?", [identifier], &kept)
                }
            case .deleteDomains(let domains):
                for domain in domains where SearchIndex.canBeStored(domain) {
                    // Names that begin with "a." sort between "a." and "a/", because "/" is the
                    // character after the dot.
                    try delete(
                        "(domain = ? OR (domain >= ? AND domain < ?))", [domain, domain + ".", domain + "/"], &kept)
                }
            case .deleteAll:
                try delete("1", [], &kept)
                try db.cachedStatement(sql: "DELETE FROM client_state WHERE bundle = ? AND index_name = ?")
                    .execute(arguments: [bundle, index])
            case .renameItems(let renames):
                let renamed = try rename(renames, &leftOut)
                kept?.rename(renamed)
                dependents = dependents.map { renamed[Data($0.utf8)] ?? $0 }
            }
        }
        if !derived.relatesWithinIndexes { try dropOrphans(among: dependents) }
        try kept?.restore(bundle: bundle, index: index, db)
        if let state = batch.clientState, keepsState {
            try ClientStateRow(bundle: bundle, scope: scope, state: state).write(db)
        }
        return leftOut
    }

    private func records(of items: ArraySlice<UInt8>, _ leftOut: inout [LeftOutItem]) -> [ArraySlice<UInt8>] {
        do throws(ItemRecordError) { return try RecordBatch.split(items) } catch {
            let problem = SearchIndexError.invalidItem(identifier: "?", reason: error.description)
            leftOut.append(LeftOutItem(scope: scope, problem: problem))
            return []
        }
    }

    /// Deletes the items of a batch whose related item does not exist after the whole batch,
    /// regardless of its order.
    private func dropOrphans(among identifiers: [String]) throws {
        for identifier in identifiers {
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT id, plain_record(record) AS record FROM item
                        WHERE bundle = ? AND index_name = ? AND unique_identifier = ?
                        """),
                arguments: [bundle, index, identifier])
            // A later operation may have deleted or replaced the item.
            guard let row, let related = RelatedItems.related(of: try Self.record(in: row)),
                try !RelatedItems.exists(related, bundle: bundle, now: now, db)
            else { continue }
            try Self.delete(db, where: "id = ?", [try row.decode(Int64.self, forColumn: "id")], derived)
        }
    }

    private func delete(_ condition: String, _ arguments: [String], _ kept: inout EngagementTable.Kept?) throws {
        let condition = "bundle = ? AND index_name = ? AND \(condition)"
        let arguments = [bundle, index] + StatementArguments(arguments)
        try kept?.add(where: condition, arguments, db)
        try Self.delete(db, where: condition, arguments, derived, relatedIn: relatedIndex)
    }

    /// The index in which related items are looked up; `nil` for all.
    var relatedIndex: String? { derived.relatesWithinIndexes ? index : nil }

    /// Deletes items, and recursively the items whose related item was deleted.
    ///
    /// - Parameter index: The name of the only index in which related items are looked up; `nil`
    ///   for all.
    /// - Returns: The number of items that match the condition itself.
    @discardableResult
    static func delete(
        _ db: Database, where condition: String, _ arguments: StatementArguments, _ derived: DerivedWriter,
        relatedIn index: String? = nil
    ) throws -> Int {
        try derived.flush()
        var deleted = try deleteAlone(db, where: condition, arguments, derived)
        let count = deleted.count
        // Each round deletes items, so the loop ends for chains and cycles.
        while case let orphans = try RelatedItems.orphans(of: deleted, index: index, db), !orphans.isEmpty {
            deleted = []
            for orphan in orphans { deleted += try deleteAlone(db, where: "id = ?", [orphan], derived) }
        }
        return count
    }

    /// Deletes items but not the items that depend on them.
    static func deleteAlone(
        _ db: Database, where condition: String, _ arguments: StatementArguments, _ derived: DerivedWriter
    ) throws -> [(identifier: String, bundle: Int64)] {
        var identifiers: [Int64] = []
        var deleted: [(identifier: String, bundle: Int64)] = []
        let rows = try Row.fetchCursor(
            db, sql: "SELECT \(ItemRow.columns), bundle, text_row FROM item WHERE \(condition)",
            arguments: arguments)
        while let row = try rows.next() {
            let item = try ItemRow(row)
            identifiers.append(item.id)
            let bundle: Int64 = try row.decode(forColumn: "bundle")
            deleted.append((item.record.uniqueIdentifier, bundle))
            try derived.remove(
                item.record, bundle: bundle, item: item.id, text: try row.decode(forColumn: "text_row"))
        }
        let statement = try db.cachedStatement(sql: "DELETE FROM item WHERE id = ?")
        for id in identifiers { try statement.execute(arguments: [id]) }
        return deleted
    }

    static func record(in row: Row) throws -> ItemRecord {
        do {
            // Decodes without a copy, because records may be as large as 16 MiB.
            return try row.withUnsafeData(named: "record") { try ItemRecord(decoding: $0 ?? Data()) }
        } catch let error as ItemRecordError {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "item \(try row.decode(Int64.self, forColumn: "id")): \(error)")
        }
    }

    private func expiry(of record: ItemRecord) -> Double? {
        switch record.expiration {
        case .standard: standardExpiry
        case .never: nil
        // SQLite stores NaN as NULL, which means "never".
        case .at(let moment): moment.isNaN ? standardExpiry : moment + shift
        }
    }

    private var standardExpiry: Double { now + SearchIndex.standardLifetime }

    private func insert(_ item: EncodedItem, text: Int64) throws {
        let insert = try derived.insertItem.get()
        insert.bind(text, at: 1)
        insert.bind(item.record.domainIdentifier, at: 2)
        insert.bind(expiry(of: item.record), at: 3)
        insert.bind(now, at: 4)
        insert.bind(item.bytes, at: 5)
        insert.bind(bundle, at: 6)
        insert.bind(index, at: 7)
        insert.bind(item.record.uniqueIdentifier, at: 8)
        insert.bind(checksum(of: item), at: 9)
        try insert.run()
    }

    private func columns(of item: EncodedItem, text: Int64) -> StatementArguments {
        [text, item.record.domainIdentifier, expiry(of: item.record), now, Data(item.bytes), checksum(of: item)]
    }

    private func checksum(of item: EncodedItem) -> Int64 {
        RowChecksum.item(
            bundle: scope.bundle, index: index, identifier: item.record.uniqueIdentifier,
            expires: expiry(of: item.record), donated: now, record: item.bytes)
    }

    private func merged(_ update: ItemRecord, into stored: ItemRecord) throws -> EncodedItem {
        var record = stored
        record.isUpdate = false
        // An update for which the app set no expiration date carries the standard lifetime.
        if update.expiration != .standard { record.expiration = update.expiration }
        if let domain = update.domainIdentifier { record.domainIdentifier = domain }
        for (name, value) in update.attributes {
            record.attributes[name] = value == .null ? nil : value
            record.traits[name] = value == .null ? nil : update.traits[name]
        }
        do {
            return try EncodedItem(record)
        } catch {
            throw SearchIndexError.invalidItem(identifier: update.uniqueIdentifier, reason: "\(error)")
        }
    }
}

extension IndexBatch {
    /// `true` if the batch deletes items and then puts items, possibly the same ones.
    fileprivate var donatesAgain: Bool {
        var hasDeleted = false
        for change in changes.changes {
            switch change {
            case .deleteAll, .deleteDomains, .deleteItems: hasDeleted = true
            case .put: if hasDeleted { return true }
            case .renameItems: break
            }
        }
        return false
    }
}
