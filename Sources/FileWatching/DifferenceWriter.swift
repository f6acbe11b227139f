// SPDX-License-Identifier: Apache-2.0
import GRDB

/// Writes the differences between the files on disk and the files that their owner knows.
struct DifferenceWriter {
    private let db: Database
    private let owner: Int64
    /// `false` if the table has no differences, which is the usual case. This saves a query for
    /// each folder.
    private var hasDifferences: Bool
    /// `true` while the owner is asked for everything, and may have read any file.
    private let isAskedForEverything: Bool
    /// The serial number of the last difference written; 0 if none was written.
    private var lastSerial: Int64 = 0

    /// Other names of changed files, collected since the last ``takeOtherNames()``.
    private var otherNames: [(folder: Int64, name: EntryName)] = []

    /// `true` if a difference was written.
    var hasNews: Bool { lastSerial != 0 }

    init(_ db: Database, owner: Int64) throws {
        self.db = db
        self.owner = owner
        isAskedForEverything =
            try Bool.fetchOne(db, sql: "SELECT everything IS NOT NULL FROM owner WHERE id = ?", arguments: [owner])
            ?? false
        hasDifferences = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM difference)") ?? true
    }

    /// A difference that is already stored.
    private struct Written {
        var isPresent: Bool
        var isTold: Bool
        var state: FileState
    }

    /// Compares the content of a folder with the stored files, and writes the differences.
    ///
    /// - Parameters:
    ///   - knownDigest: The stored digest of the folder; `nil` if the folder has differences.
    ///   - isNew: `true` if no row refers to the folder.
    mutating func compare(
        _ content: FolderContent, in folder: Int64, knownDigest: Int64?, isNew: Bool
    ) throws {
        // Most folders are unchanged. Only folders with unknown or dangling names need a comparison
        // name by name.
        if content.isWhole, content.unknown.isEmpty, content.dangling.isEmpty, knownDigest == content.digest { return }
        let names: [EntryName]? =
            content.isWhole
            ? nil
            : content.files.map(\.name) + content.absent + content.subfolders + Array(content.dangling.keys)
        let known = isNew ? [:] : try known(in: folder, names)
        let written = isNew ? [:] : try written(in: folder, names)
        let serial = lastSerial
        var isAsKnown = true
        for (name, state) in content.files {
            if known[name] == state, written[name] == nil { continue }
            isAsKnown = false
            try settle(
                name, in: folder, now: state, known: known[name], written: written[name],
                isLinked: content.linked.contains(name))
        }
        let present = Set(content.files.lazy.map(\.name))
        for name in names.map(Set.init) ?? Set(known.keys).union(written.keys) where !present.contains(name) {
            isAsKnown = false
            guard !content.unknown.contains(name) else { continue }
            // If the target of a dangling link was on a different file system than the existing
            // part of its path, that file system is unmounted.
            if let place = content.dangling[name], let before = known[name] ?? written[name]?.state,
                before.fileSystem != place
            {
                continue
            }
            try settle(
                name, in: folder, now: nil, known: known[name], written: written[name],
                hasVanished: content.vanished.contains(name))
        }
        if lastSerial != serial, knownDigest != nil {
            try setDigest(nil, folder)
        } else if isAsKnown, content.isWhole {
            try setDigest(content.digest, folder)
        }
    }

    private func setDigest(_ digest: Int64?, _ folder: Int64) throws {
        try db.cachedStatement(sql: "UPDATE folder SET digest = ? WHERE id = ?").execute(arguments: [digest, folder])
    }

    private func known(in folder: Int64, _ names: [EntryName]?) throws -> [EntryName: FileState] {
        var known: [EntryName: FileState] = [:]
        guard let names else {
            let statement = try db.cachedStatement(sql: "SELECT name, \(FileState.columns) FROM file WHERE folder = ?")
            let rows = try Row.fetchCursor(statement, arguments: [folder])
            while let row = try rows.next() { known[try row.name(0)] = try FileState(row, from: 1) }
            return known
        }
        let statement = try db.cachedStatement(
            sql: "SELECT \(FileState.columns) FROM file WHERE folder = ? AND name = ?")
        for name in names {
            known[name] = try Row.fetchOne(statement, arguments: [folder, name.text]).map {
                try FileState($0, from: 0)
            }
        }
        return known
    }

    private func written(in folder: Int64, _ names: [EntryName]?) throws -> [EntryName: Written] {
        guard hasDifferences else { return [:] }
        let columns = "is_present, is_told, \(FileState.columns)"
        func read(_ row: Row, from first: Int) throws -> Written {
            Written(
                isPresent: try row.isTrue(first), isTold: try row.isTrue(first + 1),
                state: try FileState(row, from: first + 2))
        }
        var written: [EntryName: Written] = [:]
        guard let names else {
            let statement = try db.cachedStatement(sql: "SELECT name, \(columns) FROM difference WHERE folder = ?")
            let rows = try Row.fetchCursor(statement, arguments: [folder])
            while let row = try rows.next() { written[try row.name(0)] = try read(row, from: 1) }
            return written
        }
        let statement = try db.cachedStatement(
            sql: "SELECT \(columns) FROM difference WHERE folder = ? AND name = ?")
        for name in names {
            written[name] = try Row.fetchOne(statement, arguments: [folder, name.text]).map { try read($0, from: 0) }
        }
        return written
    }

    /// Inserts, updates or deletes a file's row in `difference`, the table of files that changed
    /// since their owner read them.
    ///
    /// - Parameters:
    ///   - isLinked: `true` if the file has other hard links.
    ///   - hasVanished: `true` if an event named the file and it does not exist now.
    private mutating func settle(
        _ name: EntryName, in folder: Int64, now: FileState?, known: FileState?, written: Written?,
        isLinked: Bool = false, hasVanished: Bool = false
    ) throws {
        // An owner that was asked but did not answer may know an intermediate state, so it is asked
        // again.
        let isTold = isAskedForEverything || written?.isTold == true
        // During a request for everything, the owner may have read a file that existed only between
        // two checks.
        let mayBeGhost = isAskedForEverything && hasVanished
        if now == known, written == nil || !isTold, !mayBeGhost {
            guard written != nil else { return }
            try db.cachedStatement(sql: "DELETE FROM difference WHERE folder = ? AND name = ?")
                .execute(arguments: [folder, name.text])
            return
        }
        let nobody = FileState(fileSystem: 0, inode: 0, born: 0, size: 0, modified: 0, changed: 0)
        let state = now ?? known ?? written?.state ?? nobody
        if let written, written.isPresent == (now != nil), written.state == state { return }
        // `INSERT OR REPLACE` assigns a new serial number, so an acknowledgement of the old state
        // does not apply to this state.
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO difference (owner, folder, name, is_present, is_told, \(FileState.columns))
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [owner, folder, name.text, now != nil, isTold] + state.arguments)
        hasDifferences = true
        lastSerial = db.lastInsertedRowID
        guard let now else { return }
        // A new file with one link has no other names, because symbolic links point to files that
        // existed before.
        let before = known ?? written?.state
        if isLinked || before != nil { try findOtherNames(of: now, name, folder) }
        if let before, before.inode != now.inode { try findOtherNames(of: before, name, folder) }
    }

    // MARK: Other names

    /// The maximum number of names of one file that are checked.
    private static let maximumNames = 64

    /// Finds the other known names of a file, for all owners.
    private mutating func findOtherNames(of state: FileState, _ name: EntryName, _ folder: Int64) throws {
        guard state.inode != 0 else { return }
        let statement = try db.cachedStatement(
            sql: """
                SELECT folder, file.name FROM file JOIN folder ON folder.id = folder
                WHERE file.inode = ?1 AND file.inode != 0 AND file.file_system = ?2 AND folder.state = 0
                UNION SELECT folder, difference.name FROM difference JOIN folder ON folder.id = folder
                WHERE difference.inode = ?1 AND difference.file_system = ?2 AND is_present AND folder.state = 0
                LIMIT \(Self.maximumNames)
                """)
        let rows = try Row.fetchCursor(
            statement, arguments: [Int64(bitPattern: state.inode), state.fileSystem])
        while let row = try rows.next() {
            let found = (folder: try row.number(0), name: try row.name(1))
            if found.folder != folder || found.name != name { otherNames.append(found) }
        }
    }

    /// Returns and clears the other names that were collected since the last call.
    mutating func takeOtherNames() -> [(folder: Int64, name: EntryName)] {
        defer { otherNames.removeAll(keepingCapacity: true) }
        return otherNames
    }
}
