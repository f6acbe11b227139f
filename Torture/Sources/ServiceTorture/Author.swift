// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import Glibc
import TestSupport

/// Changes the files that the service follows for extensions: notes in folders, and the rows of a
/// database that an app keeps open. An author that is killed leaves half-written files.
struct Author: Sendable {
    private static let folders = ["one/", "two/", "one/deep/", "three/"]
    private static let notes = 8
    private static let rows = 60

    let place: TorturePlace
    let log: ClientLog

    func run(_ random: inout SplitMix64) async throws {
        // A statement that another process blocks fails at once.
        let database = try DatabaseQueue(path: place.database)
        while true {
            if random.below(2) == 0 {
                changeNotes(&random)
            } else {
                do {
                    try changeRows(database, &random)
                    log.count("transactions of the app")
                } catch let error as DatabaseError {
                    log.complain("the app cannot change its own database: \(error)")
                }
            }
            try await Task.sleep(for: .milliseconds(5 + random.below(60)))
        }
    }

    // MARK: - Notes

    private func note(_ random: inout SplitMix64) -> String {
        place.notes + "/\(random.pick([""] + Self.folders))note \(random.below(Self.notes)).md"
    }

    /// Makes one change. A change that is impossible now, such as the removal of a missing file,
    /// has no effect.
    private func changeNotes(_ random: inout SplitMix64) {
        let files = FileManager.default
        let path = note(&random)
        try? files.createDirectory(
            at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        switch random.below(10) {
        case 0...4:
            let filler = String(repeating: "filler ", count: random.below(6) == 0 ? 3000 : 3)
            let text = Data("# Note \(random.below(1 << 30))\n\nanvil \(filler)\n".utf8)
            // Half of the changes replace the file, half write into it.
            try? text.write(to: URL(filePath: path), options: random.below(2) == 0 ? .atomic : [])
        case 5, 6: try? files.removeItem(atPath: path)
        case 7: rename(path, to: note(&random))
        case 8:
            let (one, other) = (random.pick(Self.folders), random.pick(Self.folders))
            rename(place.notes + "/" + one, to: place.notes + "/" + other)
        default:
            if random.below(8) == 0 {
                try? files.removeItem(atPath: place.notes + "/" + random.pick(Self.folders))
            }
        }
        log.count("changes of notes")
    }

    private func rename(_ path: String, to other: String) { _ = Glibc.rename(path, other) }

    // MARK: - Rows

    private func changeRows(_ database: DatabaseQueue, _ random: inout SplitMix64) throws {
        let changes = (0...random.below(3)).map { _ in (random.below(Self.rows), random.below(4), random.below(1 << 30))
        }
        try database.write { db in
            for (row, kind, number) in changes {
                if kind == 0 {
                    try db.execute(sql: "DELETE FROM task WHERE id = ?", arguments: [row])
                } else {
                    try db.execute(
                        sql: "INSERT OR REPLACE INTO task VALUES (?, ?, 'anvil')", arguments: [row, "Task \(number)"])
                }
            }
        }
    }
}

/// The files of an ``Author`` as they are on the disk. No author may run during a check.
struct AuthoredFiles {
    let place: TorturePlace

    /// Creates the notes' folder and the database, whose journal is a write-ahead log.
    func prepare() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: place.notes, withIntermediateDirectories: true)
        try files.createDirectory(
            at: URL(filePath: place.database).deletingLastPathComponent(), withIntermediateDirectories: true)
        try DatabaseQueue(path: place.database).inDatabase { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS task(id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
        }
    }

    /// The title of each note, by path; the name of a note that was cut before its title ends.
    func notes() throws -> [String: String] {
        var notes: [String: String] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: place.notes) where name.hasSuffix(".md") {
            let path = place.notes + "/" + name
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let line = text.split(separator: "\n", omittingEmptySubsequences: false).first ?? ""
            let isWhole = line.hasPrefix("# Note ") && text.contains("\n")
            notes[path] =
                isWhole ? String(line.dropFirst(2)) : URL(filePath: name).deletingPathExtension().lastPathComponent
        }
        return notes
    }

    /// The title of each row, by the identifier of its item.
    func rows() throws -> [String: String] {
        try DatabaseQueue(path: place.database).read { db in
            Dictionary(
                uniqueKeysWithValues: try Row.fetchAll(db, sql: "SELECT id, title FROM task").map { row in
                    ("task/\(row["id"] as Int64)", row["title"] as String)
                })
        }
    }
}
