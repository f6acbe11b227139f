// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import Glibc
import ItemRecord
import Testing

@testable import SearchIndex

/// “searchlight verify” and “searchlight status” with intact, damaged and repaired stores.
@Suite("The verify and status commands", .timeLimit(.minutes(10)))
struct VerifyCommandTests {
    private let command: Command
    private var database: String { command.harness.store + "/index.sqlite" }

    init() throws { command = try Command.indexed() }

    private func findings(_ report: Any) throws -> [[String: Any]] {
        let report = try #require(report as? [String: Any])
        return try #require(report["findings"] as? [[String: Any]])
    }

    @Test("A sound store: the checks, no finding, status 0")
    func sound() throws {
        let (status, output) = try command("verify")
        #expect(status == 0, "\(output)")
        #expect(output.contains("Checked: item records, with their columns and checksums (3)\n"))
        #expect(output.contains("list of pending jobs") && output.hasSuffix("No damage was found.\n"), "\(output)")
        let report = try #require(try command.json("verify") as? [String: Any])
        #expect(report["isClean"] as? Bool == true)
        #expect((report["checks"] as? [[String: Any]])?.count ?? 0 > 5)
    }

    @Test("Without a store, it reports that, and creates none")
    func noStore() throws {
        let other = Command(harness: try Harness())
        #expect(try other("verify").status == 2)
        #expect(!FileManager.default.fileExists(atPath: other.harness.store))
    }

