// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import GRDB
import SystemSupport

/// Opens a store to be changed, and mends what is found wrong with it at the right depth:
///
///     examine folder ── no store ──> make one
///          │
///        attempt:  open, upgrade ──> read the store's row ──> [marked: check all, mend rows] ──> rebuild what is derived
///          │         and not current ──> open the log ──> apply its backlog ──> forget what was applied
///          │
///          └─ damage anywhere ──> salvage into a new database ──> attempt, once more
///
/// The store is used by nobody else meanwhile; who opens it sees to that.
struct StoreOpening {
    let folder: StoreFolder
    /// The last generation that was written down outside of the database; `nil` if none was.
    let knownGeneration: Int?
    let now: @Sendable () -> Double
    /// What the store stands on.
    let seams: StoreSeams

    private var report = RecoveryReport()
    private var hasSalvaged = false
    /// The generation before any attempt: a loss that the first one noted, before it met damage, is one of this opening.
    private var generationBefore: Int?

    /// What an opened store consists of.
    struct Opened {
        var pool: DatabasePool
        var applier: LogApplier
        var report: RecoveryReport
    }

    /// The most findings that are kept for the status, and the longest, in characters.
    private static let maximumFindings = 100
    private static let maximumFindingCharacters = 1000

    init(
        folder: StoreFolder, knownGeneration: Int?, now: @escaping @Sendable () -> Double, seams: StoreSeams
    ) {
        self.seams = seams
        self.folder = folder
        self.knownGeneration = knownGeneration
        self.now = now
    }

    /// Opens the store.
    ///
    /// - Throws: Errors of the layers below; damage only if a new database does not help either.
    mutating func open() throws -> Opened {
        try OwnFolder.open(folder.path, creating: true)
        try folder.check()
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

    private static let beyondTheEnd = "a page number that no database has"

    private func describe(_ error: any Error) -> String {
        switch error {
        case SearchIndexError.damaged(_, let detail): detail
        case SearchIndexError.full: Self.beyondTheEnd
        case let error as DatabaseError where error.resultCode == .SQLITE_FULL: Self.beyondTheEnd
        case let error as DatabaseError: error.message ?? "\(error.resultCode)"
        default: "a value of the wrong type"
        }
    }

    /// Whether a new database may help. All statements are this program's, so that whatever SQLite says of them speaks of
    /// the file, but for what the machine lacks.
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
        // A header that asks for a later SQLite makes the file one that can only be read.
        case .SQLITE_READONLY:
            return access(folder.database, W_OK) == 0 && access(folder.path, W_OK) == 0
        case .SQLITE_FULL: return isBeyondTheEnd
        default: return false
        }
    }

    /// Whether SQLite finds no room for want of a page that no database has, rather than on the device: there is some, and its
    /// own check, for which no more is needed, finds something.
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
        let result = try Salvage(folder: folder, knownGeneration: knownGeneration, now: now()).run(because: reason)
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
        // WAL alone is only safe against crashes of the process; an acknowledged item must survive those of power. GRDB
        // sets NORMAL when the pool is made, so this must come after.
        // The larger cache saves a quarter of the time of applying in bulk, measured over 100,000 items.
        // They are the files that were looked at, or new ones of the same kind.
        try folder.check()
        try pool.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -\(SearchIndex.writerCacheKiB)")
            // Where SQLite was built to leave what is deleted in its pages, it overwrites what costs no page of its own.
            if try Int.fetchOne($0, sql: "PRAGMA secure_delete") == 0 {
                try $0.execute(sql: "PRAGMA secure_delete = FAST")
            }
        }
        return pool
    }

    private mutating func use(_ pool: DatabasePool) throws -> Opened {
        try pool.read { try Schema.refuseNewer($0, path: folder.path) }
        try Schema.migrator.migrate(pool)
        let generation = try generationBefore ?? pool.read { try StoreRow($0).generation }
        generationBefore = generation
        try takeOverGeneration(pool)
        if folder.isSuspect {
            let isNew = hasSalvaged
            report.findings += try pool.write { try DatabaseExamination($0).mend($0, through: .max, isNew: isNew) }
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
            seams: seams)
        do {
            let loses =
                log.lackedNote
                || log.findings.contains { finding in
                    finding.lostEntries(after: row.applied).map { !early.covers($0) } ?? false
                }
            try pool.write { db in
                if loses { try StoreRow.noteLoss(db, through: log.lastSequence) }
                // Client states that are older than a loss must not come back with the backlog.
                try StoreRow.update(db) {
                    $0.statelessThrough = min($0.statelessThrough, max(log.lastSequence, $0.applied))
                }
            }
            try applier.applyBacklog()
            try applier.forgetApplied()
            report.findings += log.findings.map(\.description) + applier.repairs
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

    /// A database that knows less than what was written down outside of it is an older one: it was put back, or its log
    /// was lost.
    private mutating func takeOverGeneration(_ pool: DatabasePool) throws {
        guard let known = knownGeneration, try pool.read({ try StoreRow($0).generation }) < known else { return }
        try pool.write { db in
            try StoreRow.update(db) { $0.generation = known }
            try StoreRow.noteLoss(db, through: .max)
        }
        report.lostDonations = true
        report.findings.append("The database is older than the list of jobs; what came between is lost.")
    }

    private func keepFindings(_ pool: DatabasePool) throws {
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
