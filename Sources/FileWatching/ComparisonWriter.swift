// SPDX-License-Identifier: Apache-2.0
import GRDB

/// Stores the results of a ``ComparisonWalk`` within one transaction. Reads nothing from the disk.
struct ComparisonWriter {
    let db: Database
    let tree: StoredTree
    private(set) var report = TreeReport()
    private var differences: DifferenceWriter

    init(_ db: Database, _ tree: StoredTree) throws {
        self.db = db
        self.tree = tree
        differences = try DifferenceWriter(db, owner: tree.ownerNumber)
    }

    /// Marks the root as removed.
    mutating func removeRoot() throws {
        if let root = try FolderRow.child("", of: 0, tree: tree.id, db) { try setState(.going, root.id) }
    }

    /// Stores the file system of the root.
    func setPlace(_ place: KnownPlace) throws {
        try db.execute(
            sql: "UPDATE tree SET file_system = ?, mount_point = ? WHERE id = ?",
            arguments: [place.identity, place.mountPoint, tree.id])
    }

    /// Stores a batch of folders.
    ///
    /// - Parameter children: The stored subfolders of the folders whose subfolders are still to be
    ///   read, by row number.
    /// - Returns: The row number of each folder; `nil` for folders that were not stored.
    mutating func note(
        _ batch: [SeenFolder], _ children: inout [Int64: [EntryName: FolderRow]]
    ) throws -> [Int64?] {
        var folders: [Int64?] = []
        folders.reserveCapacity(batch.count)
        for seen in batch { folders.append(try note(seen, folders, &children)) }
        report.hasNews = differences.hasNews
        return folders
    }

