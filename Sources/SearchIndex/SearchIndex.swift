// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Glibc
import ServiceProtocol

/// Whose items are meant: everything is kept apart by bundle and by index.
public struct IndexScope: Hashable, Sendable {
    /// The bundle identifier of the app.
    public var bundle: String
    /// The name of the index; `nil` is the default one.
    public var index: String?

    /// Creates a scope.
    public init(bundle: String, index: String? = nil) {
        self.bundle = bundle
        self.index = index
    }
}

/// What an index found when it was opened.
public struct RecoveryReport: Hashable, Sendable {
    /// What was wrong with the journal's files, a sentence each. Bytes that were never acknowledged are among it.
    public var findings: [String] = []
    /// Whether donations that had been acknowledged are gone; the generation has grown, and apps have to donate again.
    public var lostDonations = false
    /// The generation after that; it grows whenever donations were lost. 0 in a store that is only read.
    public var generation = 0
}

/// The store of one user: what apps donated, and what finds it again.
///
/// Donations are durable once they are in the journal; from there they are applied to the database in the background,
/// in bulk. What this object reads includes all that was durable when it was asked.
///
/// May be used from any task; writes happen one after the other, reads at the same time as they. It knows nothing of
/// extensions or of other processes: who may write is decided above. A writable one must be closed.
public final class SearchIndex: Sendable {
    /// The folder that holds the store.
    public let directory: String
    let pool: DatabasePool
    /// Held while a store is read beside which nothing can be written.
    private let sharedLock: OwnedDescriptor?
    /// The present, in seconds since 2001-01-01 UTC.
    let now: @Sendable () -> Double
    /// What journals and applies donations; `nil` in a store that is only read.
    let applier: JournalApplier?
    /// What was wrong with the store when it was opened, and what was lost by it.
    public let recovery: RecoveryReport

    /// How long an item without an expiration date is kept: Apple's "one month", taken as 30 days, in seconds.
    public static let standardLifetime = 30.0 * 86400

    private static let fileName = "index.sqlite"
    /// The size of the database's pages in bytes.
    private static let pageSize = 8192
    /// How much of the database the writer may keep in memory, in KiB.
    package static let writerCacheKiB = 32 << 10

    /// Whether a store is opened to be changed.
    public enum Access: Sendable {
        /// Creates or upgrades the store if need be. One process at a time may have this.
        case readWrite
        /// Changes nothing; the store must exist.
        case readOnly
    }

    /// Opens the store in a folder.
    ///
    /// - Parameters:
    ///   - directory: Created with mode 0700 if it does not exist and `access` is `readWrite`.
    ///   - access: Whether the store may be changed.
    ///   - now: The present, in seconds since 2001-01-01 UTC.
    /// - Throws: ``SearchIndexError``.
    public convenience init(
        directory: String, access: Access,
        now: @escaping @Sendable () -> Double = { Date().timeIntervalSinceReferenceDate }
    ) throws(SearchIndexError) {
        try self.init(directory: directory, access: access, now: now, seams: StoreSeams())
    }

