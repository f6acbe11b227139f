// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import WriteAheadLog
import Foundation
import GRDB
import Synchronization
import SystemSupport
import UserSearch

/// The result of the checks made when an index is opened.
public struct RecoveryReport: Hashable, Sendable, Codable {
    /// The problems and their repairs, one sentence each. Includes log bytes that were never
    /// acknowledged.
    public var findings: [String] = []
    /// `true` if acknowledged donations were lost. The generation was incremented, and apps have to
    /// donate again.
    public var lostDonations = false
    /// `true` if damaged data was repaired or replaced.
    public var hasRepaired = false
    /// `true` if a repair was refused because it might lose items that no extension can donate
    /// again.
    public var wasRefused = false
    /// The generation after the store was opened. It is incremented with each loss of donations. 0
    /// if the store was opened read-only.
    public var generation = 0
    /// `true` if there was no store before.
    public var isNew = false

    /// Creates a report without findings.
    public init() {}
}

/// The store of one user: the donated items, and the tables for searching them.
/// A donation is durable once it is in the write-ahead log. A background queue applies logged
/// donations to the database in bulk. Reads include everything that was durable when they began,
/// unless ``ReadPatience/current`` specifies otherwise.
///
/// May be used from any task. Writes are serial; reads run concurrently with each other and with
/// writes. This type does not know about extensions or other processes: its owner controls write
/// access. A writable index must be closed.
public final class SearchIndex: Sendable {
    /// The folder that holds the store.
    public let directory: String
    let pool: any DatabaseWriter
    /// The range of numbers that items of this index can have.
    let numbers: Range<Int64>
    /// The shared lock of a store that is read where nothing can be written (``UnwritableStore``);
    /// held while the store is open.
    private let sharedLock: OwnedDescriptor?
    /// Returns the current wall-clock time, in seconds since 2001-01-01 UTC.
    let now: @Sendable () -> Double
    /// The clock used to decide which items have expired.
    let clock: StoreClock
    /// Logs and applies donations; `nil` if the store was opened read-only.
    let applier: LogApplier?
    /// The problems found when the store was opened, and the losses they caused.
    public let recovery: RecoveryReport
    /// `true` if, when the store was opened read-only, all tables that searches need existed.
    /// Tables are missing if the first opening ran out of disk space, or in a store from an older
    /// program. The next opening for writing creates them; until then, searches fail.
    public let isComplete: Bool
    /// Limits the engagement reports of each app (``countEngagement(withItem:of:text:kind:)``).
    let allowance = Mutex(EngagementAllowance())
    /// The embeddings in memory; empty until a search uses them.
    let embeddings = EmbeddingCache()
    /// The task that closes the database, started once.
    let closing = Mutex<Task<Void, Never>?>(nil)
    var isClosed: Bool { closing.withLock { $0 != nil } }

    /// The lifetime of an item without an expiration date, in seconds: Apple's "one month",
    /// interpreted as 30 days.
    public static let standardLifetime = 30.0 * 86400

    /// The size of the database's pages in bytes.
    private static let pageSize = 8192
    /// The cache size of the writing connection, in KiB.
    package static let writerCacheKiB = 32 << 10
    private static let readerCacheKiB = 8 << 10

    var folder: StoreFolder { StoreFolder(path: directory) }

    /// The access with which a store is opened.
    public enum Access: Sendable {
        /// Creates, upgrades or repairs the store if necessary. Only one process at a time may have
        /// this access.
        case readWrite
        /// Changes nothing; the store must exist.
        case readOnly
        /// Creates an index in memory, without files (``init(inMemoryWith:bootClock:)``).
        case inMemory
    }

    /// The first item number of an index in memory. No store on disk reaches it.
    static let firstNumberInMemory: Int64 = 1 << 40
    /// The folder of an index in memory: a path that cannot exist.
    private static let noDirectory = "/dev/null/memory"

