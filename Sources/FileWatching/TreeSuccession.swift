// SPDX-License-Identifier: Apache-2.0
import GRDB
import SystemSupport

/// Moves the stored files of dropped trees to the trees of the same owner that cover the same
/// paths. A file that is still watched is then neither removed nor reported again.
///
/// A folder keeps its row and number, and gets a folder of the other tree as its parent. If the
/// other tree already has a row for the path, the files are merged into that row. The known file
/// system of a path is transferred too, so that an unmounted file system is also recognized under
/// the other tree. Files at paths that no tree covers are removed, even on an unmounted file
/// system.
///
/// Reads nothing from the disk. Each tree in ``takers`` must be compared afterwards.
struct TreeSuccession {
    /// A watched tree that can take over folders.
    private struct Heir {
        let id: Int64
        let rule: WatchedTree
        /// The names on the path to its root.
        let root: [EntryName]
        var place: KnownPlace?
        /// `true` if the tree has no known files, so that its file system may still be replaced.
        let isEmpty: Bool

        /// Returns the number of names below the root if the folder is watched; otherwise `nil`.
        func depth(of path: [EntryName]) -> Int? {
            let depth = path.count - root.count
            guard 0...WatchedTree.Limit.depth ~= depth, path.starts(with: root) else { return nil }
            for level in 0..<depth
            where !rule.admits(path[root.count + level].text, depth: level, isFolder: true) { return nil }
            return depth
        }
    }

    /// The path of a folder of the dropped tree.
    private struct Position {
        var path: [EntryName]
        /// The number of names below the root of the dropped tree.
        var depth: Int
        /// The file system of the folder at the last comparison.
        var place: KnownPlace?

        func below(_ name: EntryName) -> Position { Position(path: path + [name], depth: depth + 1, place: place) }
    }

    private let db: Database
    private let owner: Int64
    private var heirs: [Heir] = []
    private var source: StoredTree
    /// The trees that took over a folder or file.
    private(set) var takers: Set<Int64> = []

    /// - Parameter heirs: The watched trees of the owner.
    init(_ db: Database, of source: StoredTree, heirs: [StoredTree]) throws {
        (self.db, self.source, owner) = (db, source, source.ownerNumber)
        for heir in heirs {
            let hasFiles = try Bool.fetchOne(
                db.cachedStatement(
                    sql: "SELECT EXISTS (SELECT 1 FROM folder CROSS JOIN file ON folder = folder.id WHERE tree = ?)"),
                arguments: [heir.id])
            self.heirs.append(
                Heir(
                    id: heir.id, rule: heir.rule, root: Self.names(heir.rule.root), place: heir.place,
                    isEmpty: hasFiles == false))
        }
    }

    private static func names(_ path: String) -> [EntryName] { pathNames(path).map { EntryName($0) } }

    /// Moves all folders and files of the dropped tree.
    mutating func run() throws {
        guard let root = try FolderRow.child("", of: 0, tree: source.id, db) else { return }
        let position = Position(path: Self.names(source.rule.root), depth: 0, place: source.place)
        try pass(root, position, above: nil)
    }

    // MARK: Folders

