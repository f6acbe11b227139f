// SPDX-License-Identifier: Apache-2.0
import GRDB
import Glibc
import SystemSupport

/// The files of each owner as it knows them, and how the disk differs, in a database of its own.
///
/// An owner knows a file once it has acknowledged the change that named it. So what was not acknowledged is found again,
/// whoever was killed in between. Any thread; calls wait for each other.
///
/// ```swift
/// let snapshot = try FileSnapshot(path: "/home/ada/.local/share/searchlight/files.sqlite")
/// try snapshot.setTrees([WatchedTree(owner: "org.example.notes", root: "/home/ada/Notes")])
/// for tree in try snapshot.trees() { try snapshot.compare(tree) }
/// if let changes = try snapshot.changes(of: "org.example.notes", limit: 256) {
///     // … the owner deals with them …
///     try snapshot.acknowledge(changes)
/// }
/// ```
package final class FileSnapshot: Sendable {
    private let queue: DatabaseQueue
    private let path: String
    private let excluded: [String]

    private static let version = 2
    /// How long another process may have the snapshot locked, in seconds.
    private static let patience = 10.0

    /// Opens a snapshot; makes one where there is none, and a new one where it cannot be read.
    ///
    /// - Parameters:
    ///   - path: A file in a folder of the user's own.
    ///   - excluded: Folders that are passed over wherever they are below a root, as that of the index: what is written there
    ///     because of a change would be a change. The folder of the snapshot is one of them.
    /// - Throws: ``FileWatchingError/snapshot(path:reason:)``.
    package init(path: String, excluding excluded: [String] = []) throws(FileWatchingError) {
        self.path = path
        self.excluded = excluded + [path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."]
        do {
            queue = try Self.open(path)
        } catch let first {
            // What is damaged tells nothing, so everything differs. What is only locked, or finds no room, is another's.
            guard let code = (first as? DatabaseError)?.resultCode,
                [.SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_MISMATCH, .SQLITE_ERROR].contains(code)
            else { throw .snapshot(path: path, reason: "\(first)") }
            for name in ["", "-wal", "-shm", "-journal"] { unlink(path + name) }
            do { queue = try Self.open(path) } catch {
                throw .snapshot(path: path, reason: "\(error)")
            }
        }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "files"
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(patience)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -1024; PRAGMA temp_store = MEMORY")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            switch try Int.fetchOne(db, sql: "PRAGMA user_version") {
            case version: try db.execute(sql: "SELECT serial FROM difference LIMIT 1")
            case 0:
                try db.execute(sql: schema)
                try db.execute(sql: "PRAGMA user_version = \(version)")
            default: throw DatabaseError(resultCode: .SQLITE_MISMATCH, message: "it is of another version")
            }
        }
        chmod(path, 0o600)
        return queue
    }

    private static let schema = String(decoding: PackageResources.snapshot_sql, as: UTF8.self)

    /// Carries out steps, each a transaction, until one says that it was the last.
    private func steps(_ step: (Database) throws -> Bool) throws(FileWatchingError) {
        do {
            while try queue.write({ try step($0) }) {}
        } catch let error as FileWatchingError {
            throw error
        } catch {
            throw .snapshot(path: path, reason: "\(error)")
        }
    }

    /// Carries out one transaction.
    func once<Value>(_ body: (Database) throws -> Value) throws(FileWatchingError) -> Value {
        do {
            return try queue.write { try body($0) }
        } catch let error as FileWatchingError {
            throw error
        } catch {
            throw .snapshot(path: path, reason: "\(error)")
        }
    }

    // MARK: Trees

    /// Says what is watched from now on. Files of trees that are not any more become removed ones.
    package func setTrees(_ trees: [WatchedTree]) throws(FileWatchingError) {
        let wanted = WatchedTree.withoutNested(trees)
        try once { db in
            let known = try Self.storedTrees(db)
            for tree in known where !wanted.contains(tree.rule) {
                try db.execute(sql: "UPDATE tree SET is_dropped = 1 WHERE id = ?", arguments: [tree.id])
                var comparison = try TreeComparison(db, tree, excluding: excluded)
                try comparison.removeAll()
            }
            for rule in wanted {
                try db.execute(sql: "INSERT OR IGNORE INTO owner (name) VALUES (?)", arguments: [rule.owner])
                try db.execute(
                    sql: """
                        INSERT INTO tree (owner, root, names) SELECT id, ?, ? FROM owner WHERE name = ?
                        ON CONFLICT DO UPDATE SET is_dropped = 0
                        """,
                    arguments: [rule.root, rule.names.map { $0 + "/" }.joined(), rule.owner])
            }
            try Self.purge(db)
        }
    }

    /// The trees that are watched.
    package func trees() throws(FileWatchingError) -> [StoredTree] { try once { try Self.storedTrees($0) } }

    private static func storedTrees(_ db: Database) throws -> [StoredTree] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT tree.id, owner.name, root, names, file_system, owner.id FROM tree JOIN owner ON owner.id = owner
                WHERE NOT is_dropped ORDER BY tree.id
                """
        ).map { row in
            let names: String = row[3]
            return StoredTree(
                id: row[0], ownerNumber: row[5],
                rule: WatchedTree(owner: row[1], root: row[2], names: names.split(separator: "/").map(String.init)),
                fileSystem: (row[4] as Int64?).map { UInt64(bitPattern: $0) })
        }
    }

    /// Deletes what nothing refers to any more.
    private static func purge(_ db: Database) throws {
        while true {
            try db.execute(
                sql: """
                    DELETE FROM folder WHERE is_gone
                    AND NOT EXISTS (SELECT 1 FROM file WHERE folder = folder.id)
                    AND NOT EXISTS (SELECT 1 FROM difference WHERE folder = folder.id)
                    AND NOT EXISTS (SELECT 1 FROM folder AS child WHERE child.parent = folder.id)
                    """)
            if db.changesCount == 0 { break }
        }
        try db.execute(sql: "DELETE FROM tree WHERE is_dropped AND id NOT IN (SELECT tree FROM folder)")
    }

    // MARK: Comparing

    /// Compares a tree with the disk, from its root on.
    ///
    /// - Parameter onFolder: Called with each folder, open, before its names are read.
    /// - Returns: What was met.
    /// - Throws: ``FileWatchingError``; what was noted before stays.
    @discardableResult
    package func compare(
        _ tree: StoredTree, onFolder: (OwnedDescriptor, Int64) -> Void = { _, _ in }
    ) throws(FileWatchingError) -> TreeReport {
        var report = TreeReport()
        var walk: ComparisonWalk?
        try steps { db in
            var comparison = try TreeComparison(db, tree, excluding: excluded)
            if walk == nil {
                walk = try comparison.begin()
                guard walk != nil else {
                    report = comparison.report
                    return false
                }
            }
            let goesOn = try comparison.go(on: &walk, onFolder: onFolder)
            report.add(comparison.report)
            return goesOn
        }
        return report
    }

    /// Compares some names of a folder with the disk, and all below those that are folders.
    ///
    /// - Parameters:
    ///   - names: `nil` for all.
    ///   - folder: The number that ``compare(_:onFolder:)`` gave with it.
    package func compare(
        _ names: Set<String>?, of folder: Int64, onFolder: (OwnedDescriptor, Int64) -> Void = { _, _ in }
    ) throws(FileWatchingError) -> TreeReport {
        var report = TreeReport()
        var walk: ComparisonWalk?
        var isBegun = false
        try steps { db in
            guard let tree = try Self.tree(of: folder, db) else { return false }
            var comparison = try TreeComparison(db, tree, excluding: excluded)
            if !isBegun {
                isBegun = true
                walk = try comparison.begin(names, of: folder)
            }
            let goesOn = try comparison.go(on: &walk, onFolder: onFolder)
            report.add(comparison.report)
            return goesOn
        }
        return report
    }

    private static func tree(of folder: Int64, _ db: Database) throws -> StoredTree? {
        guard let id = try Int64.fetchOne(db, sql: "SELECT tree FROM folder WHERE id = ?", arguments: [folder]) else {
            return nil
        }
        return try storedTrees(db).first { $0.id == id }
    }

    // MARK: Changes

    /// How many files each owner has not dealt with.
    package func pending() throws(FileWatchingError) -> [String: PendingChanges] {
        try once { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT owner.name, count(*), sum(min(size, 1 << 40) * is_present) FROM difference
                    JOIN owner ON owner.id = owner GROUP BY owner
                    """)
            return Dictionary(
                uniqueKeysWithValues: rows.map { ($0[0], PendingChanges(count: $0[1], bytes: $0[2])) })
        }
    }

    /// The changes that were noticed first; `nil` if there are none. The list may be empty, and is to be acknowledged then too. Files are told as moved where one file went and one came
    /// that are the same. They are noted as told: if one is undone before it is acknowledged, that is a change.
    ///
    /// - Parameter limit: The most changes.
    package func changes(of owner: String, limit: Int) throws(FileWatchingError) -> FileChanges? {
        try once { db in
            var reader = ChangeReader(db)
            let changes = try reader.read(owner, limit: limit)
            let told = try db.cachedStatement(sql: "UPDATE difference SET is_told = 1 WHERE serial = ?")
            for serial in changes.serials { try told.execute(arguments: [serial]) }
            return changes.serials.isEmpty ? nil : changes
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
        try once { db in
            try db.execute(sql: "INSERT OR IGNORE INTO owner (name) VALUES (?)", arguments: [owner])
            // A number of its own, so that no other request has it.
            try db.execute(sql: "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'difference'")
            if db.changesCount == 0 {
                try db.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('difference', 1)")
            }
            let serial =
                try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'difference'") ?? 0
            try db.execute(sql: "UPDATE owner SET everything = ? WHERE name = ?", arguments: [serial, owner])
            return EverythingRequest(owner: owner, serial: serial)
        }
    }

    /// Notes that the owner has dealt with changes. What changed again meanwhile stays pending.
    package func acknowledge(_ changes: FileChanges) throws(FileWatchingError) {
        try once { db in
            for serial in changes.serials { try Self.acknowledge("serial = ?", [serial], db) }
            try Self.purge(db)
        }
    }

    /// Notes that an owner has dealt with a request for everything: it knows every file that was there when the request
    /// began and still is. Files that went stay pending. Does nothing if another request has begun.
    package func acknowledge(_ request: EverythingRequest) throws(FileWatchingError) {
        try once { db in
            let owner = try Int64.fetchOne(
                db, sql: "SELECT id FROM owner WHERE name = ? AND everything = ?",
                arguments: [request.owner, request.serial])
            guard let owner else { return }
            try Self.acknowledge("owner = ? AND serial <= ? AND is_present", [owner, request.serial], db)
            // The owner may have seen what is left.
            try db.execute(sql: "UPDATE difference SET is_told = 1 WHERE owner = ?", arguments: [owner])
            try db.execute(sql: "UPDATE owner SET everything = NULL WHERE id = ?", arguments: [owner])
            try Self.purge(db)
        }
    }

    private static func acknowledge(_ which: String, _ arguments: StatementArguments, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO file (folder, name, inode, born, size, modified, changed)
                SELECT folder, name, inode, born, size, modified, changed FROM difference WHERE is_present AND \(which)
                """
        ).execute(arguments: arguments)
        // One by one: SQLite looks up pairs of a subquery by the folder alone.
        let gone = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT folder, name FROM difference WHERE NOT is_present AND \(which)"),
            arguments: arguments)
        let delete = try db.cachedStatement(sql: "DELETE FROM file WHERE folder = ? AND name = ?")
        for row in gone { try delete.execute(arguments: [row[0] as Int64, row[1] as String]) }
        try db.cachedStatement(sql: "DELETE FROM difference WHERE \(which)").execute(arguments: arguments)
    }

    // MARK: Places

    /// The numbers of the folders that are there.
    func presentFolders() throws(FileWatchingError) -> Set<Int64> {
        try once { db in try Int64.fetchSet(db, sql: "SELECT id FROM folder WHERE NOT is_gone") }
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
    /// The file system that the root was on; `nil` if it was never compared.
    let fileSystem: UInt64?
}

/// What was met while a tree was compared.
package struct TreeReport: Hashable, Sendable {
    /// Folders and files that were looked at.
    package var folders = 0
    package var files = 0
    /// Places that are not there and prove nothing: a disk that is not mounted, a folder that cannot be read.
    package var unavailable: [String] = []
    /// Folders beyond ``WatchedTree/Limit``.
    package var beyondLimits: [String] = []
    /// Whether something differs from before.
    package var hasNews = false

    /// The most places that are named.
    static let maximumPlaces = 16

    mutating func add(_ other: TreeReport) {
        folders += other.folders
        files += other.files
        unavailable = Array((unavailable + other.unavailable).prefix(Self.maximumPlaces))
        beyondLimits = Array((beyondLimits + other.beyondLimits).prefix(Self.maximumPlaces))
        hasNews = hasNews || other.hasNews
    }
}
