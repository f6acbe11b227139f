// SPDX-License-Identifier: Apache-2.0
import GRDB
import SystemSupport

/// Reads differences as changes.
struct ChangeReader {
    private let db: Database
    private var paths = FolderPaths()

    init(_ db: Database) { self.db = db }

    /// A difference, as it is stored.
    private struct Difference {
        let serial: Int64
        let folder: Int64
        let name: String
        let isPresent: Bool
        /// Whether the owner knows a file at this place.
        let isKnown: Bool
        let state: FileState

        static let columns = """
            serial, difference.folder, difference.name, is_present, file.inode IS NOT NULL,
            difference.inode, difference.born, difference.size, difference.modified, difference.changed
            """
        static let source = """
            difference LEFT JOIN file ON file.folder = difference.folder AND file.name = difference.name
            """

        init(_ row: Row) {
            serial = row[0]
            folder = row[1]
            name = row[2]
            isPresent = row[3]
            isKnown = row[4]
            state = FileState(row, from: 5)
        }
    }

    mutating func read(_ owner: String, limit: Int) throws -> FileChanges {
        guard let number = try Int64.fetchOne(db, sql: "SELECT id FROM owner WHERE name = ?", arguments: [owner]) else {
            return FileChanges(changes: [], serials: [])
        }
        let first = try Row.fetchAll(
            db,
            sql: """
                SELECT \(Difference.columns) FROM \(Difference.source) WHERE difference.owner = ? ORDER BY serial LIMIT ?
                """,
            arguments: [number, limit]
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
            // A file that came to a place where none was known, or one that went.
            let other =
                difference.isPresent && difference.isKnown
                ? nil : try counterpart(of: difference, owner: number, without: taken)
            if let other, let otherPath = try self.path(of: other) {
                taken.insert(other.serial)
                serials.append(other.serial)
                changes.append(
                    difference.isPresent ? .moved(from: otherPath, to: path) : .moved(from: path, to: otherPath))
            } else {
                changes.append(difference.isPresent ? .changed(path: path) : .removed(path: path))
            }
        }
        return FileChanges(changes: changes, serials: serials)
    }

    private mutating func path(of difference: Difference) throws -> String? {
        guard let folder = try paths.path(of: difference.folder, db) else { return nil }
        return difference.name.isEmpty ? folder : folder + (folder == "/" ? "" : "/") + difference.name
    }

    /// The most files with one number that are compared: names of one file.
    private static let maximumCounterparts = 64

    private func counterpart(of difference: Difference, owner: Int64, without taken: Set<Int64>) throws -> Difference? {
        try Row.fetchAll(
            db,
            sql: """
                SELECT \(Difference.columns) FROM \(Difference.source)
                WHERE difference.owner = ? AND difference.inode = ? AND is_present = ? ORDER BY serial LIMIT ?
                """,
            arguments: [
                owner, Int64(bitPattern: difference.state.inode), !difference.isPresent, Self.maximumCounterparts,
            ]
        ).lazy.map(Difference.init).first {
            !taken.contains($0.serial) && !($0.isPresent && $0.isKnown) && $0.state.isOfSameFile(as: difference.state)
        }
    }
}

/// The paths of folders, each read once.
struct FolderPaths {
    private var known: [Int64: String?] = [:]
    /// The most that are kept.
    private static let maximum = 4096

    init() {}

    /// The absolute path of a folder; `nil` if there is none with that number.
    mutating func path(of folder: Int64, _ db: Database) throws -> String? {
        if let found = known[folder] { return found }
        if known.count >= Self.maximum { known = [:] }
        let path = try Self.read(folder, db)
        known[folder] = .some(path)
        return path
    }

    /// The root and the names below it, read from the folder upwards.
    static func steps(to folder: Int64, _ db: Database) throws -> (root: String, names: [String])? {
        let statement = try db.cachedStatement(sql: "SELECT parent, name, tree FROM folder WHERE id = ?")
        var names: [String] = []
        var next = folder
        while true {
            guard let row = try Row.fetchOne(statement, arguments: [next]), names.count <= WatchedTree.Limit.depth + 1
            else { return nil }
            next = row[0]
            if next == 0 {
                let root = try String.fetchOne(
                    db, sql: "SELECT root FROM tree WHERE id = ?", arguments: [row[2] as Int64])
                return root.map { ($0, names.reversed()) }
            }
            names.append(row[1])
        }
    }

    private static func read(_ folder: Int64, _ db: Database) throws -> String? {
        try steps(to: folder, db).map { root, names in
            ([root == "/" && !names.isEmpty ? "" : root] + names).joined(separator: "/")
        }
    }
}

extension FileState {
    /// Reads five columns.
    init(_ row: Row, from first: Int) {
        self.init(
            inode: UInt64(bitPattern: row[first]), born: row[first + 1], size: row[first + 2],
            modified: row[first + 3], changed: row[first + 4])
    }

    /// The five columns.
    var arguments: StatementArguments { [Int64(bitPattern: inode), born, size, modified, changed] }
}