    /// Moves a folder together with everything below it.
    ///
    /// - Parameter above: The tree that took over the parent, and `true` if the parent kept its
    ///   row.
    private mutating func pass(_ row: FolderRow, _ position: Position, above: (heir: Int, isMoved: Bool)?) throws {
        var position = position
        if let mount = row.mount {
            position.place = KnownPlace(
                identity: mount, mountPoint: "/" + position.path.map(\.text).joined(separator: "/"))
        }
        guard let heir = heir(of: position.path, preferring: above?.heir) else {
            return try leave(row, position, above: above)
        }
        let (id, depth) = (heirs[heir].id, position.path.count - heirs[heir].root.count)
        let children = try self.children(of: row.id)
        let known = try find(position.path, heir)
        if known == nil {
            let parent = depth == 0 ? 0 : try make(Array(position.path.dropLast()), heir)
            try db.cachedStatement(
                sql: """
                    UPDATE folder SET tree = ?, parent = ?, name = ?, state = 0,
                    digest = CASE state WHEN 0 THEN digest END, file_system = CASE ? WHEN 0 THEN NULL ELSE file_system END
                    WHERE id = ?
                    """
            ).execute(arguments: [id, parent, depth == 0 ? "" : position.path.last?.text, depth, row.id])
            try Self.withdrawRemovals("= ?", row.id, db)
        }
        let folder = known ?? row.id
        if known != nil { _ = try make(position.path, heir) }
        takers.insert(id)
        if above?.heir != heir || known != nil { try setPlace(position, heir, taken: known == nil ? row.id : nil) }
        // In most cases, the entire content of a folder moves with it.
        if known == nil, position.depth >= source.rule.names.count, depth >= heirs[heir].rule.names.count,
            try position.depth > 0 || !isRootFile(row.id)
        {
            return try takeBelow(row.id, id)
        }
        try passFiles(of: row.id, position, to: (heir, folder))
        for child in children { try pass(child, position.below(child.name), above: (heir, known == nil)) }
        if known != nil { try setGoing(row.id) }
    }

    /// Sets a folder that is no longer watched by any tree to the state `going`, and moves the
    /// watched folders below it to their new tree.
    private mutating func leave(_ row: FolderRow, _ position: Position, above: (heir: Int, isMoved: Bool)?) throws {
        let isOnTheWay = heirs.contains { $0.root.starts(with: position.path) }
        let children = isOnTheWay ? try self.children(of: row.id) : []
        if let above, above.isMoved {
            // Its parent row now belongs to another tree.
            let folders = isOnTheWay ? "= ?" : "IN \(Self.below)"
            try db.execute(
                sql: "UPDATE folder SET tree = ? WHERE id \(folders)", arguments: [heirs[above.heir].id, row.id])
        }
        if isOnTheWay { try passFiles(of: row.id, position, to: nil) }
        for child in children { try pass(child, position.below(child.name), above: above) }
        if isOnTheWay || row.state == .present { try setGoing(row.id) }
    }

    private func heir(of path: [EntryName], preferring preferred: Int?) -> Int? {
        if let preferred, heirs[preferred].depth(of: path) != nil { return preferred }
        return heirs.firstIndex { $0.depth(of: path) != nil }
    }

    private func children(of folder: Int64) throws -> [FolderRow] {
        try Row.fetchAll(
            db.cachedStatement(sql: "SELECT \(FolderRow.columns) FROM folder WHERE parent = ? AND tree = ?"),
            arguments: [folder, source.id]
        ).map(FolderRow.init)
    }

    private func setGoing(_ folder: Int64) throws {
        try db.cachedStatement(sql: "UPDATE folder SET state = 2 WHERE id = ?").execute(arguments: [folder])
    }

    private static let below = """
        (WITH RECURSIVE below (id) AS (
            SELECT ? UNION SELECT folder.id FROM below JOIN folder ON parent = below.id
        ) SELECT id FROM below)
        """

    private func takeBelow(_ folder: Int64, _ tree: Int64) throws {
        try db.execute(
            sql: """
                UPDATE folder SET tree = ?, state = 0, digest = CASE state WHEN 0 THEN digest END
                WHERE id IN \(Self.below)
                """, arguments: [tree, folder])
        try Self.withdrawRemovals("IN \(Self.below)", folder, db)
    }

    /// Prepares the comparison of a tree that is watched again before all of its files were noted
    /// as removed.
    static func revive(_ tree: StoredTree, _ db: Database) throws {
        try withdrawRemovals("IN (SELECT id FROM folder WHERE tree = ?)", tree.id, db)
        try db.execute(
            sql: "UPDATE folder SET state = 0, digest = NULL WHERE tree = ? AND state != 0", arguments: [tree.id])
    }