    @Test("An invalid database is found with status 10 and repaired with --repair, and everything is pending")
    func lostDatabase() throws {
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database + suffix) }
        try Data(repeating: 0x61, count: 9000).write(to: URL(filePath: database))
        let (status, output) = try command("verify")
        #expect(status == 10, "\(output)")
        #expect(output.contains("Found: database: ") && output.contains("searchlight verify --repair"), "\(output)")
        #expect(
            try findings(try command.json("verify", expecting: 10)).contains { $0["repair"] as? String == "salvage" })
        let repaired = try command("verify", "--repair")
        #expect(repaired.status == 0, "\(repaired.output)")
        #expect(repaired.output.contains("Repaired: A reindex of com.example.notebook is pending."))
        #expect(repaired.output.hasSuffix("No damage is left.\n"), "\(repaired.output)")
        let state = try command("status").output
        #expect(state.contains("Generation: 2;") && state.contains("Found at the opening of "), "\(state)")
        #expect(state.contains("Pending: a reindex of com.example.notebook"))
        #expect(FileManager.default.fileExists(atPath: database + ".damaged"))
        #expect(try command("reindex").status == 0)
        #expect(try command("verify").status == 0)
        #expect(try !command("status").output.contains("Pending: a reindex"))
    }

    @Test("Files that others may read, and a missing or changed list of jobs, are found and repaired")
    func modesAndJobs() throws {
        chmod(database, 0o644)
        let jobs = command.harness.store + "/jobs.json"
        let sound = try String(contentsOfFile: jobs, encoding: .utf8)
        for text in [nil, sound.replacing(/"requests":\d+/, with: "\"requests\":99"), "{}"] {
            if let text { try Data(text.utf8).write(to: URL(filePath: jobs)) } else { unlink(jobs) }
            let parts = try findings(try command.json("verify", expecting: 10)).compactMap { $0["part"] as? String }
            #expect(parts.contains("jobs.json"), "\(text ?? "none"): \(parts)")
            let repair = try #require(try command.json("verify", "--repair") as? [String: Any])
            #expect(repair["isClean"] as? Bool == true)
        }
        #expect(try command("status").output.contains("Pending: a reindex of com.example.notebook"))
    }

    @Test("The sizes of bundles and structures are shown")
    func sizes() throws {
        let output = try command("status").output
        #expect(output.contains("  com.example.notebook: 3 items, "), "\(output)")
        // A closed store has no write-ahead log.
        #expect(output.contains("Size: database ") && output.contains("  of the database: "), "\(output)")
        let report = try #require(try command.json("status", "--exact") as? [String: Any])
        let sizes = try #require(report["sizes"] as? [String: Any])
        let structures = try #require(sizes["structures"] as? [String: Int])
        #expect(Set(["items", "text", "attributes", "other"]).isSubset(of: structures.keys))
        #expect((sizes["records"] as? [String: Int])?["com.example.notebook"] ?? 0 > 300)
        #expect(report["generation"] as? Int == 1 && report["isMarkedDamaged"] as? Bool == false)
        // Pages may be in the write-ahead log, which also contains older versions of them.
        let (database, log) = (try #require(sizes["database"] as? Int), try #require(sizes["log"] as? Int))
        let whole = structures.values.reduce(0, +)
        #expect(whole >= 20 * 8192 && whole % 8192 == 0 && whole <= database + log, "\(sizes)")
    }

    @Test("The index is compared with the donations of the extension: equal, then missing, extra and different")
    func against() throws {
        let bundle = "com.example.notebook"
        let equal = try command("verify", "--against", bundle)
        #expect(equal.status == 0, "\(equal.output)")
        #expect(equal.output.contains("donates 3 items, the index has 3.\nThe index and the donations are equal."))
        #expect(try command("delete", "--bundle", bundle, "--identifiers", "alpha").status == 0)
        let lines =
            #"{"uniqueIdentifier": "zeta"}"# + "\n" + #"{"uniqueIdentifier": "beta"}"# + "\n"
            + #"{"uniqueIdentifier": "gamma"}"#
        let donation = try command.shell("printf '%s' '\(lines)' | \"$SEARCHLIGHT\" donate --bundle \(bundle) -")
        #expect(donation.status == 0, "\(donation.output)")
        let report = try #require(try command.json("verify", "--against", bundle, expecting: 10) as? [String: Any])
        func names(_ key: String) -> [String] {
            (report[key] as? [[String: String]])?.compactMap { $0["uniqueIdentifier"] } ?? []
        }
        #expect(names("missing") == ["alpha"] && names("extra") == ["zeta"] && names("differing") == ["beta", "gamma"])
        let text = try command("verify", "--against", bundle, "--limit", "1")
        #expect(text.status == 10 && text.output.contains("2 different:\n  beta\n  … and 1 more\n"), "\(text.output)")
        #expect(try command("show", "alpha").status == 2)
        #expect(try command("verify", "--against", "com.example.none").status == 2)
    }

    @Test("Remains of a killed process in the log are shown by the next reading command")
    func waitingEntries() async throws {
        let index = try SearchIndex(directory: command.harness.store, access: .readWrite)
        let row = try await index.readApplied("Reading the row") { try StoreRow($0) }
        try await index.close()
        let log = try WriteAheadLog(
            folder: command.harness.store + "/journal", store: row.identifier, applied: row.applied)
        let item = try EncodedItem(ItemRecord(uniqueIdentifier: "late", attributes: ["title": .string("Late sheet")]))
        var batch = IndexBatch(scope: IndexScope(bundle: "org.example.killed"))
        batch.index([item])
        _ = try await log.append(LogEntry(batch))
        log.abandon()
        let reader = try SearchIndex(directory: command.harness.store, access: .readOnly)
        #expect(try reader.waitingEntries() == 1)
        let found = try command("search", "late")
        #expect(found.status == 0 && found.output.contains("Late sheet"), "\(found.output)")
        #expect(try reader.waitingEntries() == 0)
    }

    @Test("A search that meets a damaged full-text table repairs it and answers")
    func searchRepairs() throws {
        let alter = """
            import sqlite3; db = sqlite3.connect("store/index.sqlite", isolation_level=None)
            db.execute("DELETE FROM ranked_word_data WHERE id > 10"); db.execute("DELETE FROM item_text_data WHERE id > 10")
            """
        try Data(alter.utf8).write(to: URL(filePath: command.harness.folder + "/alter.py"))
        let altered = try command.shell("python3 alter.py")
        // Without that interpreter, the tables cannot be changed without the program.
        guard altered.status == 0 else { return }
        let found = try command("search", "sheet")
        #expect(found.status == 0 && found.output.contains("Alpha sheet"), "\(found.output)")
        #expect(try command("status").output.contains("was rebuilt"))
    }

    @Test("A command that meets overwritten pages of items reports the loss once, and answers with the rest")
    func overwrittenPages() throws {
        let lines = (0..<400).map {
            #"{"uniqueIdentifier": "\#($0)", "attributes": {"title": "Page \#($0) of a long book"}}"#
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: command.harness.folder + "/lines"))
        #expect(try command("donate", "--bundle", "org.example.book", command.harness.folder + "/lines").status == 0)
        // A leaf page of the item table starts with byte 13 and contains the records.
        var bytes = try Data(contentsOf: URL(filePath: database))
        let title = try #require(bytes.range(of: Data("Page 200 of a long book".utf8)))
        let start = title.lowerBound / 8192 * 8192
        try #require(bytes[start] == 13)
        bytes.replaceSubrange(start..<start + 8192, with: Data(repeating: 0xA5, count: 8192))
        try bytes.write(to: URL(filePath: database))
        // No extension will donate these items again, so a read-only command leaves the repair to
        // the user.
        #expect(try command("list", "--limit", "1000").status == 8)
        #expect(try command("client-state", "--bundle", "org.example.book").output.contains("Nothing was changed"))
        // A command that changes the store does not make that decision either.
        let changed = try command("delete", "--bundle", "org.example.book", "--identifiers", "none")
        #expect(changed.status == 8 && changed.output.contains("verify --repair"), "\(changed)")
        let repaired = try command("verify", "--repair")
        let done = repaired.output.split(separator: "\n").filter { $0.hasPrefix("Repaired: ") }
        #expect(done.first?.contains("copied to a new database; others may be lost") == true, "\(repaired)")
        #expect(done.first?.hasSuffix("kept as index.sqlite.damaged.") == true, "\(done)")
        #expect(!done.contains { $0.contains("was rebuilt") || $0.contains(" 0 ") || $0.contains("***") }, "\(done)")
        #expect(try command("list", "--limit", "1000").output.contains("long book"))
        #expect(try !command("list").output.contains("Note: "))
    }
}
