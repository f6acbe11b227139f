// SPDX-License-Identifier: Apache-2.0
import GRDB
import Glibc
import Synchronization
import SystemSupport

/// The files of each owner as it knows them, and how the disk differs, in a database of its own.
///
/// An owner knows a file once it has acknowledged the change that named it. So what was not acknowledged is found again,
/// whoever was killed in between.
///
/// Any thread. Comparisons of one tree wait for each other, and hold the database only to note what they have read from the disk: a file
/// system that does not answer holds up nobody else. Only one process may compare; others may read. What is damaged is made
/// again, then everything differs.
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
    /// The file; `nil` after it was found damaged and could not be made again.
    private let opened: Mutex<DatabaseQueue?>
    private let path: String
    private let excluded: [String]
    private let conditions: SnapshotConditions
    /// What was set last, for a file that is made again.
    private let rules = Mutex<[WatchedTree]>([])
    /// How often the file was made again, and who is woken then.
    private let losses = Mutex(Losses())
    /// One for each tree, held while that is compared: a file system that does not answer holds up no other tree.
    private let comparing = Mutex<[Int64: ComparisonLock]>([:])
    private let gathering = Mutex(Gathering())

    private static let version: Int64 = 4
    /// How long another process may have the snapshot locked, in seconds.
    static let patience = 10.0
    /// How many changes one transaction acknowledges.
    private static let acknowledgedAtOnce = 1024

    private struct Losses {
        var count = 0
        var wakes: OwnedDescriptor?
    }

    private final class ComparisonLock: Sendable {
        let mutex = Mutex(())
    }

    /// Comparisons that are in progress.
    private struct Gathering {
        var count = 0
        /// Those who wait until there are none.
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastWaiting: UInt64 = 0
        /// The last difference before they began.
        var serial: Int64 = 0
        var begun = ContinuousClock.now

        /// How long changes wait for their counterparts.
        static let patience = Duration.seconds(30)
    }

    /// Opens a snapshot; makes one where there is none, and a new one where it cannot be read.
    ///
    /// - Parameters:
    ///   - path: A file in a folder of the user's own.
    ///   - excluded: Folders that are passed over wherever they are below a root, as that of the index: what is written there
    ///     because of a change would be a change. The folder of the snapshot is one of them.
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
            // What is damaged tells nothing, so everything differs. What is only locked, or finds no room, is another's.
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
        // For the user alone from its first byte on; SQLite gives its other files the same rights.
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
                // Numbers of an earlier file mean nothing in this one.
                let first = conditions.now() / 1_000_000_000 << 20
                for table in ["difference", "folder", "tree"] {
                    try db.execute(
                        sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", arguments: [table, first])
                }
                try db.execute(sql: "PRAGMA user_version = \(version)")
            default: throw DatabaseError(resultCode: .SQLITE_MISMATCH, message: "it is of another version")
            }
        }
        return queue
    }

    private static let schema = String(decoding: PackageResources.snapshot_sql, as: UTF8.self)

    // MARK: Transactions

    /// Carries out one transaction.
    ///
    /// - Parameter isDurable: Whether it outlives a loss of power. Others may be undone by one, as a whole.
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

    /// Makes the file again after it was found damaged.
    private func startAgain(after damaged: DatabaseQueue?) -> FileWatchingError {
        let failure = opened.withLock { queue -> FileWatchingError? in
            // Another call was first.
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

    /// How often the file was made again since it was opened.
    var lossCount: Int { losses.withLock { $0.count } }

    /// Has an event descriptor signalled each time the file was made again.
    func signalLosses(to descriptor: OwnedDescriptor) { losses.withLock { $0.wakes = descriptor } }

    // MARK: Trees

    /// Says what is watched from now on. What is known of a tree that is not watched any more goes to those of the same owner
    /// that cover its paths (``TreeSuccession``); other files of it become removed ones, even if their disk is away: the user
    /// wants them no longer.
    ///
    /// - Returns: The trees that took something over, which are to be compared as new ones are.
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

    /// Notes what folders held that are gone.
    ///
    /// - Returns: Whether anything differs from before.
    private func removeGoing() throws(FileWatchingError) -> Bool {
        var hasNews = false
        while true {
            let step = try once { try FolderRemoval.step($0) }
            hasNews = hasNews || step.hasNews
            guard step.goesOn else { return hasNews }
        }
    }

    /// The trees that are watched.
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

    /// Compares a tree with the disk, from its root on.
    ///
    /// - Returns: What was met.
    /// - Throws: ``FileWatchingError``; what was noted before stays.
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

    /// Compares some names of a folder with the disk, and all below those that are folders and others than before.
    ///
    /// - Parameters:
    ///   - names: `nil` for all.
    ///   - folder: The number under which an observer knows it.
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

    /// Reads what is known, walks, and notes what was seen batch by batch.
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
                        // The snapshot is waited for now.
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
            // It may have been dropped meanwhile.
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

    /// The most mounts in a tree that are known.
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

    /// How many files are compared to see whether a folder holds what is known.
    private static let maximumSamples = 64

    /// Some files below a folder, by their path from there.
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

    /// Carries out comparisons that belong together: until they are over, files that went or came are not handed out, since
    /// they may be parts of moves. No longer than 30 seconds.
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

    /// Returns once no comparison is in progress, or after a time: then ``changes(of:limit:)`` may have something to tell.
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

    /// How many files each owner has not dealt with.
    ///
    /// - Parameter last: Only changes count that were noticed after the one with this number.
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

    /// The changes that were noticed first.
    ///
    /// Files are reported as moved where one file went and one came that are the same. The list may be empty, and is to be
    /// acknowledged then too. What is handed out is noted on the disk first: if a change is undone before it is acknowledged,
    /// that is a change, even after a loss of power.
    ///
    /// - Parameters:
    ///   - last: Only changes count that were noticed after the one with this number.
    ///   - limit: The most changes.
    package func changes(of owner: String, after last: Int64 = 0, limit: Int) throws(FileWatchingError) -> NextChanges {
        let settled = gathering.withLock { gathering in
            gathering.count > 0 && .now - gathering.begun < Gathering.patience ? gathering.serial : nil
        }
        return try once(isDurable: true) { db in
            var reader = ChangeReader(db)
            // Nothing moves as long as no file is known.
            let hasFiles = try settled != nil && Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM file)") ?? true
            let changes = try reader.read(owner, after: last, limit: limit, settled: hasFiles ? settled : nil)
            let told = try db.cachedStatement(sql: "UPDATE difference SET is_told = 1 WHERE serial = ? AND NOT is_told")
            for serial in changes.serials { try told.execute(arguments: [serial]) }
            if !changes.serials.isEmpty { return .changes(changes) }
            let isWithheld = try settled != nil && reader.hasAny(owner, after: last)
            return isWithheld ? .withheld : .nothing
        }
    }

    /// Notes that the owner has dealt with changes. What changed again since they were handed out stays pending.
    package func acknowledge(_ changes: FileChanges) throws(FileWatchingError) {
        var rest = changes.serials[...]
        while !rest.isEmpty {
            let serials = rest.prefix(Self.acknowledgedAtOnce)
            rest = rest.dropFirst(serials.count)
            try once { db in try Self.acknowledge(serials, db) }
        }
    }

    /// Notes that an owner is about to be asked for everything, however it does that. Until the request is acknowledged,
    /// the owner may have seen any file: what it may have seen and is gone by then is reported as removed. The note
    /// survives the end of the process; the last request counts.
    ///
    /// ```swift
    /// let request = try snapshot.beginEverything(of: "org.example.notes")
    /// // … the owner donates all it has …
    /// try snapshot.acknowledge(request)
    /// ```
    package func beginEverything(of owner: String) throws(FileWatchingError) -> EverythingRequest {
        try once(isDurable: true) { db in
            try db.execute(sql: "INSERT OR IGNORE INTO owner (name) VALUES (?)", arguments: [owner])
            // A number of its own, so that no other request has it.
            try db.execute(sql: "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'difference'")
            let serial = try Self.lastSerial(db)
            try db.execute(sql: "UPDATE owner SET everything = ? WHERE name = ?", arguments: [serial, owner])
            return EverythingRequest(owner: owner, serial: serial)
        }
    }

    /// The request for everything that was begun last and not acknowledged, perhaps by another process; `nil` if there is none.
    package func request(of owner: String) throws(FileWatchingError) -> EverythingRequest? {
        try once { db in
            try Int64.fetchOne(db, sql: "SELECT everything FROM owner WHERE name = ?", arguments: [owner])
                .map { EverythingRequest(owner: owner, serial: $0) }
        }
    }

    /// Notes that an owner has dealt with a request for everything: it knows every file that was there when the request
    /// began and still is. Files that went stay pending. Does nothing if another request has begun.
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
                        // The owner may have seen it.
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

    /// The numbers of the folders that are there.
    func presentFolders() throws(FileWatchingError) -> Set<Int64> {
        try once { db in try Int64.fetchSet(db, sql: "SELECT id FROM folder WHERE state = 0") }
    }

    /// The tree of a folder.
    func tree(of folder: Int64) throws(FileWatchingError) -> Int64? {
        try once { db in try self.treeNumber(of: folder, db) }
    }
}

/// The clock, how exact times of files are, and how much is read.
struct SnapshotConditions: Sendable {
    /// Nanoseconds since 1970.
    var now: @Sendable () -> Int64
    /// Nanoseconds in which two changes of a file may have one time.
    var granularity: @Sendable (FileSystemKind) -> Int64
    /// The most entries of a tree.
    var maximumEntries = WatchedTree.Limit.entries

    /// Those of the system.
    static let system = SnapshotConditions {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    } granularity: {
        $0.granularity(isExact: ExactTimes.areKept)
    }
}

/// A tree in a snapshot.
package struct StoredTree: Hashable, Sendable {
    /// Its number.
    let id: Int64
    /// The number of its owner.
    let ownerNumber: Int64
    /// The tree.
    package let rule: WatchedTree
    /// Where the root was; `nil` if it was never compared.
    let place: KnownPlace?
}
