// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB

/// A complete, read-only examination of a database. ``repair(_:through:)`` repairs its findings.
///
/// The time is linear in the size of the database; the examination makes several passes.
struct DatabaseExamination {
    /// The faults that SQLite finds, or that prevent items from being read. They require a new
    /// database.
    private(set) var structure: [String] = []
    /// The items whose rows are damaged; `reasons` describes the first ones.
    private(set) var damagedItems: [Int64] = []
    private(set) var reasons: [String] = []
    /// The items whose domain column differs from their record.
    private(set) var wrongColumns: [Int64] = []
    /// The number of damaged client states; 1 if the table cannot be read. The repair deletes all
    /// client states.
    private(set) var damagedStates = 0
    /// The derived indexes that differ from the items, and their problems. Examined only if all
    /// items are intact.
    private(set) var derived: [(index: DerivedIndex, problems: [String])] = []
    /// The faults of the embedding tables. The repair drops the tables.
    private(set) var embeddings: [String] = []
    private(set) var items = 0
    private(set) var clientStates = 0
    /// `true` if the database cannot be written, so some checks were skipped.
    private(set) var isReadOnly = false

    private static let maximumReasons = 20

    /// Examines the database.
    ///
    /// - Parameters:
    ///   - isReadOnly: `true` if the connection is read-only; checks that write are then skipped.
    ///   - progress: Called periodically with the number of items examined.
    init(_ db: Database, isReadOnly: Bool = false, progress: (Int) -> Void = { _ in }) {
        self.isReadOnly = isReadOnly
        do {
            _ = try EarlyEntries(db, after: StoreRow(db).applied)
            try examineItems(db, progress)
            examineStates(db)
            if !isReadOnly {
                derived = DerivedIndex.all.compactMap { index in
                    // With damaged items no comparison is possible; the repair rebuilds all
                    // indexes.
                    let problems = damagedItems.isEmpty ? index.problems(db) : []
                    return problems.isEmpty ? nil : (index, problems)
                }
            }
            var truth: [String] = []
            let early = try EarlyEntries.areKept(db) ? [EarlyEntries.table] : []
            let learned = try EngagementTable.exists(db) ? [EngagementTable.name] : []
            for table in ["bundle", "item", "client_state", "store"] + early + learned {
                truth += try db.structuralFaults(in: table).map { (fault: String) in "\(table): \(fault)" }
            }
            embeddings = try EmbeddingTables.problems(db)
            // A fault that is repaired by rebuilding an index does not require a new database.
            structure = truth.isEmpty && derived.isEmpty && embeddings.isEmpty ? try db.structuralFaults() : truth
        } catch {
            structure.append((error as? DatabaseError)?.message ?? "\(error)")
        }
    }

    private mutating func examineItems(_ db: Database, _ progress: (Int) -> Void) throws {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT \(ItemRow.columns), domain FROM item ORDER BY id")
        while let row = try rows.next() {
            items += 1
            if items % 1000 == 0 { progress(items) }
            let id: Int64 = try row.decode(forColumn: "id")
            do {
                let item = try ItemRow(row)
                let domain: DatabaseValue = try row.decode(forColumn: "domain")
                if domain != item.record.domainIdentifier?.databaseValue ?? .null { wrongColumns.append(id) }
            } catch {
                damagedItems.append(id)
                if reasons.count < Self.maximumReasons {
                    reasons.append((error as? DatabaseError)?.message ?? "item \(id): a value of the wrong type")
                }
            }
        }
    }

    private mutating func examineStates(_ db: Database) {
        do {
            let states = try ClientStateRow.fetchAll(db)
            clientStates = states.count
            damagedStates = states.count { !$0.isSound }
        } catch {
            damagedStates = 1
        }
    }

    /// `true` if no problem was found.
    var isClean: Bool {
        structure.isEmpty && damagedItems.isEmpty && wrongColumns.isEmpty && damagedStates == 0 && derived.isEmpty
            && embeddings.isEmpty
    }

