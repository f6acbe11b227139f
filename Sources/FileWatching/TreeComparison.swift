// SPDX-License-Identifier: Apache-2.0
import GRDB
import Glibc
import SystemSupport

/// Notes in a snapshot how the disk differs from it, within one transaction. Opens folders only.
struct TreeComparison {
    let db: Database
    let tree: StoredTree
    private(set) var report = TreeReport()
    private var differences: DifferenceWriter
    private let excluded: Set<FolderNumber>

    /// What one transaction looks at, at most, so that others need not wait long.
    private static let (foldersAtOnce, filesAtOnce) = (512, 8192)

    init(_ db: Database, _ tree: StoredTree, excluding excluded: [String]) throws {
        self.excluded = Set(excluded.compactMap(FolderNumber.init(path:)))
        self.db = db
        self.tree = tree
        differences = try DifferenceWriter(db, owner: tree.ownerNumber)
    }

    // MARK: The root

    /// Looks at the root.
    ///
    /// - Returns: A walk from there; `nil` if there is nothing to walk through.
    mutating func begin() throws -> ComparisonWalk? {
        let root = tree.rule.root
        switch Found(path: root) {
        case .folder:
            let place = SearchedFolder(root)
            guard try accept(place), let descriptor = try? OwnedDescriptor.root(root) else { return unavailable(root) }
            let folder = try row(of: "", in: 0) ?? insert("", in: 0, isMount: false)
            try differences.note("", in: folder.id, nil)
            return ComparisonWalk(levels: [
                .init(
                    descriptor: descriptor, folder: 0, depth: -1, device: descriptor.place.device, subfolders: [""])
            ])
        case .file(let state):
            guard try accept(SearchedFolder(Self.parent(of: root))) else { return unavailable(root) }
            let folder = try row(of: "", in: 0) ?? insert("", in: 0, isMount: false)
            try removeContent(of: folder.id)
            try setGone(false, folder.id)
            try differences.note("", in: folder.id, state)
            report.files += 1
            noteNews()
            return nil
        case .nothing:
            guard let fileSystem = tree.fileSystem, SearchedFolder(root).provesAbsence(on: fileSystem) else {
                return tree.fileSystem == nil ? nil : unavailable(root)
            }
            try removeAll()
            return nil
        case .other, .unknown: return unavailable(root)
        }
    }

    private mutating func unavailable(_ path: String) -> ComparisonWalk? {
        report.unavailable.append(path)
        return nil
    }

