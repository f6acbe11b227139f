// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import GRDB
import SystemSupport

/// Opens a store for writing, and repairs damage at the appropriate level:
///
/// ```
/// examine folder ── no store ──> create one
///      │
///    attempt:  open, migrate ──> read the store's row ──> [marked: examine all, repair rows] ──>
///      │         rebuild outdated derived tables ──> open the log ──> apply its backlog ──>
///      │         remove applied log files
///      │
///      └─ damage anywhere ──> salvage into a new database ──> attempt, once more
/// ```
///
/// The caller guarantees exclusive access to the store.
struct StoreOpening {
    let folder: StoreFolder
    /// The last generation recorded outside the database; `nil` if there is none.
    let knownGeneration: Int?
    /// Decides whether damage is repaired at the cost of items.
    let lossRule: LossRule
    let now: @Sendable () -> Double
    /// The hooks into the layers below the store.
    let seams: StoreHooks

    private var report = RecoveryReport()
    private var hasSalvaged = false
    /// The generation before any attempt. A loss that the first attempt records before it
    /// encounters damage is attributed to this opening.
    private var generationBefore: Int?

    /// The parts of an opened store.
    struct Opened {
        var pool: any DatabaseWriter
        var applier: LogApplier
        var report: RecoveryReport
    }

    /// The limits of the stored findings: their number, and the length of each in characters.
    private static let maximumFindings = 100
    private static let maximumFindingCharacters = 1000

    init(
        folder: StoreFolder, knownGeneration: Int?, lossRule: LossRule, now: @escaping @Sendable () -> Double,
        seams: StoreHooks
    ) {
        self.seams = seams
        self.folder = folder
        self.knownGeneration = knownGeneration
        self.lossRule = lossRule
        self.now = now
    }

    /// Opens the store.
    ///
    /// - Throws: Errors of the layers below. Damage is thrown only if even a new database does not
    ///   help. If the repair would violate ``lossRule``, throws
    ///   ``SearchIndexError/losingRepair(path:detail:bundles:)``.
    mutating func open() throws -> Opened {
        try OwnFolder.open(folder.path, creating: true)
        try folder.check()
        if let refusal = folder.refusal(now: now()) {
            let bundles = refusal.bundles.isEmpty ? nil : refusal.bundles
            try lossRule.check(path: folder.path, detail: refusal.detail, bundles: bundles)
        }
        do {
            return try openOrRepair()
        } catch SearchIndexError.losingRepair(let path, let detail, let bundles) {
            folder.noteRefusal(detail, bundles, now: now())
            throw SearchIndexError.losingRepair(path: path, detail: detail, bundles: bundles)
        }
    }

    /// Creates a store in memory, whose item numbers start at `firstNumber`, or restores a store
    /// from its image.
    mutating func openInMemory(firstNumber: Int64, image: IndexImage?) throws -> Opened {
        let queue = try DatabaseQueue(configuration: SearchIndex.configuration(isReadOnly: false, seams))
        // Otherwise, sorts and intermediate results would go to temporary files.
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            try image?.restore(into: db)
        }
        if image != nil {
            try queue.write { db in
                try Schema.refuseNewer(db, path: folder.path)
                try Self.beginLog(db)
                try Self.skipNumbers(db)
            }
            return try use(queue)
        }
        let opened = try use(queue)
        try queue.write { db in
            try db.execute(
                sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('item', ?)", arguments: [firstNumber])
        }
        return opened
    }

    private mutating func openOrRepair() throws -> Opened {
        report.isNew = try folder.isNew(generation: knownGeneration)
        if report.isNew {
            StoreFolder.createFile(folder.database)
        } else if folder.lacksDatabase {
            try salvage(because: "it is missing or empty")
        }
        folder.removeReplacement()
        do {
            return try attempt()
        } catch  where isDamage(error) {
            try salvage(because: describe(error))
            return try attempt()
        }
    }

    private static let beyondTheEnd = "an invalid page number"

    private func describe(_ error: any Error) -> String {
        switch error {
        case SearchIndexError.damaged(_, let detail): detail
        case SearchIndexError.full: Self.beyondTheEnd
        case let error as DatabaseError where error.resultCode == .SQLITE_FULL: Self.beyondTheEnd
        case let error as DatabaseError where error.resultCode == .SQLITE_NOMEM: MemoryShortage.fault
        case let error as DatabaseError: error.message ?? "\(error.resultCode)"
        default: "a value of the wrong type"
        }
    }