    /// Opens the store in a folder, on layers of the caller's.
    package init(
        directory: String, access: Access, now: @escaping @Sendable () -> Double, seams: StoreSeams
    ) throws(SearchIndexError) {
        self.directory = directory
        self.now = now
        let path = directory + "/" + Self.fileName
        var configuration = Configuration()
        configuration.label = "com.searchlight.index"
        configuration.busyMode = .timeout(10)
        configuration.readonly = access == .readOnly
        configuration.prepareDatabase { db in
            // Only a new file takes it. Records fill pages of this size better than SQLite's 4 KiB.
            if access == .readWrite { try db.execute(sql: "PRAGMA page_size = \(Self.pageSize)") }
            try FullTextIndex.prepare(db)
        }
        if let prepare = seams.prepareDatabase { configuration.prepareDatabase(prepare) }
        if access == .readOnly, !FileManager.default.fileExists(atPath: path) { throw .noStore(path: directory) }
        do {
            if access == .readWrite {
                try FileManager.default.createDirectory(
                    atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                Self.createFile(path)
            }
            (pool, sharedLock) =
                access == .readOnly
                ? try UnwritableStore.open(path, in: directory, configuration: configuration)
                : (try DatabasePool(path: path, configuration: configuration), nil)
            if access == .readWrite {
                // WAL alone is only safe against crashes of the process; an acknowledged item must survive those of
                // power. GRDB sets NORMAL when the pool is made, so this must come after.
                // The larger cache saves a quarter of the time of applying in bulk, measured over 100,000 items.
                try pool.writeWithoutTransaction {
                    try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -\(Self.writerCacheKiB)")
                }
            }
            let isNewer = try pool.read { try Schema.migrator.hasBeenSuperseded($0) }
            guard !isNewer else { throw SearchIndexError.newerFormat(path: directory) }
            if access == .readWrite {
                try Schema.migrator.migrate(pool)
            } else if try pool.read({ try !Schema.migrator.hasCompletedMigrations($0) }) {
                throw SearchIndexError.noStore(path: directory)
            }
            guard access == .readWrite else {
                applier = nil
                recovery = RecoveryReport()
                return
            }
            (applier, recovery) = try Self.openJournal(of: pool, directory: directory, now: now, seams: seams)
        } catch let error as JournalError {
            throw SearchIndexError(error, path: directory, operation: "Opening the journal")
        } catch {
            let operation =
                access == .readWrite
                ? "Opening the index" : "Reading the index, which takes small files written beside it,"
            throw SearchIndexError(error, path: directory, operation: operation)
        }
    }

    /// Opens the journal and applies what the database does not have yet.
    private static func openJournal(
        of pool: DatabasePool, directory: String, now: @escaping @Sendable () -> Double, seams: StoreSeams
    ) throws -> (JournalApplier, RecoveryReport) {
        let stored = try pool.read { db in
            try Row.fetchOne(db, sql: "SELECT identifier, applied FROM store").map { row in
                (
                    try row.decode(Data.self, forColumn: "identifier"),
                    UInt64(clamping: try row.decode(Int64.self, forColumn: "applied"))
                )
            }
        }
        guard let (bytes, applied) = stored, let identifier = JournalStoreIdentifier(bytes: Array(bytes)) else {
            throw SearchIndexError.damaged(path: directory, detail: "its identifier is missing")
        }
        let journal = try Journal(
            folder: directory + "/journal", store: identifier, applied: applied, files: seams.journalFiles,
            configuration: seams.journal)
        let lost = journal.findings.contains { $0.lostEntries(after: applied) != nil }
        if lost { try pool.write { try $0.execute(sql: "UPDATE store SET generation = generation + 1") } }
        let applier = JournalApplier(pool: pool, journal: journal, applied: applied, path: directory, now: now)
        let generation: Int
        do {
            try applier.applyBacklog()
            generation = try pool.read { try Int.fetchOne($0, sql: "SELECT generation FROM store") ?? 0 }
        } catch {
            applier.abandon()
            throw error
        }
        let report = RecoveryReport(
            findings: journal.findings.map(\.description), lostDonations: lost || applier.hasLostEntries,
            generation: generation)
        return (applier, report)
    }

    /// Applies what is left and closes the journal. Nothing may be donated afterwards.
    ///
    /// - Throws: ``SearchIndexError``; then what is left is applied when the store is opened the next time.
    public func close() async throws(SearchIndexError) { try await applier?.close() }

    /// Lets the store go at once, without applying what is left: that is done when it is opened the next time. Blocks for
    /// as long as a write to the journal takes. For whoever opened the store and cannot go on.
    public func abandon() { applier?.abandon() }

    /// Returns when everything that was durable before can be found.
    ///
    /// - Throws: ``SearchIndexError``.
    public func settle() async throws(SearchIndexError) { try await applier?.settle() }

    /// Items that were durable and could not be indexed since the store was opened, and why: updates that made an item
    /// exceed a limit. What was there before is still there.
    public var rejectedItems: [SearchIndexError] { applier?.rejected ?? [] }

    /// Grows whenever donations were lost, so that an app can tell.
    ///
    /// - Throws: ``SearchIndexError``.
    public func generation() async throws(SearchIndexError) -> Int {
        try await read("Reading the generation") { try Int.fetchOne($0, sql: "SELECT generation FROM store") ?? 0 }
    }

    /// Makes an empty file that only its owner can read, whatever the folder's mode; SQLite gives its other files the
    /// same. An existing file is not even opened: closing it would drop the locks that this process has on it.
    private static func createFile(_ path: String) {
        let number = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        // Why it could not be made, SQLite will say.
        if number >= 0 { Glibc.close(number) }
    }

    /// Changes the database itself, past the journal, once everything donated before is applied: for upkeep that need
    /// not be repeated after a crash, or that is durable by itself.
    func write<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SearchIndexError) -> Value {
        try await settle()
        do {
            return try await pool.write(body)
        } catch {
            throw SearchIndexError(error, path: directory, operation: operation)
        }
    }

    /// Returns when everything that was durable before can be found, or cannot be for want of room or permission: it is
    /// applied when that is mended, which is no reason to find nothing until then.
    func settleForReading() async throws(SearchIndexError) {
        do { try await settle() } catch .full, .readOnly {}
    }

    /// Reads, with all that was durable before; where nothing can be written, with all that was applied until then.
    func read<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SearchIndexError) -> Value {
        try await settleForReading()
        return try await readApplied(operation, body)
    }

    /// Reads what has been applied.
    func readApplied<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SearchIndexError) -> Value {
        do {
            return try await pool.read(body)
        } catch {
            throw SearchIndexError(error, path: directory, operation: operation)
        }
    }
}
