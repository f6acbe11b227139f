// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import GRDB

/// Creates a new database from the readable rows of a damaged one. If there is no database, creates
/// an empty one.
///
/// Copies each row that is intact. If it is certain that all rows were copied, nothing else
/// changes. Otherwise the generation is incremented and the client states are deleted. The opening
/// that follows builds the derived tables.
struct Salvage {
    let folder: StoreFolder
    /// The last generation recorded outside the database.
    let knownGeneration: Int?
    /// Decides whether the new database may omit items.
    var lossRule = LossRule.acceptsLosses
    let now: Double

    /// The outcome of a salvage.
    struct Result {
        /// `true` if data may be missing.
        var hasLosses = true
        /// The number of copied items.
        var items = 0
        /// The problems, one sentence each.
        var findings: [String] = []
    }

    /// Replaces the database.
    ///
    /// - Parameter reason: The reason for the replacement.
    func run(because reason: String) throws -> Result {
        let hasDatabase = !folder.lacksDatabase
        let source = hasDatabase ? (try? openDamaged()) : nil
        let row = try? source?.read { try StoreRow($0) }
        if let row, row.format > StoreRow.currentFormat { throw SearchIndexError.newerFormat(path: folder.path) }
        let faults = source.map(Self.faults) ?? []
        var isComplete = row.map { $0.generation >= knownGeneration ?? 0 } ?? false
        // A missing database has no items to lose. The copy needs as much time and disk space as
        // the whole store, so the rule is checked before it; it is checked again afterwards if only
        // the copy reveals a loss.
        let losesSurely = !isComplete || !faults.isEmpty
        if hasDatabase, losesSurely { try checkLosses(source, faults, reason) }
        folder.removeReplacement()
        StoreFolder.createFile(folder.replacement)
        let target = try DatabaseQueue(
            path: folder.replacement, configuration: SearchIndex.configuration(isReadOnly: false))
        var result = Result()
        do {
            try Schema.migrator.migrate(target)
            if let source {
                result = try target.write { try copy(from: source, to: $0, isKnown: row != nil, faults) }
            }
            isComplete = isComplete && !result.hasLosses
            if hasDatabase, !isComplete, !losesSurely { try checkLosses(source, faults, reason) }
        } catch {
            try? target.close()
            folder.removeReplacement()
            throw error
        }
        folder.suspect()
        return try finish(result, row, source, target, isComplete: isComplete, because: reason)
    }

    /// Checks whether the repair may lose items.
    ///
    /// - Throws: ``SearchIndexError/losingRepair(path:detail:bundles:)``.
    private func checkLosses(_ source: DatabaseQueue?, _ faults: [Fault], _ reason: String) throws {
        var bundles: [String]?
        if faults.allSatisfy({ $0.table != "bundle" }) {
            bundles = try? source?.read { try SearchIndex.bundles(in: $0) }
        }
        try lossRule.check(path: folder.path, detail: reason, bundles: bundles)
    }

    /// A fault in the structure of a table.
    private struct Fault {
        var table: String
        var description: String
    }

    /// Returns the first structural fault of each table that is copied.
    private static func faults(of source: DatabaseQueue) -> [Fault] {
        source.inDatabase { db in
            let early = (try? EarlyEntries.areKept(db)) == true ? [EarlyEntries.table] : []
            return (["bundle", "item", "client_state", "store"] + early).compactMap { table in
                let faults = (try? db.structuralFaults(in: table)) ?? ["it cannot be read"]
                return faults.first.map { Fault(table: table, description: $0) }
            }
        }
    }

    /// Completes the new database and replaces the damaged one with it.
    private func finish(
        _ copied: Result, _ known: StoreRow?, _ source: DatabaseQueue?, _ target: DatabaseQueue, isComplete: Bool,
        because reason: String
    ) throws -> Result {
        var (result, row) = (copied, known)
        if !isComplete {
            var lost: StoreRow
            if let row { lost = row } else { lost = StoreRow(identifier: try identifier()) }
            lost.generation = generation(after: row?.generation)
            lost.statelessThrough = .max
            row = lost
        }
        row?.format = StoreRow.currentFormat
        let final = row
        try target.write { db in
            try final?.write(db)
            if !isComplete { try db.execute(sql: "DELETE FROM client_state") }
            try reserveNumbers(db, source: source, generation: final?.generation ?? 1, isComplete: isComplete)
        }
        try? source?.close()
        try target.close()
        try folder.replaceDatabase(keeping: !isComplete)
        result.hasLosses = !isComplete
        result.findings.insert(
            summary(reason, items: source == nil ? nil : result.items, isComplete: isComplete), at: 0)
        return result
    }