    /// Opens the store in a folder.
    ///
    /// - Parameters:
    ///   - directory: The path of the folder, absolute or relative to the working directory. It is
    ///     created with mode 0700 if it does not exist and `access` is `readWrite`.
    ///   - access: The access to the store.
    ///   - knownGeneration: The last generation recorded outside the store; `nil` if there is none.
    ///     A lost store then continues after this generation instead of starting over.
    ///   - now: Returns the wall-clock time, in seconds since 2001-01-01 UTC.
    ///   - bootClock: Distinguishes setting the wall clock from the passage of time, so that items
    ///     do not expire because of a wrong clock. Without a boot clock, `now` is always trusted.
    public convenience init(
        directory: String, access: Access, knownGeneration: Int? = nil,
        now: @escaping @Sendable () -> Double = { Date().timeIntervalSinceReferenceDate }, bootClock: BootClock? = nil
    ) throws(SearchIndexError) {
        var seams = StoreHooks()
        seams.bootClock = bootClock
        try self.init(directory: directory, access: access, knownGeneration: knownGeneration, now: now, seams: seams)
    }

    /// Opens the store in a folder with the caller's test hooks.
    ///
    /// - Parameter lossRule: Decides whether damage is repaired at the cost of items. If the repair
    ///   is not allowed, opening the store changes nothing and throws
    ///   ``SearchIndexError/losingRepair(path:detail:bundles:)``.
    package init(
        directory: String, access: Access, knownGeneration: Int? = nil, now: @escaping @Sendable () -> Double,
        seams: StoreHooks, lossRule: LossRule = .acceptsLosses, image: IndexImage? = nil
    ) throws(SearchIndexError) {
        // The folder is created and checked component by component from the root.
        let directory = directory.hasPrefix("/") ? directory : URL(filePath: directory).standardizedFileURL.path
        self.directory = directory
        self.now = now
        numbers = access == .inMemory ? Self.firstNumberInMemory..<Int64.max : 0..<Self.firstNumberInMemory
        let folder = StoreFolder(path: directory)
        RegularFilesOnly.begin()
        do {
            switch access {
            case .readWrite:
                var opening = StoreOpening(
                    folder: folder, knownGeneration: knownGeneration, lossRule: lossRule, now: now,
                    seams: seams)
                let opened = try opening.open()
                (pool, applier, recovery, sharedLock) = (opened.pool, opened.applier, opened.report, nil)
                isComplete = true
                clock = opened.applier.clock
            case .inMemory:
                var opening = StoreOpening(
                    folder: folder, knownGeneration: nil, lossRule: lossRule, now: now, seams: seams)
                let opened = try opening.openInMemory(
                    firstNumber: Self.firstNumberInMemory + .random(in: 0..<1 << 50), image: image)
                (pool, applier, recovery, sharedLock) = (opened.pool, opened.applier, opened.report, nil)
                isComplete = true
                clock = opened.applier.clock
            case .readOnly:
                (pool, sharedLock) = try Self.openForReading(folder, seams)
                (applier, recovery) = (nil, RecoveryReport())
                clock = StoreClock(wall: now, boot: seams.bootClock)
                isComplete = try pool.read { [clock] db in
                    try clock.begin(db)
                    return try DerivedIndex.searched.allSatisfy { try $0.isCurrent(db) }
                }
            }
        } catch let error as LogError {
            throw SearchIndexError(error, path: directory, operation: "Opening the write-ahead log")
        } catch {
            let operation =
                access != .readOnly
                ? "Opening the index" : "Reading the index, which needs to write small files beside it,"
            throw SearchIndexError(error, path: directory, operation: operation)
        }
    }

