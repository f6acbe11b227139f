// SPDX-License-Identifier: Apache-2.0
import GRDB
import Glibc
import Synchronization
import SystemSupport

/// A database of the files that each owner knows, and of their differences from the disk.
///
/// An owner knows a file once it has acknowledged the change that named it. If any process crashes,
/// changes that were not acknowledged are found again.
///
/// May be used from any thread. Comparisons of the same tree wait for each other. They use the
/// database only to store what they have read, so a file system that does not answer does not block
/// other trees. Only one process may compare; other processes may read. A damaged database is
/// created again, and every file then differs.
///
/// ```swift
/// let snapshot = try FileSnapshot(path: "/home/ada/.local/share/searchlight/files.sqlite")
/// try snapshot.setTrees([WatchedTree(owner: "org.example.notes", root: "/home/ada/Notes")])
/// for tree in try snapshot.trees() { try snapshot.compare(tree) }
/// while case .changes(let changes) = try snapshot.changes(of: "org.example.notes", limit: 256) {
///     // … the owner deals with them …
///     try snapshot.acknowledge(changes)
/// }
/// ```
package final class FileSnapshot: Sendable {
    /// The database; `nil` if it was damaged and could not be created again.
    private let opened: Mutex<DatabaseQueue?>
    private let path: String
    private let excluded: [String]
    private let conditions: SnapshotConditions
    /// The trees that were set last. They are stored again if the database is created again.
    private let rules = Mutex<[WatchedTree]>([])
    /// The number of times the database was created again, and the event descriptor that is
    /// signalled when this happens.
    private let losses = Mutex(Losses())
    /// One lock per tree, held during its comparison. A file system that does not answer does not
    /// block other trees.
    private let comparing = Mutex<[Int64: ComparisonLock]>([:])
    private let gathering = Mutex(Gathering())

    private static let version: Int64 = 4
    /// The maximum time that another process may hold the database lock, in seconds.
    static let patience = 10.0
    /// The number of changes that one transaction acknowledges.
    private static let acknowledgedAtOnce = 1024

    private struct Losses {
        var count = 0
        var wakes: OwnedDescriptor?
    }

    private final class ComparisonLock: Sendable {
        let mutex = Mutex(())
    }

    /// The comparisons that are in progress.
    private struct Gathering {
        var count = 0
        /// Tasks that are waiting until no comparison is in progress.
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastWaiting: UInt64 = 0
        /// The serial number of the last difference before the comparisons began.
        var serial: Int64 = 0
        var begun = ContinuousClock.now

        /// The maximum time that a change waits for the other half of a move.
        static let patience = Duration.seconds(30)
    }

    /// Opens a snapshot. Creates it if it does not exist or is unreadable.
    ///
    /// - Parameters:
    ///   - path: A file in a folder that belongs to the user.
    ///   - excluded: Folders that are skipped wherever they are below a root, such as the folder of
    ///     the index, where handling a change would cause another change. The folder of the
    ///     snapshot is always excluded.
    /// - Throws: ``FileWatchingError/snapshot(path:reason:)``.
    package convenience init(path: String, excluding excluded: [String] = []) throws(FileWatchingError) {
        try self.init(path: path, excluding: excluded, conditions: .system)
    }

    init(
        path: String, excluding excluded: [String], conditions: SnapshotConditions,
        patience: Double = FileSnapshot.patience
    ) throws(FileWatchingError) {
        self.path = path
        self.conditions = conditions
        self.excluded = excluded + [path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."]
        let queue: DatabaseQueue
        do {
            queue = try Self.open(path, conditions, patience)
        } catch let first {
            // A damaged database is deleted, so that every file differs. A database that is locked
            // or has no space is kept.
            guard let code = (first as? DatabaseError)?.resultCode,
                [.SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_MISMATCH, .SQLITE_ERROR].contains(code)
            else { throw .snapshot(path: path, reason: "\(first)") }
            do { queue = try Self.openAgain(path, conditions) } catch {
                throw .snapshot(path: path, reason: "\(error)")
            }
        }
        opened = Mutex(queue)
    }

    private static func openAgain(_ path: String, _ conditions: SnapshotConditions) throws -> DatabaseQueue {
        for name in ["", "-wal", "-shm", "-journal"] { unlink(path + name) }
        return try open(path, conditions, patience)
    }

    private static func open(_ path: String, _ conditions: SnapshotConditions, _ patience: Double) throws
        -> DatabaseQueue
    {
        // The file is private before anything is written to it. SQLite gives its other files the
        // same mode.
        let file = try OwnFile.open(path, O_RDWR | O_CREAT)
        fchmod(file.number, 0o600)
        var configuration = Configuration()
        configuration.label = "files"
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(patience)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -1024; PRAGMA temp_store = MEMORY")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            switch try Int64.fetchOne(db, sql: "PRAGMA user_version") {
            case version: try db.execute(sql: "SELECT serial FROM difference LIMIT 1")
            case 0:
                try db.execute(sql: schema)
                // Row numbers start at a value derived from the creation time, so that they never
                // match numbers of an earlier database.
                let first = conditions.now() / 1_000_000_000 << 20
                for table in ["difference", "folder", "tree"] {
                    try db.execute(
                        sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", arguments: [table, first])
                }
                try db.execute(sql: "PRAGMA user_version = \(version)")
            default:
                throw DatabaseError(
                    resultCode: .SQLITE_MISMATCH, message: "a different version of Searchlight wrote it")
            }
        }
        return queue
    }

    private static let schema = String(decoding: PackageResources.snapshot_sql, as: UTF8.self)

    // MARK: Transactions

    /// Runs one transaction.
    ///
    /// - Parameter isDurable: `true` if the transaction must survive a power failure (`PRAGMA
    ///   synchronous = FULL`). A power failure may undo other transactions, each as a whole.
    func once<Value>(
        isDurable: Bool = false, _ body: (Database) throws -> Value
    ) throws(FileWatchingError) -> Value {
        guard let queue = opened.withLock({ $0 }) else { throw startAgain(after: nil) }
        do {
            return try queue.writeWithoutTransaction { db in
                if isDurable { try db.execute(sql: "PRAGMA synchronous = FULL") }
                defer { if isDurable { try? db.execute(sql: "PRAGMA synchronous = NORMAL") } }
                var value: Value?
                try db.inTransaction(.immediate) {
                    value = try body(db)
                    return .commit
                }
                guard let value else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
                return value
            }
        } catch let error as FileWatchingError {
            throw error
        } catch {
            switch (error as? DatabaseError)?.resultCode {
            case .SQLITE_CORRUPT?, .SQLITE_NOTADB?: throw startAgain(after: queue)
            default: throw .snapshot(path: path, reason: "\(error)")
            }
        }
    }

    /// Creates the database again after it was found damaged.
    private func startAgain(after damaged: DatabaseQueue?) -> FileWatchingError {
        let failure = opened.withLock { queue -> FileWatchingError? in
            // Another call has created it already.
            guard queue === damaged else { return nil }
            try? damaged?.close()
            queue = nil
            do {
                queue = try Self.openAgain(path, conditions)
                return nil
            } catch {
                return .snapshot(path: path, reason: "\(error)")
            }
        }
        if let failure { return failure }
        let wakes = losses.withLock { losses -> OwnedDescriptor? in
            losses.count += 1
            return losses.wakes
        }
        wakes?.signalEvent()
        do throws(FileWatchingError) { _ = try store(rules.withLock { $0 }) } catch { return error }
        return .snapshotLost(path: path)
    }

    /// The number of times the database was created again since it was opened.
    var lossCount: Int { losses.withLock { $0.count } }

    /// Sets the event descriptor that is signalled each time the database is created again.
    func signalLosses(to descriptor: OwnedDescriptor) { losses.withLock { $0.wakes = descriptor } }

    // MARK: Trees

    /// Sets the trees that are watched.
    ///
    /// The stored files of a dropped tree move to trees of the same owner that cover their paths
    /// (``TreeSuccession``). The other files of a dropped tree are treated as removed, even if
    /// their file system is unmounted, because the user no longer wants them.
    ///
    /// - Returns: The trees that took over files. They must be compared like new trees.
    @discardableResult
    package func setTrees(_ trees: [WatchedTree]) throws(FileWatchingError) -> Set<Int64> {
        rules.withLock { $0 = trees }
        let takers = try store(trees)
        _ = try removeGoing()
        return takers
    }

    private func store(_ trees: [WatchedTree]) throws(FileWatchingError) -> Set<Int64> {
        let wanted = WatchedTree.withoutNested(trees)
        let (takers, stored) = try once { db in
            for tree in try Self.storedTrees(db) where !wanted.contains(tree.rule) {
                try db.execute(sql: "UPDATE tree SET is_dropped = 1 WHERE id = ?", arguments: [tree.id])
            }
            var takers: Set<Int64> = []
            for tree in try Self.storedTrees(db, areDropped: true) where wanted.contains(tree.rule) {
                try db.execute(sql: "UPDATE tree SET is_dropped = 0 WHERE id = ?", arguments: [tree.id])
                try TreeSuccession.revive(tree, db)
                takers.insert(tree.id)
            }
            for rule in wanted.sorted(by: { $0.order.lexicographicallyPrecedes($1.order) }) {
                try db.execute(sql: "INSERT OR IGNORE INTO owner (name) VALUES (?)", arguments: [rule.owner])
                try db.execute(
                    sql: "INSERT OR IGNORE INTO tree (owner, root, names) SELECT id, ?, ? FROM owner WHERE name = ?",
                    arguments: [rule.root, rule.names.map { $0 + "/" }.joined(), rule.owner])
            }
            let heirs = try Self.storedTrees(db)
            for tree in try Self.storedTrees(db, areDropped: true) {
                var succession = try TreeSuccession(
                    db, of: tree, heirs: heirs.filter { $0.ownerNumber == tree.ownerNumber })
                try succession.run()
                takers.formUnion(succession.takers)
            }
            try db.execute(
                sql: """
                    DELETE FROM tree WHERE is_dropped AND NOT EXISTS (SELECT 1 FROM folder WHERE folder.tree = tree.id)
                    """)
            return (takers, Set(heirs.map(\.id)))
        }
        comparing.withLock { $0 = $0.filter { stored.contains($0.key) } }
        return takers
    }

    /// Records the files of removed folders as removed.
    ///
    /// - Returns: `true` if a difference was written.
    private func removeGoing() throws(FileWatchingError) -> Bool {
        var hasNews = false
        while true {
            let step = try once { try FolderRemoval.step($0) }
            hasNews = hasNews || step.hasNews
            guard step.goesOn else { return hasNews }
        }
    }

    /// Returns the trees that are watched.
    package func trees() throws(FileWatchingError) -> [StoredTree] { try once { try Self.storedTrees($0) } }

    private static func storedTrees(
        _ db: Database, _ which: Int64? = nil, areDropped: Bool = false
    ) throws -> [StoredTree] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT tree.id, owner.name, root, names, file_system, mount_point, owner.id
                FROM tree JOIN owner ON owner.id = owner
                WHERE is_dropped = ? AND tree.id = coalesce(?, tree.id) ORDER BY tree.id
                """,
            arguments: [areDropped, which]
        ).map { row in
            let names = try row.text(3).utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
            let identity = try row.text(orNil: 4)
            let mountPoint = try row.text(orNil: 5) ?? "/"
            return StoredTree(
                id: try row.number(0), ownerNumber: try row.number(6),
                rule: WatchedTree(owner: try row.text(1), root: try row.text(2), names: names),
                place: identity.map { KnownPlace(identity: $0, mountPoint: mountPoint) })
        }
    }

    // MARK: Comparing

    /// Compares a whole tree with the disk.
    ///
    /// - Returns: A report of the comparison.
    /// - Throws: ``FileWatchingError``. Batches that were stored before the error are kept.
    @discardableResult
    package func compare(_ tree: StoredTree) throws(FileWatchingError) -> TreeReport {
        try compare(tree, observer: nil)
    }

    func compare(
        _ tree: StoredTree, observer: (any FolderObserver)?, _ pulse: ComparisonPulse? = nil
    ) throws(FileWatchingError) -> TreeReport {
        try compare(tree.id, observer, pulse) { db in
            try Self.storedTrees(db, tree.id).first.map { try self.knowledge(of: $0, db) }
        } begin: { walk throws(FileWatchingError) in
            try walk.begin()
        }
    }

    /// Compares some names of a folder, and the content of changed subfolders among them, with the
    /// disk.
    ///
    /// - Parameters:
    ///   - names: The names; `nil` for all.
    ///   - folder: The row number of the folder, as the observer received it.
    func compare(
        _ names: Set<EntryName>?, of folder: Int64, observer: (any FolderObserver)?, _ pulse: ComparisonPulse? = nil
    ) throws(FileWatchingError) -> TreeReport {
        guard let number = try tree(of: folder) else { return TreeReport() }
        var way = ComparisonWalk.Way(folder: folder, names: [])
        var known: [EntryName: FolderRow] = [:]
        return try compare(number, observer, pulse) { db in
            guard let tree = try self.treeNumber(of: folder, db), tree == number,
                let stored = try Self.storedTrees(db, tree).first, let steps = try FolderPaths.steps(to: folder, db)
            else { return nil }
            way.names = steps.names
            if let names {
                for name in names { known[name] = try FolderRow.child(name, of: folder, tree: tree, db) }
            } else {
                known = try FolderRow.children(of: folder, db)
            }
            return try self.knowledge(of: stored, db)
        } begin: { walk throws(FileWatchingError) in
            walk.begin(names, at: way, known: known)
        }
    }

    /// Reads the stored state, walks through the tree, and stores the results batch by batch.
    private func compare(
        _ tree: Int64, _ observer: (any FolderObserver)?, _ pulse: ComparisonPulse?,
        knowledge: (Database) throws -> ComparisonWalk.Knowledge?,
        begin: (inout ComparisonWalk) throws(FileWatchingError) -> Void
    ) throws(FileWatchingError) -> TreeReport {
        let lock = comparing.withLock { locks in
            let lock = locks[tree] ?? ComparisonLock()
            locks[tree] = lock
            return lock
        }
        return try lock.mutex.withLock { _ throws(FileWatchingError) in
            try gather { () throws(FileWatchingError) in
                pulse?.pause()
                guard let knowledge = try once(knowledge) else { return TreeReport() }
                let reader = FileReader(rule: knowledge.tree.rule, conditions, pulse)
                var walk = ComparisonWalk(knowledge, excluding: excluded, reader: reader, observer: observer)
                var children: [Int64: [EntryName: FolderRow]] = [:]
                do throws(FileWatchingError) {
                    pulse?.beat()
                    try begin(&walk)
                    var goesOn = true
                    while goesOn {
                        goesOn = try walk.go()
                        // The next step waits for the database, not for the file system.
                        pulse?.pause()
                        try note(&walk, knowledge.tree, &children)
                        pulse?.beat()
                    }
                } catch {
                    walk.didNote(walk.batch.map { _ in nil })
                    throw error
                }
                pulse?.pause()
                if try removeGoing() { walk.report.hasNews = true }
                return walk.report
            }
        }
    }

    private func note(
        _ walk: inout ComparisonWalk, _ tree: StoredTree, _ children: inout [Int64: [EntryName: FolderRow]]
    ) throws(FileWatchingError) {
        let (batch, place, isRootRemoved) = (walk.batch, walk.newPlace, walk.isRootRemoved)
        guard !batch.isEmpty || isRootRemoved else { return }
        var known = children
        let (folders, report) = try once { db in
            // The tree may have been dropped since the walk began.
            guard try !Self.storedTrees(db, tree.id).isEmpty else {
                return (batch.map { _ in Int64?.none }, TreeReport())
            }
            var writer = try ComparisonWriter(db, tree)
            if isRootRemoved { try writer.removeRoot() }
            if let place { try writer.setPlace(place) }
            return (try writer.note(batch, &known), writer.report)
        }
        walk.didNote(folders)
        walk.report.add(report)
        let open = walk.openFolders
        children = known.filter { open.contains($0.key) }
    }

    private func treeNumber(of folder: Int64, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(db, sql: "SELECT tree FROM folder WHERE id = ?", arguments: [folder])
    }

    /// The maximum number of known mount points in a tree.
    private static let maximumMounts = 1024

    private func knowledge(of tree: StoredTree, _ db: Database) throws -> ComparisonWalk.Knowledge {
        let hasFiles = try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM folder CROSS JOIN file ON folder = folder.id WHERE tree = ?)",
            arguments: [tree.id])
        var mounts: [EntryName: (folder: Int64, identity: String)] = [:]
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT id, file_system FROM folder WHERE tree = ? AND file_system IS NOT NULL AND state = 0
                LIMIT \(Self.maximumMounts)
                """, arguments: [tree.id])
        for row in rows {
            let folder = try row.number(0)
            guard let steps = try FolderPaths.steps(to: folder, db) else { continue }
            let path = steps.names.map(\.text).joined(separator: "/")
            mounts[EntryName(path)] = (folder, try row.text(1))
        }
        return ComparisonWalk.Knowledge(tree: tree, hasFiles: hasFiles ?? true, mounts: mounts) {
            folder throws(FileWatchingError) in
            try self.once { try Self.samples(below: folder, of: tree, $0) }
        }
    }

    /// The number of known files that are checked to recognize a folder.
    private static let maximumSamples = 64

    /// Returns some known files below a folder, by path from there.
    private static func samples(below folder: Int64, of tree: StoredTree, _ db: Database) throws -> [KnownSample] {
        let top = folder == 0 ? try FolderRow.child("", of: 0, tree: tree.id, db)?.id : folder
        guard let top else { return [] }
        return try Row.fetchAll(
            db,
            sql: """
                WITH RECURSIVE below (id, path) AS (
                    SELECT ?, ''
                    UNION ALL SELECT folder.id, path || folder.name || '/' FROM below JOIN folder ON parent = below.id
                    WHERE state = 0 LIMIT 1000
                )
                SELECT path || name, size, modified FROM below JOIN file ON folder = below.id LIMIT \(maximumSamples)
                """, arguments: [top]
        ).map { KnownSample(path: try $0.text(0), size: try $0.number(1), modified: try $0.number(2)) }
    }

    // MARK: Counterparts

    /// Runs comparisons that belong together.
    ///
    /// Until they end, added and removed files are withheld for at most 30 seconds, because they
    /// may be halves of moves.
    func gather<Value>(
        _ body: () throws(FileWatchingError) -> Value
    ) throws(FileWatchingError) -> Value {
        let serial = try once { try Self.lastSerial($0) }
        gathering.withLock { gathering in
            if gathering.count == 0 { (gathering.serial, gathering.begun) = (serial, .now) }
            gathering.count += 1
        }
        defer {
            let ready = gathering.withLock { gathering in
                gathering.count -= 1
                guard gathering.count == 0 else { return [CheckedContinuation<Void, Never>]() }
                defer { gathering.waiting = [:] }
                return Array(gathering.waiting.values)
            }
            for one in ready { one.resume() }
        }
        return try body()
    }

    /// Returns when no comparison is in progress, or after `time`. Afterwards,
    /// ``changes(of:after:limit:)`` may return more changes.
    package func waitForComparisons(atMost time: Duration) async {
        let number = gathering.withLock { gathering in
            gathering.lastWaiting += 1
            return gathering.lastWaiting
        }
        var timer: Task<Void, Never>?
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isOver = gathering.withLock { gathering in
                guard gathering.count > 0 else { return true }
                gathering.waiting[number] = continuation
                return false
            }
            if isOver { return continuation.resume() }
            timer = Task { [weak self] in
                guard (try? await Task.sleep(for: time)) != nil else { return }
                self?.gathering.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
            }
        }
        timer?.cancel()
    }

    private static func lastSerial(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'difference'") ?? 0
    }

    // MARK: Changes

    /// Returns the number of pending files of each owner.
    ///
    /// - Parameter last: The serial number after which changes are considered.
    package func pending(after last: Int64 = 0) throws(FileWatchingError) -> [String: PendingChanges] {
        try once { db in
            var pending: [String: PendingChanges] = [:]
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT owner.name, max(sum(is_present), sum(1 - is_present)), sum(min(size, 16 << 20) * is_present), max(serial) FROM difference
                    JOIN owner ON owner.id = owner WHERE serial > ? GROUP BY owner
                    """, arguments: [last])
            for row in rows {
                pending[try row.text(0)] = PendingChanges(
                    count: Int(clamping: try row.number(1)), bytes: try row.number(2), last: try row.number(3))
            }
            return pending
        }
    }

    /// Returns the earliest pending changes of an owner.
    ///
    /// A removed file and an added file are reported as one move if they are the same file. Even if
    /// the list is empty, acknowledge it. The transaction is durable before this method returns, so
    /// undoing a change before it is acknowledged is a new change, even after a power failure.
    ///
    /// - Parameters:
    ///   - last: The serial number after which changes are considered.
    ///   - limit: The maximum number of changes.
    package func changes(of owner: String, after last: Int64 = 0, limit: Int) throws(FileWatchingError) -> NextChanges {
        let settled = gathering.withLock { gathering in
            gathering.count > 0 && .now - gathering.begun < Gathering.patience ? gathering.serial : nil
        }
        return try once(isDurable: true) { db in
            var reader = ChangeReader(db)
            // If no file is known, nothing can have moved.
            let hasFiles = try settled != nil && Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM file)") ?? true
            let changes = try reader.read(owner, after: last, limit: limit, settled: hasFiles ? settled : nil)
            let told = try db.cachedStatement(sql: "UPDATE difference SET is_told = 1 WHERE serial = ? AND NOT is_told")
            for serial in changes.serials { try told.execute(arguments: [serial]) }
            if !changes.serials.isEmpty { return .changes(changes) }
            let isWithheld = try settled != nil && reader.hasAny(owner, after: last)
            return isWithheld ? .withheld : .nothing
        }
    }

    /// Records that the owner has handled changes. A file that has changed again since stays
    /// pending.
    package func acknowledge(_ changes: FileChanges) throws(FileWatchingError) {
        var rest = changes.serials[...]
        while !rest.isEmpty {
            let serials = rest.prefix(Self.acknowledgedAtOnce)
            rest = rest.dropFirst(serials.count)
            try once { db in try Self.acknowledge(serials, db) }
        }
    }

    /// Records that an owner is about to be asked for everything, by any kind of call.
    ///
    /// Until the request is acknowledged, the owner may have read any file. A file that it may have
    /// read, and that is gone by then, is reported as removed. The record survives an exit of the
    /// process. A later request replaces an earlier one.
    ///
    /// ```swift
    /// let request = try snapshot.beginEverything(of: "org.example.notes")
    /// // … the owner donates all it has …
    /// try snapshot.acknowledge(request)
    /// ```
    package func beginEverything(of owner: String) throws(FileWatchingError) -> EverythingRequest {
        try once(isDurable: true) { db in
            try db.execute(sql: "INSERT OR IGNORE INTO owner (name) VALUES (?)", arguments: [owner])
            // Each request gets its own serial number.
            try db.execute(sql: "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'difference'")
            let serial = try Self.lastSerial(db)
            try db.execute(sql: "UPDATE owner SET everything = ? WHERE name = ?", arguments: [serial, owner])
            return EverythingRequest(owner: owner, serial: serial)
        }
    }

    /// Returns the last request for everything that is not acknowledged, possibly made by another
    /// process; `nil` if there is none.
    package func request(of owner: String) throws(FileWatchingError) -> EverythingRequest? {
        try once { db in
            try Int64.fetchOne(db, sql: "SELECT everything FROM owner WHERE name = ?", arguments: [owner])
                .map { EverythingRequest(owner: owner, serial: $0) }
        }
    }

    /// Records that an owner has handled a request for everything.
    ///
    /// The owner now knows every file that existed when the request began and still exists. Removed
    /// files stay pending. Does nothing if a later request has begun.
    package func acknowledge(_ request: EverythingRequest) throws(FileWatchingError) {
        var last: Int64 = -1
        while true {
            let goesOn = try once { db in
                let owner = try Int64.fetchOne(
                    db, sql: "SELECT id FROM owner WHERE name = ? AND everything = ?",
                    arguments: [request.owner, request.serial])
                guard let owner else { return false }
                let rows = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT serial, is_present FROM difference WHERE owner = ? AND serial > ?
                        ORDER BY serial LIMIT \(Self.acknowledgedAtOnce)
                        """, arguments: [owner, last])
                let told = try db.cachedStatement(
                    sql: "UPDATE difference SET is_told = 1 WHERE serial = ? AND NOT is_told")
                var known: [Int64] = []
                for row in rows {
                    last = try row.number(0)
                    if last <= request.serial, try row.isTrue(1) {
                        known.append(last)
                    } else {
                        // The owner may have read this state.
                        try told.execute(arguments: [last])
                    }
                }
                try Self.acknowledge(known[...], db)
                if rows.isEmpty {
                    try db.execute(sql: "UPDATE owner SET everything = NULL WHERE id = ?", arguments: [owner])
                }
                return !rows.isEmpty
            }
            guard goesOn else { return }
        }
    }

    private static func acknowledge(_ serials: ArraySlice<Int64>, _ db: Database) throws {
        let find = try db.cachedStatement(sql: "SELECT folder, name, is_present FROM difference WHERE serial = ?")
        let keep = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO file (folder, name, \(FileState.columns))
                SELECT folder, name, \(FileState.columns) FROM difference WHERE serial = ?
                """)
        let remove = try db.cachedStatement(sql: "DELETE FROM file WHERE folder = ? AND name = ?")
        let settle = try db.cachedStatement(sql: "DELETE FROM difference WHERE serial = ?")
        var folders: Set<Int64> = []
        for serial in serials {
            guard let row = try Row.fetchOne(find, arguments: [serial]) else { continue }
            let folder = try row.number(0)
            if try row.isTrue(2) {
                try keep.execute(arguments: [serial])
            } else {
                try remove.execute(arguments: [folder, try row.text(1)])
                folders.insert(folder)
            }
            try settle.execute(arguments: [serial])
        }
        for folder in folders { try FolderRemoval.purge(folder, db) }
    }

    // MARK: Folders

    /// Returns the row numbers of the folders that exist.
    func presentFolders() throws(FileWatchingError) -> Set<Int64> {
        try once { db in try Int64.fetchSet(db, sql: "SELECT id FROM folder WHERE state = 0") }
    }

    /// Returns the number of the tree that holds a folder.
    func tree(of folder: Int64) throws(FileWatchingError) -> Int64? {
        try once { db in try self.treeNumber(of: folder, db) }
    }
}

/// The clock, the timestamp granularity of file systems, and the entry limit.
struct SnapshotConditions: Sendable {
    /// Returns the time in nanoseconds since 1970.
    var now: @Sendable () -> Int64
    /// Returns the interval, in nanoseconds, within which two changes to a file may get the same
    /// time.
    var granularity: @Sendable (FileSystemKind) -> Int64
    /// The maximum number of entries in a tree.
    var maximumEntries = WatchedTree.Limit.entries

    /// The system's clock and limits.
    static let system = SnapshotConditions {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    } granularity: {
        $0.granularity(isExact: ExactTimes.areKept)
    }
}

/// A watched tree as stored in the snapshot.
package struct StoredTree: Hashable, Sendable {
    /// The row number.
    let id: Int64
    /// The row number of the owner.
    let ownerNumber: Int64
    /// The root and the name patterns.
    package let rule: WatchedTree
    /// The file system of the root at the last comparison; `nil` if the tree has never been
    /// compared.
    let place: KnownPlace?
}