    /// Returns one or two sentences about the outcome.
    private func summary(_ reason: String, items: Int?, isComplete: Bool) -> String {
        guard let items else { return "The database cannot be read (\(reason)). A new database was created." }
        let copied = "\(items) \(items == 1 ? "item was" : "items were") copied to a new database"
        return isComplete
            ? "The database was damaged (\(reason)). \(copied), and no item is lost."
            : """
            The database was damaged (\(reason)). \(copied); others may be lost. The damaged file is kept as \
            \(folder.setAsideName).
            """
    }

    /// Opens the damaged file with settings that make as much of it readable as possible.
    private func openDamaged() throws -> DatabaseQueue {
        var configuration = SearchIndex.configuration(isReadOnly: false)
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase {
            // With this setting, invalid schema entries do not affect the others.
            try $0.execute(sql: "PRAGMA writable_schema = ON; PRAGMA cell_size_check = ON")
        }
        return try DatabaseQueue(path: folder.database, configuration: configuration)
    }

    /// Returns the identifier of the log's files, so that they can be read, or a new identifier if
    /// there are none.
    private func identifier() throws -> StoreIdentifier {
        if let known = try folder.logIdentifier() { return known }
        return StoreIdentifier()
    }

    /// Returns a generation that was never used. If the last generation is unknown, uses the
    /// seconds since 2001, which exceed any number of losses.
    private func generation(after last: Int?) -> Int {
        let known = max(last ?? 0, knownGeneration ?? 0)
        return known > 0 ? known + 1 : max(2, Int(exactly: now.rounded()) ?? 2)
    }

    private func copy(
        from source: DatabaseQueue, to target: Database, isKnown: Bool, _ faults: [Fault]
    ) throws -> Result {
        try source.inDatabase { db in
            var result = Result()
            result.hasLosses = !isKnown
            let hasEarlyEntries = (try? EarlyEntries.areKept(db)) ?? false
            for fault in faults {
                result.hasLosses = true
                result.findings.append(
                    "The table “\(fault.table)” is damaged: \(Self.shortened(fault.description)).")
            }
            let bundles = SalvagedRows(db, table: "bundle", columns: "id, identifier", key: "id") { row in
                try target.execute(
                    sql: "INSERT INTO bundle (id, identifier) VALUES (?, ?)",
                    arguments: [
                        try row.decode(Int64.self, forColumn: "id"),
                        try row.decode(String.self, forColumn: "identifier"),
                    ])
            }
            let insert = try target.makeStatement(
                sql: """
                    INSERT INTO item (id, bundle, index_name, unique_identifier, domain, expires, donated, record,
                        checksum) VALUES (?, ?, ?, ?, ?, ?, ?, stored_record(?), ?)
                    """)
            let items = SalvagedRows(
                db, table: "item", columns: ItemRow.columns + ", item.bundle", key: "id"
            ) { row in
                let item = try ItemRow(row)
                try insert.execute(arguments: [
                    item.id, try row.decode(Int64.self, forColumn: "bundle"), item.index, item.record.uniqueIdentifier,
                    item.record.domainIdentifier, item.expires, item.donated, item.bytes,
                    try row.decode(Int64.self, forColumn: "checksum"),
                ])
            }
            result.items = items.sound
            var lists = [(bundles, "bundle"), (items, "item")]
            if hasEarlyEntries {
                try EarlyEntries.prepare(target)
                let early = SalvagedRows(db, table: EarlyEntries.table, columns: "sequence, checksum", key: "sequence")
                {
                    try EarlyEntries.write(EarlyEntries.number(in: $0), target)
                }
                lists.append((early, EarlyEntries.table))
            }
            for (rows, table) in lists where rows.isIncomplete {
                result.hasLosses = true
                if rows.damaged > 0 {
                    result.findings.append(
                        "Rows of the table “\(table)” are damaged and were skipped: \(rows.damaged).")
                }
                if rows.lacksPages {
                    result.findings.append("Some pages of the table “\(table)” cannot be read; their rows are lost.")
                }
            }
            if (try? EngagementTable.exists(db)) ?? false {
                let learned = SalvagedRows(
                    db, table: EngagementTable.name, columns: EngagementTable.salvagedColumns, key: "id"
                ) { try EngagementTable.carry($0, to: target) }
                // Engagement counts only affect the order of hits, and accumulate again with use.
                if learned.isIncomplete {
                    result.findings.append("Some counts of use are lost. They only affect the order of hits.")
                }
            }
            if !result.hasLosses {
                do {
                    for state in try ClientStateRow.fetchAll(db) where state.isSound { try state.write(target) }
                } catch {
                    // An app without a client state starts over, which loses nothing.
                    result.findings.append("The client states cannot be read; their apps donate everything again.")
                }
            }
            return result
        }
    }