    /// Deletes removals that were not reported to the owner yet. Dropping a tree notes its files as
    /// removed; the comparison finds real removals again. Reported removals are kept, with a new
    /// serial number.
    private static func withdrawRemovals(_ folders: String, _ number: Int64, _ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM difference WHERE folder \(folders) AND NOT is_present AND NOT is_told",
            arguments: [number])
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO difference (owner, folder, name, is_present, is_told, \(FileState.columns))
                SELECT owner, folder, name, is_present, is_told, \(FileState.columns) FROM difference
                WHERE folder \(folders) AND NOT is_present
                """, arguments: [number])
    }

    /// Returns the row number of a folder in a tree.
    private func find(_ path: [EntryName], _ heir: Int) throws -> Int64? {
        var folder = try FolderRow.child("", of: 0, tree: heirs[heir].id, db)?.id
        for name in path.dropFirst(heirs[heir].root.count) {
            folder = try folder.flatMap { try FolderRow.child(name, of: $0, tree: heirs[heir].id, db)?.id }
        }
        return folder
    }

    /// Returns the row number of a folder in a tree. Creates missing rows on its path, and marks
    /// all of them as present.
    private func make(_ path: [EntryName], _ heir: Int) throws -> Int64 {
        var folder: Int64 = 0
        for name in [""] + path.dropFirst(heirs[heir].root.count) {
            if let row = try FolderRow.child(name, of: folder, tree: heirs[heir].id, db) {
                folder = row.id
                guard row.state != .present else { continue }
                try db.cachedStatement(sql: "UPDATE folder SET state = 0, digest = NULL WHERE id = ?")
                    .execute(arguments: [folder])
            } else {
                try db.cachedStatement(
                    sql: "INSERT INTO folder (tree, parent, name, inode, born) VALUES (?, ?, ?, 0, 0)"
                ).execute(arguments: [heirs[heir].id, folder, name.text])
                folder = db.lastInsertedRowID
            }
        }
        return folder
    }

    // MARK: File systems

    /// Stores the file system of a folder in the tree that took over the folder.
    ///
    /// - Parameter taken: The row of the folder, if the tree took over the row.
    private mutating func setPlace(_ position: Position, _ heir: Int, taken: Int64? = nil) throws {
        guard let place = position.place else { return }
        let (root, mount) = (heirs[heir].root, Self.names(place.mountPoint))
        // A mount point contains no links, but a path may contain some. In that case, the folder
        // itself is used as the mount point, and missing files are treated as removed if the folder
        // is not empty.
        let isBelow = mount.count > root.count && mount.starts(with: root) && position.path.starts(with: mount)
        guard isBelow || !root.starts(with: mount) && position.path != root else {
            guard heirs[heir].place == nil || heirs[heir].isEmpty else { return }
            heirs[heir].place = place
            try db.execute(
                sql: "UPDATE tree SET file_system = ?, mount_point = ? WHERE id = ?",
                arguments: [place.identity, place.mountPoint, heirs[heir].id])
            return
        }
        // A file system recorded by a comparison of the tree itself takes precedence.
        try db.cachedStatement(
            sql: "UPDATE folder SET file_system = ? WHERE id = ? AND file_system IS NULL AND (inode = 0 OR id = ?)"
        ).execute(arguments: [place.identity, try make(isBelow ? mount : position.path, heir), taken])
    }

    // MARK: Files

    private func isRootFile(_ folder: Int64) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM file WHERE folder = ?1 AND name = '')
                OR EXISTS (SELECT 1 FROM difference WHERE folder = ?1 AND name = '')
                """, arguments: [folder]) ?? true
    }

    /// Moves the files of a folder one at a time.
    ///
    /// - Parameter taken: The tree that took over the folder, and the folder's row in it; `nil` if
    ///   no tree took over the folder.
    private mutating func passFiles(
        of folder: Int64, _ position: Position, to taken: (heir: Int, folder: Int64)?
    ) throws {
        let names = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT name FROM file WHERE folder = ?1 UNION SELECT name FROM difference WHERE folder = ?1"),
            arguments: [folder]
        ).map { try $0.name(0) }
        guard !names.isEmpty else { return }
        var lost: [EntryName] = []
        for name in names {
            let path = name == "" ? position.path : position.path + [name]
            guard let home = try home(of: path, position, taken) else {
                lost.append(name)
                continue
            }
            guard home.folder != folder || home.name != name else { continue }
            try move(name, folder, to: home.name, home.folder)
            takers.insert(heirs[home.heir].id)
            if home.heir != taken?.heir {
                var position = position
                if name == "" { position.path.removeLast() }
                try setPlace(position, ofFileIn: home.heir)
            }
        }
        guard taken?.folder == folder else { return }
        try db.cachedStatement(sql: "UPDATE folder SET digest = NULL WHERE id = ?").execute(arguments: [folder])
        guard !lost.isEmpty else { return }
        var content = FolderContent()
        (content.isWhole, content.absent) = (false, lost)
        var writer = try DifferenceWriter(db, owner: owner)
        try writer.compare(content, in: folder, knownDigest: nil, isNew: false)
    }

    private mutating func setPlace(_ position: Position, ofFileIn heir: Int) throws {
        var position = position
        // A root that is a file has its own file system record.
        if position.path.count < heirs[heir].root.count { position.path = heirs[heir].root }
        try setPlace(position, heir)
    }

    /// Returns the tree, folder and name of a file in a tree that watches it.
    private func home(
        of path: [EntryName], _ position: Position, _ taken: (heir: Int, folder: Int64)?
    ) throws -> (heir: Int, folder: Int64, name: EntryName)? {
        let all = (taken.map { [$0.heir] } ?? []) + heirs.indices.filter { $0 != taken?.heir }
        let parent = Array(path.dropLast())
        for heir in all {
            if heirs[heir].root == path { return (heir, try make(path, heir), "") }
            guard let name = path.last, let depth = heirs[heir].depth(of: parent),
                heirs[heir].rule.admits(name.text, depth: depth, isFolder: false)
            else { continue }
            if let taken, taken.heir == heir, parent == position.path { return (heir, taken.folder, name) }
            return (heir, try make(parent, heir), name)
        }
        return nil
    }

    private func move(_ name: EntryName, _ folder: Int64, to newName: EntryName, _ newFolder: Int64) throws {
        let (old, new): (StatementArguments, StatementArguments) = (
            [folder, name.text], [newFolder, newName.text]
        )
        func execute(_ sql: String, _ arguments: StatementArguments) throws {
            try db.cachedStatement(sql: sql).execute(arguments: arguments)
        }
        try execute("DELETE FROM difference WHERE folder = ? AND name = ? AND NOT is_present AND NOT is_told", old)
        // The other tree's row is kept, because it is just as accurate. A change that was reported
        // for either tree is reported again.
        try execute("UPDATE OR IGNORE file SET folder = ?, name = ? WHERE folder = ? AND name = ?", new + old)
        try execute("DELETE FROM file WHERE folder = ? AND name = ?", old)
        try execute(
            """
            UPDATE difference SET is_told = 1 WHERE folder = ? AND name = ?
            AND EXISTS (SELECT 1 FROM difference WHERE folder = ? AND name = ? AND is_told)
            """, new + old)
        try execute(
            """
            INSERT OR IGNORE INTO difference (owner, folder, name, is_present, is_told, \(FileState.columns))
            SELECT owner, ?, ?, is_present, is_told, \(FileState.columns) FROM difference WHERE folder = ? AND name = ?
            """, new + old)
        try execute("DELETE FROM difference WHERE folder = ? AND name = ?", old)
        try execute("UPDATE folder SET digest = NULL WHERE id = ?", [newFolder])
    }
}