    /// Creates an index in memory, empty or from an image. Nothing in it is written to a file, and
    /// it is lost when the process exits. Its item numbers differ from the numbers in any store on
    /// disk and begin at a random number, so that a number does not refer to an item of a later
    /// index in memory.
    ///
    /// - Parameters:
    ///   - now: See ``init(directory:access:knownGeneration:now:bootClock:)``.
    ///   - bootClock: See ``init(directory:access:knownGeneration:now:bootClock:)``.
    ///   - image: The image. Its memory belongs to the index afterwards.
    package convenience init(
        inMemoryWith now: @escaping @Sendable () -> Double, bootClock: BootClock? = nil, image: IndexImage? = nil
    ) throws(SearchIndexError) {
        var seams = StoreHooks()
        seams.bootClock = bootClock
        seams.logFiles = MemoryLogFiles()
        seams.relatesWithinIndexes = true
        try self.init(directory: Self.noDirectory, access: .inMemory, now: now, seams: seams, image: image)
    }

    /// Releases the cached pages of each connection once it is idle. Returns immediately.
    public func releaseMemory() { (pool as? DatabasePool)?.releaseMemoryEventually() }

    /// Returns the configuration of every connection to a store.
    static func configuration(isReadOnly: Bool, _ seams: StoreHooks = StoreHooks()) -> Configuration {
        var configuration = Configuration()
        configuration.label = "com.searchlight.index"
        configuration.busyMode = .timeout(10)
        configuration.readonly = isReadOnly
        configuration.prepareDatabase { db in
            // These settings only take effect in a new file; setting auto_vacuum again would write
            // to an old file. Records fill pages of this size better than SQLite's 4 KiB pages, and
            // incremental vacuum returns free pages a few at a time.
            if !isReadOnly, !db.configuration.readonly, (try? Int.fetchOne(db, sql: "PRAGMA page_count")) == 0 {
                try db.execute(sql: "PRAGMA page_size = \(Self.pageSize); PRAGMA auto_vacuum = INCREMENTAL")
            }
            // SQLite's default of 2 MiB holds too few of the pages that consecutive searches share.
            try db.execute(sql: "PRAGMA cache_size = -\(Self.readerCacheKiB)")
            try FullTextIndex.prepare(db)
            try RecordCompression.prepare(db)
        }
        if let prepare = seams.prepareDatabase { configuration.prepareDatabase(prepare) }
        return configuration
    }

    private static func openForReading(
        _ folder: StoreFolder, _ seams: StoreHooks
    ) throws -> (DatabasePool, OwnedDescriptor?) {
        guard try OwnFolder.open(folder.path, creating: false) != nil, try OwnFile.check(folder.database) else {
            throw SearchIndexError.noStore(path: folder.path)
        }
        try folder.check()
        let (pool, lock) = try UnwritableStore.open(
            folder.database, in: folder.path, configuration: configuration(isReadOnly: true, seams))
        try pool.read { db in
            try Schema.refuseNewer(db, path: folder.path)
            guard try Schema.canBeRead(db) else {
                throw SearchIndexError.noStore(path: folder.path)
            }
        }
        return (pool, lock)
    }

    /// Returns when everything that was durable before the call is searchable.
    public func settle() async throws(SearchIndexError) { try await applier?.settle() }

    /// The items that were durable but could not be indexed, since the store was opened. They are
    /// updates that would have made an item exceed a limit; the previous version of the item
    /// remains.
    public var rejectedItems: [SearchIndexError] { applier?.leftOut.all ?? [] }

    /// Returns the items of one scope that were left out after a mark; see ``Rejections``. Does not
    /// cover entries that are not applied yet.
    public func rejections(in scope: IndexScope, after mark: Rejections.Mark?) -> Rejections {
        applier?.leftOut.report(scope, after: mark) ?? Rejections()
    }

    /// Returns the generation, which is incremented whenever donations are lost, so that an app can
    /// detect a loss. Does not wait for pending donations.
    public func generation() async throws(SearchIndexError) -> Int {
        try await readApplied("Reading the generation") { try StoreRow($0).generation }
    }