    private static let maximumFaultCharacters = 100

    /// Returns the first fault of an SQLite report, which may list many.
    private static func shortened(_ fault: String) -> String {
        let line = fault.split(separator: "\n").first { !$0.hasPrefix("***") } ?? "it cannot be read"
        return line.count > maximumFaultCharacters ? line.prefix(maximumFaultCharacters) + "…" : String(line)
    }

    /// Ensures that no item number is used twice. New numbers start after the last used number or,
    /// if that is unknown, far above the numbers of all earlier generations.
    private func reserveNumbers(_ db: Database, source: DatabaseQueue?, generation: Int, isComplete: Bool) throws {
        let last = try? source?.inDatabase { db in
            try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'item'") ?? 0
        }
        let highest = try Int64.fetchOne(db, sql: "SELECT max(id) FROM item") ?? 0
        // Without donations no number was used; in that case the row may be missing in an intact
        // database.
        let isKnown = (last ?? 0) >= highest && ((last ?? 0) > 0 || isComplete)
        let number = isKnown ? last ?? 0 : max(highest, Int64(min(generation, 1 << 30)) << 32)
        try db.execute(
            sql: "DELETE FROM sqlite_sequence WHERE name = 'item'; INSERT INTO sqlite_sequence VALUES ('item', ?)",
            arguments: [number])
    }
}

/// Reads all readable rows of a table in key order, and skips damaged pages.
private struct SalvagedRows {
    private(set) var sound = 0
    private(set) var damaged = 0
    /// `true` if some pages cannot be read.
    private(set) var lacksPages = false
    /// `true` if rows are or may be missing.
    var isIncomplete: Bool { damaged > 0 || lacksPages }

    /// The largest number of damaged ranges to skip. After that, the rest of the table is
    /// abandoned.
    private static let maximumSteps = 100_000

    init(_ db: Database, table: String, columns: String, key: String, _ take: (Row) throws -> Void) {
        var next = Int64.min
        var steps = 0
        while steps < Self.maximumSteps {
            steps += 1
            do {
                let rows = try Row.fetchCursor(
                    db, sql: "SELECT \(columns) FROM \(table) NOT INDEXED WHERE \(key) >= ? ORDER BY \(key)",
                    arguments: [next])
                while let row = try rows.next() {
                    guard case .int64(let number) = (row[key] as DatabaseValue).storage, number >= next, number < .max
                    else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
                    next = number + 1
                    do {
                        try take(row)
                        sound += 1
                    } catch {
                        damaged += 1
                    }
                }
                return
            } catch {
                lacksPages = true
                guard let after = Self.firstReadable(db, table, key, from: next) else { return }
                next = after
            }
        }
    }

    /// Returns the smallest number from which the table is readable again; `nil` if there is none.
    private static func firstReadable(_ db: Database, _ table: String, _ key: String, from start: Int64) -> Int64? {
        /// Returns the first row at or after a number, or the error of reading it.
        func probe(_ number: Int64) -> Swift.Result<Int64?, any Error> {
            Swift.Result {
                try Int64.fetchOne(
                    db, sql: "SELECT \(key) FROM \(table) NOT INDEXED WHERE \(key) >= ? ORDER BY \(key) LIMIT 1",
                    arguments: [number])
            }
        }
        // Item numbers begin at 1; smaller numbers are damage.
        var (bad, step) = (max(start, 0), Int64(1))
        while true {
            let (number, overflow) = bad.addingReportingOverflow(step)
            guard !overflow else { return nil }
            if case .success = probe(number) { return lowest(bad, number, probe) }
            bad = number
            step = step > Int64.max / 2 ? .max : step * 2
        }
    }

    private static func lowest(
        _ bad: Int64, _ good: Int64, _ probe: (Int64) -> Swift.Result<Int64?, any Error>
    ) -> Int64? {
        var (bad, good) = (bad, good)
        while good - bad > 1 {
            let middle = bad + (good - bad) / 2
            if case .success = probe(middle) { good = middle } else { bad = middle }
        }
        guard case .success(let found?) = probe(good) else { return nil }
        return found
    }
}
