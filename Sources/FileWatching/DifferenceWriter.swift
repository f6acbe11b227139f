// SPDX-License-Identifier: Apache-2.0
import GRDB

/// Writes which files are otherwise on the disk than their owner knows them.
struct DifferenceWriter {
    private let db: Database
    private let owner: Int64
    /// Whether there are differences at all: usually not, which saves a query for each folder.
    private var hasDifferences: Bool
    /// Whether the owner is being asked for everything, and so may have seen any file.
    private let isAskedForEverything: Bool
    /// Whether anything was written.
    private(set) var hasNews = false

    init(_ db: Database, owner: Int64) throws {
        self.db = db
        self.owner = owner
        isAskedForEverything =
            try Bool.fetchOne(db, sql: "SELECT everything IS NOT NULL FROM owner WHERE id = ?", arguments: [owner])
            ?? false
        hasDifferences = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM difference)") ?? true
    }

    /// A difference that was written before.
    private struct Written {
        var isPresent: Bool
        var isTold: Bool
        var state: FileState
    }

    /// Notes all files of a folder.
    ///
    /// - Parameters:
    ///   - files: Those that are there.
    ///   - kept: Names of which nothing is known now; they stay as they are.
    mutating func compare(_ files: [String: FileState], keeping kept: Set<String>, in folder: Int64) throws {
        var known: [String: FileState] = [:]
        let statement = try db.cachedStatement(
            sql: "SELECT name, inode, born, size, modified, changed FROM file WHERE folder = ?")
        let rows = try Row.fetchCursor(statement, arguments: [folder])
        while let row = try rows.next() { known[row[0]] = FileState(row, from: 1) }
        let written = try written(in: folder)
        for (name, state) in files {
            if known[name] == state, written[name] == nil { continue }
            try settle(name, in: folder, now: state, known: known[name], written: written[name])
        }
        for name in Set(known.keys).union(written.keys) where files[name] == nil && !kept.contains(name) {
            try settle(name, in: folder, now: nil, known: known[name], written: written[name])
        }
    }

    /// Notes one file, or that there is none.
    mutating func note(_ name: String, in folder: Int64, _ state: FileState?) throws {
        let statement = try db.cachedStatement(
            sql: "SELECT inode, born, size, modified, changed FROM file WHERE folder = ? AND name = ?")
        let known = try Row.fetchOne(statement, arguments: [folder, name]).map { FileState($0, from: 0) }
        try settle(name, in: folder, now: state, known: known, written: try written(in: folder, name))
    }

    private func written(in folder: Int64, _ name: String? = nil) throws -> [String: Written] {
        guard hasDifferences else { return [:] }
        let statement = try db.cachedStatement(
            sql: """
                SELECT name, is_present, is_told, inode, born, size, modified, changed FROM difference WHERE folder = ?
                """)
        var written: [String: Written] = [:]
        let rows = try Row.fetchCursor(statement, arguments: [folder])
        while let row = try rows.next() {
            written[row[0]] = Written(isPresent: row[1], isTold: row[2], state: FileState(row, from: 3))
        }
        return written
    }

    private func written(in folder: Int64, _ name: String) throws -> Written? {
        guard hasDifferences else { return nil }
        let statement = try db.cachedStatement(
            sql: """
                SELECT is_present, is_told, inode, born, size, modified, changed FROM difference WHERE folder = ? AND name = ?
                """)
        return try Row.fetchOne(statement, arguments: [folder, name])
            .map { Written(isPresent: $0[0], isTold: $0[1], state: FileState($0, from: 2)) }
    }

    /// Corrects the row of a name: writes the difference, replaces it, or deletes it if there is none.
    private mutating func settle(
        _ name: String, in folder: Int64, now: FileState?, known: FileState?, written: Written?
    ) throws {
        // An owner that was asked and did not answer may know what has been since. It is asked once more.
        let isTold = isAskedForEverything || written?.isTold == true
        if now == known, written == nil || !isTold {
            guard written != nil else { return }
            try db.cachedStatement(sql: "DELETE FROM difference WHERE folder = ? AND name = ?")
                .execute(arguments: [folder, name])
            return
        }
        guard let state = now ?? known ?? written?.state else { return }
        if let written, written.isPresent == (now != nil), written.state == state { return }
        // With a number of its own, so that an acknowledgement of what was before does not count for it.
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO difference
                (owner, folder, name, is_present, is_told, inode, born, size, modified, changed)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [owner, folder, name, now != nil, isTold] + state.arguments)
        hasDifferences = true
        hasNews = true
    }
}
