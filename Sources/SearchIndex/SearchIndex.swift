// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import WriteAheadLog
import Foundation
import GRDB
import Synchronization
import SystemSupport
import UserSearch

/// What an index found when it was opened.
public struct RecoveryReport: Hashable, Sendable, Codable {
    /// What was wrong and what was done about it, a sentence each. Bytes that were never acknowledged are among it.
    public var findings: [String] = []
    /// Whether donations that had been acknowledged are gone; the generation has grown, and apps have to donate again.
    public var lostDonations = false
    /// The generation after that; it grows whenever donations were lost. 0 in a store that is only read.
    public var generation = 0
    /// Whether there was no store before.
    public var isNew = false

    /// Nothing was wrong.
    public init() {}
}

/// The store of one user: what apps donated, and what finds it again.
///
/// Donations are durable once they are in the log; from there they are applied to the database in the background,
/// in bulk. What this object reads includes all that was durable when it was asked, unless ``ReadPatience/current`` says
/// otherwise.
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
    /// The present by which items expire.
    let clock: StoreClock
    /// What logs and applies donations; `nil` in a store that is only read.
    let applier: LogApplier?
    /// What was wrong with the store when it was opened, and what was lost by it.
    public let recovery: RecoveryReport
    /// Whether the tables that searches need were there when it was opened to be read: a first opening that found no room, or an older program, leaves
    /// some to be made by whoever changes the store next. Until then, searches fail.
    public let isComplete: Bool
    /// How many reports of apps are counted (``countEngagement(withItem:of:text:kind:)``).
    let allowance = Mutex(EngagementAllowance())
    /// Closes the database, once.
    let closing = Mutex<Task<Void, Never>?>(nil)
    var isClosed: Bool { closing.withLock { $0 != nil } }

    /// How long an item without an expiration date is kept: Apple's "one month", taken as 30 days, in seconds.
    public static let standardLifetime = 30.0 * 86400

    /// The size of the database's pages in bytes.
    private static let pageSize = 8192
    /// How much of the database the writer may keep in memory, in KiB.
    package static let writerCacheKiB = 32 << 10
    private static let readerCacheKiB = 8 << 10

    var folder: StoreFolder { StoreFolder(path: directory) }

    /// Whether a store is opened to be changed.
    public enum Access: Sendable {
        /// Creates, upgrades or mends the store if need be. One process at a time may have this.
        case readWrite
        /// Changes nothing; the store must exist.
        case readOnly
    }

    /// Opens the store in a folder.
    ///
    /// - Parameters:
    ///   - directory: Created with mode 0700 if it does not exist and `access` is `readWrite`. A relative path is one from the
    ///     working folder.
    ///   - access: Whether the store may be changed.
    ///   - knownGeneration: The last generation that was written down outside of the store, so that one which was lost is
    ///     not begun anew as if nothing had been there; `nil` if none was.
    ///   - now: The present, in seconds since 2001-01-01 UTC.
    ///   - bootClock: Tells when the present was set rather than passed, so that items do not expire by a clock that was
    ///     wrong by years. Without one, `now` is believed whatever it says.
    public convenience init(
        directory: String, access: Access, knownGeneration: Int? = nil,
        now: @escaping @Sendable () -> Double = { Date().timeIntervalSinceReferenceDate }, bootClock: BootClock? = nil
    ) throws(SearchIndexError) {
        var seams = StoreSeams()
        seams.bootClock = bootClock
        try self.init(directory: directory, access: access, knownGeneration: knownGeneration, now: now, seams: seams)
    }

    /// Opens the store in a folder, on layers of the caller's.
    package init(
        directory: String, access: Access, knownGeneration: Int? = nil, now: @escaping @Sendable () -> Double,
        seams: StoreSeams
    ) throws(SearchIndexError) {
        // The folder is made and judged from the root on.
        let directory = directory.hasPrefix("/") ? directory : URL(filePath: directory).standardizedFileURL.path
        self.directory = directory
        self.now = now
        let folder = StoreFolder(path: directory)
        RegularFilesOnly.begin()
        do {
            switch access {
            case .readWrite:
                var opening = StoreOpening(folder: folder, knownGeneration: knownGeneration, now: now, seams: seams)
                let opened = try opening.open()
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
                access == .readWrite
                ? "Opening the index" : "Reading the index, which takes small files written beside it,"
            throw SearchIndexError(error, path: directory, operation: operation)
        }
    }

    /// Gives back the pages of the database that are kept in memory, once nobody uses them, and returns at once.
    public func releaseMemory() { pool.releaseMemoryEventually() }

    /// How every connection to a store is made.
    static func configuration(isReadOnly: Bool, _ seams: StoreSeams = StoreSeams()) -> Configuration {
        var configuration = Configuration()
        configuration.label = "com.searchlight.index"
        configuration.busyMode = .timeout(10)
        configuration.readonly = isReadOnly
        configuration.prepareDatabase { db in
            // Only a new file takes these; to set the second anew would write to an old one. Records fill pages of this size
            // better than SQLite's 4 KiB, and pages that become free can be given back a few at a time.
            if !isReadOnly, !db.configuration.readonly, (try? Int.fetchOne(db, sql: "PRAGMA page_count")) == 0 {
                try db.execute(sql: "PRAGMA page_size = \(Self.pageSize); PRAGMA auto_vacuum = INCREMENTAL")
            }
            // SQLite's 2 MiB hold too few of the pages that one search reads and the next one reads again.
            try db.execute(sql: "PRAGMA cache_size = -\(Self.readerCacheKiB)")
            try FullTextIndex.prepare(db)
            try RecordCompression.prepare(db)
        }
        if let prepare = seams.prepareDatabase { configuration.prepareDatabase(prepare) }
        return configuration
    }

    private static func openForReading(
        _ folder: StoreFolder, _ seams: StoreSeams
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

    /// Returns when everything that was durable before can be found.
    public func settle() async throws(SearchIndexError) { try await applier?.settle() }

    /// Items that were durable and could not be indexed since the store was opened, and why: updates that made an item
    /// exceed a limit. What was there before is still there.
    public var rejectedItems: [SearchIndexError] { applier?.leftOut.all ?? [] }

    /// What was left out of one scope since a mark; see ``Rejections``. Of what is not applied yet nothing is known.
    public func rejections(in scope: IndexScope, after mark: Rejections.Mark?) -> Rejections {
        applier?.leftOut.report(scope, after: mark) ?? Rejections()
    }

    /// Grows whenever donations were lost, so that an app can tell. What was donated and is not applied yet is not waited for.
    public func generation() async throws(SearchIndexError) -> Int {
        try await readApplied("Reading the generation") { try StoreRow($0).generation }
    }

    /// Changes the database itself, past the log, once everything donated before is applied: for upkeep that need
    /// not be repeated after a crash, or that is durable by itself.
    func write<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SearchIndexError) -> Value {
        try await settle()
        return try await writeAtOnce(operation, body)
    }

    /// The same, without waiting for what was donated before.
    func writeAtOnce<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SearchIndexError) -> Value {
        guard let applier else { throw .readOnly(path: directory, operation: operation) }
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { [pool] in
                continuation.resume(returning: Result { try applier.mending { try pool.write(body) } })
            }
        }
        do { return try result.get() } catch { throw failure(error, operation) }
    }

    /// Waits as the current task's ``ReadPatience`` says. What cannot be applied for want of room or permission is not
    /// waited for: it is applied when that is repaired, which is no reason to find nothing until then.
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

    /// What is durable and cannot be found yet. Nothing in a store that is only read, which knows only what was applied;
    /// see ``waitingEntries()``.
    public var pending: PendingDonations { applier?.pending ?? PendingDonations() }

    /// The processor time that writing the index took since it was opened, in seconds: applying donations, merging segments and
    /// tidying. Searches do not count. 0 for an index that is only read. Any thread; never less than before.
    public var writingTime: Double { applier?.writingTime ?? 0 }

    /// Reads, with all that was durable before; where nothing can be written, with all that was applied until then.
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

    /// Reads; what has waited for a connection until the store was closed does not begin, or closing would wait for it.
    func readUnlessClosed<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await pool.read { [self] db in
            guard !isClosed else { throw SearchIndexError.closed }
            return try body(db)
        }
    }

    /// Names an error; damage is marked too, so that it is mended when the store is opened to be changed the next time.
    func failure(_ error: any Error, _ operation: String) -> SearchIndexError {
        // Given up for the end, or too late.
        if isClosed, let code = (error as? DatabaseError)?.resultCode,
            code == .SQLITE_INTERRUPT || code == .SQLITE_MISUSE
        {
            return .closed
        }
        let named = SearchIndexError(error, path: directory, operation: operation)
        if named.isDamage || UnwritableStore.isDoubtful(error, at: directory) { folder.suspect() }
        return named
    }
}