    /// Returns `true` if a new database may help. All statements belong to this program, so SQLite
    /// errors describe the file, unless they report a lack of resources.
    private func isDamage(_ error: any Error) -> Bool {
        switch error {
        case SearchIndexError.damaged: return true
        case SearchIndexError.full: return isBeyondTheEnd
        default: break
        }
        guard let error = error as? DatabaseError else { return error is RowDecodingError }
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_RANGE,
            .SQLITE_TOOBIG, .SQLITE_FORMAT:
            return true
        // A header that requires a later SQLite makes the file read-only.
        case .SQLITE_READONLY:
            return access(folder.database, W_OK) == 0 && access(folder.path, W_OK) == 0
        case .SQLITE_FULL: return isBeyondTheEnd
        case .SQLITE_NOMEM: return MemoryShortage.isDamage(error)
        default: return false
        }
    }

    /// Returns `true` if SQLite reports a full disk because of an impossible page number in a
    /// damaged file. In that case the disk has free space, and SQLite's integrity check finds
    /// faults.
    private var isBeyondTheEnd: Bool {
        guard UnwritableStore.obstacle(at: folder.path, operation: "") == nil else { return false }
        do {
            let queue = try DatabaseQueue(
                path: folder.database, configuration: SearchIndex.configuration(isReadOnly: true, seams))
            return try !queue.read { try $0.structuralFaults() }.isEmpty
        } catch {
            let code = (error as? DatabaseError)?.resultCode
            return code == .SQLITE_FULL || code == .SQLITE_CORRUPT
        }
    }

    private mutating func salvage(because reason: String) throws {
        hasSalvaged = true
        let salvage = Salvage(
            folder: folder, knownGeneration: knownGeneration, lossRule: lossRule, now: now())
        let result = try salvage.run(because: reason)
        report.hasRepaired = true
        report.findings += result.findings
        report.lostDonations = report.lostDonations || result.hasLosses
    }

    private mutating func attempt() throws -> Opened {
        let pool = try openPool()
        do {
            return try use(pool)
        } catch {
            try? pool.closeInOrder()
            throw error
        }
    }

    private func openPool() throws -> DatabasePool {
        let pool = try DatabasePool(
            path: folder.database, configuration: SearchIndex.configuration(isReadOnly: false, seams))
        // GRDB sets `synchronous` to NORMAL when it creates the pool, so this statement must come
        // afterwards. WAL mode with NORMAL is only safe against crashes of the process, but an
        // acknowledged item must survive a power failure. The larger cache saves a quarter of the
        // time of bulk transactions (measured with 100,000 items). The check confirms that the
        // opened files are the files examined before.
        try folder.check()
        try pool.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -\(SearchIndex.writerCacheKiB)")
            // If SQLite is built to leave deleted content in its pages, FAST overwrites it where
            // that costs no extra page.
            if try Int.fetchOne($0, sql: "PRAGMA secure_delete") == 0 {
                try $0.execute(sql: "PRAGMA secure_delete = FAST")
            }
        }
        return pool
    }

    private mutating func use(_ pool: any DatabaseWriter) throws -> Opened {
        try pool.read { try Schema.refuseNewer($0, path: folder.path) }
        try Schema.migrator.migrate(pool)
        let generation = try generationBefore ?? pool.read { try StoreRow($0).generation }
        generationBefore = generation
        try takeOverGeneration(pool)
        if folder.isSuspect {
            let isNew = hasSalvaged
            let repaired = try pool.write { db in
                try DatabaseExamination(db).repair(
                    db, through: .max, isNew: isNew, lossRule: lossRule, path: folder.path)
            }
            report.findings += repaired
            report.hasRepaired = report.hasRepaired || !repaired.isEmpty
        }
        _ = try pool.write { try DerivedIndex.bringUpToDate($0, itemsAtOnce: seams.itemsRebuiltAtOnce) }
        let clock = StoreClock(wall: now, boot: seams.bootClock)
        try pool.write { db in
            try clock.begin(db)
            try clock.adjust(db)
        }
        let (row, early) = try pool.read { db in
            let row = try StoreRow(db)
            return (row, try EarlyEntries(db, after: row.applied))
        }
        let log = try WriteAheadLog(
            folder: folder.log, store: row.identifier, applied: row.applied, acknowledged: early.last,
            files: seams.logFiles, configuration: seams.log)
        let applier = LogApplier(
            pool: pool, log: log, applied: row.applied, early: early, folder: folder, clock: clock,
            lossRule: lossRule, seams: seams)
        do {
            let loses =
                log.lackedNote
                || log.findings.contains { finding in
                    finding.lostEntries(after: row.applied).map { !early.covers($0) } ?? false
                }
            try pool.write { db in
                if loses { try StoreRow.noteLoss(db, through: log.lastSequence) }
                // Client states older than a loss must not be restored from the backlog.
                try StoreRow.update(db) {
                    $0.statelessThrough = min($0.statelessThrough, max(log.lastSequence, $0.applied))
                }
            }
            try applier.applyBacklog()
            try applier.forgetApplied()
            report.findings += log.findings.map(\.description) + applier.repairs
            report.hasRepaired = report.hasRepaired || !applier.repairs.isEmpty
            report.generation = try pool.read { try StoreRow($0).generation }
            report.lostDonations = report.lostDonations || report.generation > generation
            try keepFindings(pool)
        } catch {
            applier.abandon()
            throw error
        }
        folder.trust()
        applier.tidySoon()
        return Opened(pool: pool, applier: applier, report: report)
    }

    /// Detects an outdated database: its generation is lower than the generation recorded outside
    /// it. Either the file was restored from a backup, or its WAL was lost.
    private mutating func takeOverGeneration(_ pool: any DatabaseWriter) throws {
        guard let known = knownGeneration, try pool.read({ try StoreRow($0).generation }) < known else { return }
        try pool.write { db in
            try StoreRow.update(db) { $0.generation = known }
            try StoreRow.noteLoss(db, through: .max)
        }
        report.lostDonations = true
        report.hasRepaired = true
        report.findings.append("The database is older than the list of jobs; later changes are lost.")
    }

    private func keepFindings(_ pool: any DatabaseWriter) throws {
        guard !report.findings.isEmpty else { return }
        let moment = now()
        let findings = report.findings.prefix(Self.maximumFindings)
        try pool.write { db in
            try db.execute(sql: "DELETE FROM recovery")
            for finding in findings {
                try db.execute(
                    sql: "INSERT INTO recovery (moment, finding) VALUES (?, ?)",
                    arguments: [moment, String(finding.prefix(Self.maximumFindingCharacters))])
            }
        }
    }
}