    private mutating func note(
        _ seen: SeenFolder, _ folders: [Int64?], _ children: inout [Int64: [EntryName: FolderRow]]
    ) throws -> Int64? {
        let folder: Int64
        let row: FolderRow?
        switch seen.target {
        case .itself(let id):
            // The row may have been deleted since the walk read it.
            let stored = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT \(FolderRow.columns) FROM folder WHERE id = ? AND state = 0"),
                arguments: [id])
            guard let stored else { return nil }
            (folder, row) = (id, try FolderRow(stored))
        case .child(let name, let origin):
            let parent: Int64? =
                switch origin {
                case .row(let id): id
                case .seen(let index): folders[index]
                }
            guard let parent, parent >= 0 else { return nil }
            let known = try children[parent].map { $0[name] } ?? FolderRow.child(name, of: parent, tree: tree.id, db)
            switch seen.finding {
            case .excluded:
                if let known, known.state == .present { try setState(.going, known.id) }
                return nil
            case .unreadable:
                guard let known else { return nil }
                try db.cachedStatement(sql: "UPDATE folder SET state = 0, is_partial = 1 WHERE id = ?")
                    .execute(arguments: [known.id])
                return known.id
            case .content(let content):
                // The row of a folder that was gone may have been deleted in the meantime.
                if let known, try update(known, seen, isPartial: content.needsRetry) {
                    folder = known.id
                } else {
                    folder = try insert(name, in: parent, seen, isPartial: content.needsRetry)
                }
                row = known
            }
        }
        guard case .content(let content) = seen.finding else { return folder }
        try differences.compare(content, in: folder, knownDigest: row?.digest, isNew: row == nil)
        for name in content.unsettled { report.noteUnsettled(name, in: folder) }
        for (folder, name) in differences.takeOtherNames() { report.noteOtherName(name, in: folder) }
        try compareFolders(content, folder, isNew: row == nil, seen.path, &children)
        return folder
    }

    /// Marks the subfolders that no longer exist.
    private mutating func compareFolders(
        _ content: FolderContent, _ folder: Int64, isNew: Bool, _ path: String,
        _ children: inout [Int64: [EntryName: FolderRow]]
    ) throws {
        guard content.isWhole else {
            for name in content.absent + content.files.map(\.name) + Array(content.dangling.keys) {
                guard let known = try FolderRow.child(name, of: folder, tree: tree.id, db) else { continue }
                try lose(known, in: path)
            }
            return
        }
        let known = isNew ? [:] : try FolderRow.children(of: folder, db)
        if !known.isEmpty {
            let present = Set(content.subfolders).union(content.unknown)
            for child in known.values where !present.contains(child.name) { try lose(child, in: path) }
        }
        if !content.subfolders.isEmpty { children[folder] = known }
    }

    private mutating func lose(_ folder: FolderRow, in path: String) throws {
        guard folder.state == .present else { return }
        guard folder.mount == nil else {
            // The file system is unmounted, and the mount point is gone too. Its files stay as they
            // are.
            let below = path.isEmpty ? folder.name.text : path + "/" + folder.name.text
            return report.noteUnavailable((tree.rule.root == "/" ? "" : tree.rule.root) + "/" + below)
        }
        try setState(.going, folder.id)
    }

    private func setState(_ state: FolderState, _ folder: Int64) throws {
        try db.cachedStatement(sql: "UPDATE folder SET state = ? WHERE id = ?")
            .execute(arguments: [state.rawValue, folder])
    }

    /// - Returns: `true` if the row exists.
    private func update(_ known: FolderRow, _ seen: SeenFolder, isPartial: Bool) throws -> Bool {
        guard
            known.state != .present || known.isPartial != isPartial || known.inode != seen.number.inode
                || known.born != seen.born || known.mount != seen.mount
        else { return true }
        try db.cachedStatement(
            sql: "UPDATE folder SET state = 0, is_partial = ?, inode = ?, born = ?, file_system = ? WHERE id = ?"
        ).execute(arguments: [isPartial, Int64(bitPattern: seen.number.inode), seen.born, seen.mount, known.id])
        return db.changesCount > 0
    }

    private func insert(_ name: EntryName, in parent: Int64, _ seen: SeenFolder, isPartial: Bool) throws -> Int64 {
        try db.cachedStatement(
            sql: """
                INSERT INTO folder (tree, parent, name, inode, born, file_system, is_partial)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            tree.id, parent, name.text, Int64(bitPattern: seen.number.inode), seen.born, seen.mount, isPartial,
        ])
        return db.lastInsertedRowID
    }
}

/// Notes the files of removed folders as removed and marks their subfolders, one batch at a time.
enum FolderRemoval {
    private static let foldersAtOnce = 128

    /// Processes one batch.
    ///
    /// - Returns: `goesOn` is `true` if there may be more folders. `hasNews` is `true` if a
    ///   difference was written.
    static func step(_ db: Database) throws -> (goesOn: Bool, hasNews: Bool) {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT folder.id, owner FROM folder JOIN tree ON tree.id = tree WHERE state = 2 LIMIT \(foldersAtOnce)
                    """))
        var writers: [Int64: DifferenceWriter] = [:]
        var hasNews = false
        for row in rows {
            let (folder, owner) = (try row.number(0), try row.number(1))
            var writer = try writers[owner] ?? DifferenceWriter(db, owner: owner)
            try writer.compare(FolderContent(), in: folder, knownDigest: nil, isNew: false)
            writers[owner] = writer
            hasNews = hasNews || writer.hasNews
            try db.cachedStatement(sql: "UPDATE folder SET state = 2 WHERE parent = ? AND state = 0")
                .execute(arguments: [folder])
            try db.cachedStatement(sql: "UPDATE folder SET state = 1, file_system = NULL, digest = NULL WHERE id = ?")
                .execute(arguments: [folder])
            try purge(folder, db)
        }
        return (!rows.isEmpty, hasNews)
    }

    /// Deletes the row of a removed folder and of its ancestors, as long as no row refers to them.
    static func purge(_ folder: Int64, _ db: Database) throws {
        let unused = try db.cachedStatement(
            sql: """
                SELECT parent, tree FROM folder WHERE id = ? AND state = 1
                AND NOT EXISTS (SELECT 1 FROM file WHERE folder = folder.id)
                AND NOT EXISTS (SELECT 1 FROM difference WHERE folder = folder.id)
                AND NOT EXISTS (SELECT 1 FROM folder AS child WHERE child.parent = folder.id)
                """)
        var next = folder
        while next != 0, let row = try Row.fetchOne(unused, arguments: [next]) {
            let (parent, tree) = (try row.number(0), try row.number(1))
            try db.cachedStatement(sql: "DELETE FROM folder WHERE id = ?").execute(arguments: [next])
            if parent == 0 {
                try db.execute(sql: "DELETE FROM tree WHERE id = ? AND is_dropped", arguments: [tree])
            }
            next = parent
        }
    }
}