    /// Whether the root is on the file system where it was, or nothing is known of it. Then it is noted.
    private func accept(_ place: SearchedFolder) throws -> Bool {
        guard let fileSystem = place.fileSystem else { return false }
        guard tree.fileSystem != fileSystem else { return true }
        if tree.fileSystem != nil {
            let knowsFiles = try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM folder JOIN file ON file.folder = folder.id WHERE folder.tree = ?)
                    """,
                arguments: [tree.id])
            if knowsFiles == true { return false }
        }
        try db.execute(
            sql: "UPDATE tree SET file_system = ? WHERE id = ?", arguments: [Int64(bitPattern: fileSystem), tree.id])
        return true
    }

    private static func parent(of path: String) -> String {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// Notes that no file of the tree is there.
    mutating func removeAll() throws {
        if let root = try row(of: "", in: 0) { try remove(root.id) }
        noteNews()
    }

    // MARK: Some names

    /// Looks at some names of a folder, or all for `nil`.
    ///
    /// - Returns: A walk through those that are folders; `nil` if the folder is not there.
    mutating func begin(_ names: Set<String>?, of folder: Int64) throws -> ComparisonWalk? {
        guard let steps = try FolderPaths.steps(to: folder, db), steps.root == tree.rule.root,
            var descriptor = try? OwnedDescriptor.root(steps.root)
        else { return nil }
        for name in steps.names {
            guard let next = try? OwnedDescriptor.folder(name, in: descriptor) else { return nil }
            descriptor = next
        }
        let device = descriptor.place.device
        let depth = steps.names.count
        guard let names else {
            var walk = ComparisonWalk()
            let subfolders = try list(descriptor, folder, depth: depth, &walk)
            walk.levels = [
                .init(descriptor: descriptor, folder: folder, depth: depth, device: device, subfolders: subfolders)
            ]
            return walk
        }
        var subfolders: [String] = []
        for name in names.sorted() {
            let found = Found(name, in: descriptor.number)
            let child = try row(of: name, in: folder)
            switch found {
            case .folder where tree.rule.admits(name, depth: depth, isFolder: true):
                try differences.note(name, in: folder, nil)
                subfolders.append(name)
                continue
            case .file(let state) where tree.rule.admits(name, depth: depth, isFolder: false):
                report.files += 1
                try differences.note(name, in: folder, state)
            // It may be there.
            case .unknown(let code) where code != EACCES: continue
            default: try differences.note(name, in: folder, nil)
            }
            if let child { try lose(child, path: steps.root + "/" + (steps.names + [name]).joined(separator: "/")) }
        }
        noteNews()
        return ComparisonWalk(levels: [
            .init(descriptor: descriptor, folder: folder, depth: depth, device: device, subfolders: subfolders)
        ])
    }

    // MARK: Walking

    /// Goes on with a walk, for as long as one transaction should take.
    ///
    /// - Returns: Whether there is more to come.
    mutating func go(on walk: inout ComparisonWalk?, onFolder: (OwnedDescriptor, Int64) -> Void) throws -> Bool {
        guard var walking = walk else { return false }
        walk = nil
        defer { walk = walking }
        while let level = walking.levels.last {
            guard let name = walking.levels[walking.levels.count - 1].subfolders.popLast() else {
                walking.levels.removeLast()
                continue
            }
            try enter(name, level, &walking, onFolder)
            if report.folders >= Self.foldersAtOnce || report.files >= Self.filesAtOnce { break }
        }
        noteNews()
        return !walking.levels.isEmpty
    }

    private mutating func enter(
        _ name: String, _ parent: ComparisonWalk.Level, _ walk: inout ComparisonWalk,
        _ onFolder: (OwnedDescriptor, Int64) -> Void
    ) throws {
        let known = try row(of: name, in: parent.folder)
        let isRoot = parent.folder == 0
        guard parent.depth < WatchedTree.Limit.depth, walk.entries < WatchedTree.Limit.entries else {
            if report.beyondLimits.count < TreeReport.maximumPlaces {
                report.beyondLimits.append(try shown(name, in: parent.folder))
            }
            return
        }
        let descriptor: OwnedDescriptor
        do throws(ErrnoCode) {
            descriptor = isRoot ? parent.descriptor : try .folder(name, in: parent.descriptor)
        } catch {
            guard let known else { return }
            let path = try shown(name, in: parent.folder)
            switch error.code {
            case ENOENT, ENOTDIR, ELOOP, EACCES: try lose(known, path: path)
            default: report.unavailable.append(path)
            }
            return
        }
        let place = descriptor.place
        if !isRoot, excluded.contains(place.number) {
            if let known { try lose(known, path: shown(name, in: parent.folder)) }
            return
        }
        let isMount = !isRoot && (place.isMount ?? (place.device != parent.device))
        if let known, known.isMount, !isMount {
            // The folder onto which the disk was mounted.
            report.unavailable.append(try shown(name, in: parent.folder))
            return
        }
        let folder: FolderRow
        if let known {
            folder = known
            if known.isGone { try setGone(false, known.id) }
            if isMount, !known.isMount {
                try db.execute(sql: "UPDATE folder SET is_mount = 1 WHERE id = ?", arguments: [known.id])
            }
        } else {
            folder = try insert(name, in: parent.folder, isMount: isMount)
        }
        report.folders += 1
        onFolder(descriptor, folder.id)
        let depth = parent.depth + 1
        let subfolders = try list(descriptor, folder.id, depth: depth, &walk)
        guard !subfolders.isEmpty else { return }
        walk.levels.append(
            .init(descriptor: descriptor, folder: folder.id, depth: depth, device: place.device, subfolders: subfolders)
        )
    }

    /// Compares all that is in a folder.
    ///
    /// - Returns: The folders in it.
    private mutating func list(
        _ descriptor: OwnedDescriptor, _ folder: Int64, depth: Int, _ walk: inout ComparisonWalk
    ) throws -> [String] {
        var files: [String: FileState] = [:]
        // Names of which nothing is known now.
        var kept: Set<String> = []
        var subfolders: [String] = []
        do throws(ErrnoCode) {
            var listing = try FolderListing(of: descriptor)
            while walk.entries < WatchedTree.Limit.entries, let (name, kind) = try listing.next() {
                walk.entries += 1
                guard !name.isEmpty,
                    kind == .folder || tree.rule.admits(name, depth: depth, isFolder: false)
                        || kind == .unknown
                else { continue }
                switch kind == .folder ? .folder(isMount: nil, device: 0) : Found(name, in: descriptor.number) {
                case .folder: if tree.rule.admits(name, depth: depth, isFolder: true) { subfolders.append(name) }
                case .file(let state) where tree.rule.admits(name, depth: depth, isFolder: false): files[name] = state
                case .unknown(let code) where code != EACCES: kept.insert(name)
                default: break
                }
            }
        } catch {
            report.unavailable.append(try shown(nil, in: folder))
            return []
        }
        report.files += files.count
        try differences.compare(files, keeping: kept, in: folder)
        let present = Set(subfolders).union(kept)
        for child in try children(of: folder) where !child.isGone && !present.contains(child.name) {
            try lose(child, path: try shown(child.name, in: folder))
        }
        return subfolders
    }

    // MARK: Folders that are not there

    private mutating func lose(_ folder: FolderRow, path: String) throws {
        if folder.isMount { report.unavailable.append(path) } else { try remove(folder.id) }
    }

    /// Notes that a folder and all below it is gone.
    private mutating func remove(_ folder: Int64) throws {
        var rest = [folder]
        while let next = rest.popLast() {
            try removeContent(of: next, &rest)
            try setGone(true, next)
        }
    }

    /// Notes that all below a folder is gone.
    private mutating func removeContent(of folder: Int64) throws {
        var rest: [Int64] = []
        try removeContent(of: folder, &rest)
        for child in rest { try remove(child) }
    }

    private mutating func removeContent(of folder: Int64, _ rest: inout [Int64]) throws {
        try differences.compare([:], keeping: [], in: folder)
        rest += try children(of: folder).lazy.filter { !$0.isGone }.map(\.id)
    }

    private func setGone(_ isGone: Bool, _ folder: Int64) throws {
        try db.cachedStatement(sql: "UPDATE folder SET is_gone = ? WHERE id = ?").execute(arguments: [isGone, folder])
    }

    // MARK: Rows

    private struct FolderRow {
        let id: Int64
        let name: String
        let isMount: Bool
        let isGone: Bool
    }

    private func row(of name: String, in parent: Int64) throws -> FolderRow? {
        let statement = try db.cachedStatement(
            sql: "SELECT id, name, is_mount, is_gone FROM folder WHERE parent = ? AND name = ? AND tree = ?")
        return try Row.fetchOne(statement, arguments: [parent, name, tree.id]).map {
            FolderRow(id: $0[0], name: $0[1], isMount: $0[2], isGone: $0[3])
        }
    }

    private func children(of parent: Int64) throws -> [FolderRow] {
        let statement = try db.cachedStatement(
            sql: "SELECT id, name, is_mount, is_gone FROM folder WHERE parent = ?")
        return try Row.fetchAll(statement, arguments: [parent]).map {
            FolderRow(id: $0[0], name: $0[1], isMount: $0[2], isGone: $0[3])
        }
    }

    private func insert(_ name: String, in parent: Int64, isMount: Bool) throws -> FolderRow {
        try db.cachedStatement(sql: "INSERT INTO folder (tree, parent, name, is_mount) VALUES (?, ?, ?, ?)")
            .execute(arguments: [tree.id, parent, name, isMount])
        return FolderRow(id: db.lastInsertedRowID, name: name, isMount: isMount, isGone: false)
    }

    private func shown(_ name: String?, in folder: Int64) throws -> String {
        var paths = FolderPaths()
        let path = try folder == 0 ? tree.rule.root : paths.path(of: folder, db) ?? tree.rule.root
        return name.map { $0.isEmpty ? path : path + "/" + $0 } ?? path
    }

    private mutating func noteNews() { report.hasNews = report.hasNews || differences.hasNews }
}
