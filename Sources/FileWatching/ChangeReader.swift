// SPDX-License-Identifier: Apache-2.0
import GRDB
import SystemSupport

/// Reads an owner's pending differences as file changes.
struct ChangeReader {
    private let db: Database
    private var paths = FolderPaths()

    init(_ db: Database) { self.db = db }

    /// A row of the `difference` table.
    private struct Difference {
        let serial: Int64
        let folder: Int64
        let name: EntryName
        let isPresent: Bool
        /// `true` if the owner knows a file at this path.
        let isKnown: Bool
        let isTold: Bool
        let state: FileState

        static let columns = """
            serial, difference.folder, difference.name, is_present, file.inode IS NOT NULL, is_told,
            difference.file_system, difference.inode, difference.born, difference.size, difference.modified,
            difference.changed
            """
        static let source = """
            difference LEFT JOIN file ON file.folder = difference.folder AND file.name = difference.name
            """

        init(_ row: Row) throws {
            serial = try row.number(0)
            folder = try row.number(1)
            name = try row.name(2)
            isPresent = try row.isTrue(3)
            isKnown = try row.isTrue(4)
            isTold = try row.isTrue(5)
            state = try FileState(row, from: 6)
        }
    }

    /// Reads the first pending changes of an owner.
    ///
    /// - Parameter last: The serial number after which to read differences.
    /// - Parameter settled: The serial number through which both halves of every move are already
    ///   noted; `nil` for all. A later difference may be half of a move, unless the owner already
    ///   knows a file at that path. So of the later differences, only the ones for known files that
    ///   are still present are read.
    mutating func read(_ owner: String, after last: Int64, limit: Int, settled: Int64?) throws -> FileChanges {
        guard let number = try Int64.fetchOne(db, sql: "SELECT id FROM owner WHERE name = ?", arguments: [owner]) else {
            return FileChanges(changes: [], serials: [])
        }
        let first = try Row.fetchAll(
            db,
            sql: """
                SELECT \(Difference.columns) FROM \(Difference.source)
                WHERE difference.owner = ? AND serial > ? AND (serial <= ? OR is_present AND file.inode IS NOT NULL)
                ORDER BY serial LIMIT ?
                """,
            arguments: [number, last, settled ?? .max, limit]
        ).map(Difference.init)
        var changes: [FileChange] = []
        var serials: [Int64] = []
        var taken: Set<Int64> = []
        for difference in first where taken.insert(difference.serial).inserted {
            guard let path = try path(of: difference) else {
                serials.append(difference.serial)
                continue
            }
            serials.append(difference.serial)
            // A file appeared where none was known, or a file disappeared. Either may be half of a
            // move.
            let other =
                difference.isPresent && difference.isKnown
                ? nil : try counterpart(of: difference, owner: number, without: taken)
            if let other, let otherPath = try self.path(of: other) {
                taken.insert(other.serial)
                serials.append(other.serial)
                if EntryName(path) != EntryName(otherPath) {
                    changes.append(
                        difference.isPresent ? .moved(from: otherPath, to: path) : .moved(from: path, to: otherPath))
                } else if difference.state != other.state || difference.isTold || other.isTold {
                    // Two trees have the same path, and the file disappeared from only one of them.
                    changes.append(.changed(path: path))
                }
            } else {
                changes.append(difference.isPresent ? .changed(path: path) : .removed(path: path))
            }
        }
        return FileChanges(changes: changes, serials: serials)
    }

    /// Returns `true` if the owner has differences that are not acknowledged yet.
    func hasAny(_ owner: String, after last: Int64) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM difference JOIN owner ON owner.id = difference.owner
                    WHERE owner.name = ? AND serial > ?
                )
                """, arguments: [owner, last]) ?? false
    }

    private mutating func path(of difference: Difference) throws -> String? {
        guard let folder = try paths.path(of: difference.folder, db) else { return nil }
        let name = difference.name.text
        return name.isEmpty ? folder : folder + (folder == "/" ? "" : "/") + name
    }

    /// The maximum number of differences with the same inode number (hard links of one file) that
    /// are compared.
    private static let maximumCounterparts = 64

    private func counterpart(of difference: Difference, owner: Int64, without taken: Set<Int64>) throws -> Difference? {
        guard difference.state.inode != 0 else { return nil }
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(Difference.columns) FROM \(Difference.source)
                WHERE difference.owner = ? AND difference.inode = ? AND is_present = ? ORDER BY serial LIMIT ?
                """)
        return try Row.fetchAll(
            statement,
            arguments: [
                owner, Int64(bitPattern: difference.state.inode), !difference.isPresent, Self.maximumCounterparts,
            ]
        ).map(Difference.init).first {
            !taken.contains($0.serial) && !($0.isPresent && $0.isKnown) && $0.state.isOfSameFile(as: difference.state)
        }
    }
}

/// A cache of folder paths. Each path is read once.
struct FolderPaths {
    private var known: [Int64: String?] = [:]
    /// The maximum number of cached paths.
    private static let maximum = 4096
    /// The maximum number of names in a path.
    private static let maximumNames = 2048

    init() {}

    /// Returns the absolute path of a folder; `nil` if no folder has that number.
    mutating func path(of folder: Int64, _ db: Database) throws -> String? {
        if let found = known[folder] { return found }
        if known.count >= Self.maximum { known = [:] }
        let path = try Self.read(folder, db)
        known[folder] = .some(path)
        return path
    }

    /// Returns the root path and the names below it. Reads the rows from the folder up to the root.
    static func steps(to folder: Int64, _ db: Database) throws -> (root: String, names: [EntryName])? {
        let statement = try db.cachedStatement(sql: "SELECT parent, name, tree FROM folder WHERE id = ?")
        var names: [EntryName] = []
        var next = folder
        while true {
            guard let row = try Row.fetchOne(statement, arguments: [next]), names.count <= maximumNames
            else { return nil }
            next = try row.number(0)
            if next == 0 {
                let tree = try row.number(2)
                let root = try String.fetchOne(
                    db.cachedStatement(sql: "SELECT root FROM tree WHERE id = ?"), arguments: [tree])
                return root.map { ($0, names.reversed()) }
            }
            names.append(try row.name(1))
        }
    }

    private static func read(_ folder: Int64, _ db: Database) throws -> String? {
        try steps(to: folder, db).map { root, names in
            ([root == "/" && !names.isEmpty ? "" : root] + names.map(\.text)).joined(separator: "/")
        }
    }
}