    /// Changes the database directly, without the write-ahead log, once all earlier donations are
    /// applied. For maintenance that is durable by itself, or need not be repeated after a crash.
    func write<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SearchIndexError) -> Value {
        try await settle()
        return try await writeAtOnce(operation, body)
    }

    /// Changes the database directly, without waiting until earlier donations are applied.
    func writeAtOnce<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SearchIndexError) -> Value {
        guard let applier else { throw .readOnly(path: directory, operation: operation) }
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { [pool] in
                continuation.resume(returning: Result { try applier.repairing { try pool.write(body) } })
            }
        }
        do { return try result.get() } catch { throw failure(error, operation) }
    }

    /// Waits according to the current task's ``ReadPatience``. Does not wait for entries that
    /// cannot be applied because of missing disk space or permissions. They are applied once that
    /// is resolved; until then, searches return the other results.
    func settleForReading() async throws(SearchIndexError) {
        guard let applier else { return }
        do throws(SearchIndexError) {
            switch ReadPatience.current {
            case .everything: try await applier.settle(isReading: true)
            case .own(let bundle): try await applier.settle(own: bundle)
            case .moment: try await applier.settleForAMoment()
            }
        } catch .full, .readOnly {}
    }

    /// The donations that are durable but not searchable yet. Always empty in a store opened
    /// read-only, which knows only applied donations; see ``waitingEntries()``.
    public var pending: PendingDonations { applier?.pending ?? PendingDonations() }

    /// Returns the pending donations that may add to the results of a read; `nil` if there are
    /// none.
    ///
    /// - Parameter bundle: The only bundle whose items are read; `nil` for all.
    func pending(of bundle: String?) -> PendingDonations? {
        guard let bundle else { return pending.nonEmpty }
        return applier?.pending(of: bundle).nonEmpty
    }

    /// The processor time spent on writing the index since it was opened, in seconds: applying
    /// donations, merging segments and background maintenance, but not searches. 0 for an index
    /// opened read-only. The value never decreases and can be read from any thread.
    public var writingTime: Double { applier?.writingTime ?? 0 }

    /// Reads the database including everything that was durable before the call. If the store
    /// cannot be written, reads what is applied so far.
    func read<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SearchIndexError) -> Value {
        try await settleForReading()
        return try await readApplied(operation, body)
    }

    func readApplied<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SearchIndexError) -> Value {
        do {
            return try await readUnlessClosed(body)
        } catch {
            throw failure(error, operation)
        }
    }

    /// Reads the database unless it is closed. A read that is still waiting for a connection when
    /// the store closes fails, because closing would otherwise wait for it.
    func readUnlessClosed<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        // A queue's `read` begins with a transaction, which crashes on a closed connection. Its one
        // connection needs no transaction for a consistent read.
        guard let queue = pool as? DatabaseQueue else {
            return try await pool.read { [self] db in
                guard !isClosed else { throw SearchIndexError.closed }
                return try body(db)
            }
        }
        return try await queue.unsafeRead { [self] db in
            guard !isClosed else { throw SearchIndexError.closed }
            return try db.readOnly { try body(db) }
        }
    }

    /// Converts an error to a ``SearchIndexError``. Marks damage, so that it is repaired when the
    /// store is next opened for writing.
    func failure(_ error: any Error, _ operation: String) -> SearchIndexError {
        // The read was interrupted by closing, or started after it.
        let code = (error as? DatabaseError)?.resultCode
        let isTableFault = SearchIndexError.isTableFault(error)
        if isClosed, isTableFault || code == .SQLITE_INTERRUPT || code == .SQLITE_MISUSE { return .closed }
        // Table damage will be found again by a read that is not cancelled.
        if SearchIndexError.isFromCancellation(error) {
            return .storage(path: directory, operation: operation, detail: "the read was cancelled")
        }
        let named = SearchIndexError(error, path: directory, operation: operation)
        if named.isDamage || UnwritableStore.isDoubtful(error, at: directory) { folder.suspect() }
        return named
    }
}