    /// Adds each problem and its repair to a report.
    func report(into report: inout VerificationReport) {
        let skipped = isReadOnly ? "the store is not writable, and SQLite's checks need to write" : nil
        report.checks.append(.init(what: "item records, with their columns and checksums", count: items))
        report.checks.append(.init(what: "client states", count: clientStates))
        for index in DerivedIndex.all {
            report.checks.append(.init(what: "derived index “\(index.name)” against the items", skipped: skipped))
        }
        report.checks.append(.init(what: "pages, tables and indexes of the database"))
        for fault in structure { report.add("database", fault, .salvage) }
        for reason in reasons { report.add("items", reason, .deleteItems) }
        if damagedItems.count > reasons.count {
            report.add("items", "\(damagedItems.count - reasons.count) more are damaged", .deleteItems)
        }
        if !wrongColumns.isEmpty {
            report.add("items", "\(wrongColumns.count) have columns that differ from their records", .rewriteColumns)
        }
        if damagedStates > 0 {
            report.add("client states", "\(damagedStates) are damaged", .deleteClientStates)
        }
        for problem in embeddings { report.add("embeddings", problem, .rebuildIndex) }
        for (index, problems) in derived {
            for problem in problems { report.add("derived index “\(index.name)”", problem, .rebuildIndex) }
        }
    }

    /// Repairs the findings, inside a transaction.
    ///
    /// - Parameters:
    ///   - sequence: The last log entry that was donated before the loss became known.
    ///   - isNew: `true` if the database was just created, so that missing derived tables are not a
    ///     fault.
    ///   - lossRule: Decides whether damaged items are deleted.
    ///   - path: The store's folder, for the error.
    /// - Returns: The repairs, one sentence each.
    /// - Throws: `SQLITE_CORRUPT` if the database must be replaced;
    ///   ``SearchIndexError/losingRepair(path:detail:bundles:)``.
    func repair(
        _ db: Database, through sequence: UInt64, isNew: Bool = false, lossRule: LossRule, path: String
    ) throws -> [String] {
        if let fault = structure.first { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: fault) }
        var done: [String] = []
        if !embeddings.isEmpty {
            try EmbeddingTables.drop(db)
            done.append("The embeddings were damaged and were deleted. They are computed again in the background.")
        }
        if !damagedItems.isEmpty {
            try lossRule.check(
                path: path, detail: reasons.first ?? "an item cannot be read",
                bundles: try? SearchIndex.bundles(in: db))
            let delete = try db.makeStatement(sql: "DELETE FROM item WHERE id = ?")
            for id in damagedItems { try delete.execute(arguments: [id]) }
            try StoreRow.noteLoss(db, through: sequence)
            done.append(
                "\(damagedItems.count) damaged items were deleted (\(reasons.first ?? "")). Their apps have to donate them again."
            )
        }
        if !wrongColumns.isEmpty {
            try rewriteColumns(db)
            done.append("The columns of \(wrongColumns.count) items were rewritten from their records.")
        }
        if damagedStates > 0 {
            try db.execute(sql: "DELETE FROM client_state")
            done.append("The client states were damaged and were deleted.")
        }
        // The derived rows of damaged items cannot be determined, so all indexes are rebuilt.
        let indexes = damagedItems.isEmpty ? derived.map(\.index) : DerivedIndex.all
        for index in indexes { try index.rebuild(db) }
        if damagedItems.isEmpty, !isNew {
            for (index, problems) in derived {
                done.append("The derived index “\(index.name)” was rebuilt: \(problems.first ?? "it was damaged").")
            }
        }
        if !isClean, let fault = try db.structuralFaults().first {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: fault)
        }
        return done
    }

    private func rewriteColumns(_ db: Database) throws {
        let find = try db.makeStatement(sql: "SELECT \(ItemRow.columns) FROM item WHERE id = ?")
        let write = try db.makeStatement(sql: "UPDATE item SET domain = ? WHERE id = ?")
        for id in wrongColumns {
            guard let row = try Row.fetchOne(find, arguments: [id]) else { continue }
            try write.execute(arguments: [try ItemRow(row).record.domainIdentifier, id])
        }
    }
}
