// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import GRDBSQLite
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import ExtensionValidation
@testable import SearchlightEngine

/// A database that an app keeps open.
final class AppDatabase {
    let path: String
    private let database: OpaquePointer

    init(_ path: String, _ text: String = "") throws {
        self.path = path
        try FileManager.default.createDirectory(
            at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        var opened: OpaquePointer?
        try #require(sqlite3_open(path, &opened) == SQLITE_OK)
        database = try #require(opened)
        try run(text)
    }

    deinit { sqlite3_close(database) }

    func run(_ text: String) throws {
        var message: UnsafeMutablePointer<CChar>?
        let result = sqlite3_exec(database, text, nil, nil, &message)
        defer { sqlite3_free(message) }
        try #require(result == SQLITE_OK, "\(message.map { String(cString: $0) } ?? "") in \(text.prefix(2000))")
    }
}

/// An extension that consists only of a manifest with SELECT statements, with the real worker and a
/// database that an app keeps open and locked.
@Suite("An extension that is a database binding", .timeLimit(.minutes(10)))
struct DatabaseExtensionTests {
    private static let bundle = "com.example.notes.search"
    private let harness: Harness
    private let donated = Donated()

    /// The number of items donated since the last check.
    private final class Donated: Sendable {
        private let count = Mutex(0)
        func add(_ number: Int) { count.withLock { $0 += number } }
        func take() -> Int {
            count.withLock { count in
                defer { count = 0 }
                return count
            }
        }
    }

    init() throws {
        harness = try Harness()
        harness.listen { [donated] event in if case .donated(_, let count) = event { donated.add(count) } }
    }

    private static var item: [String: Any] {
        [
            "Name": "note",
            "Select": "SELECT n.id, n.title, n.body, n.t, n.picture, "
                + "iif(n.picture IS NULL, NULL, 'public.png') AS kind, (SELECT group_concat(name, char(10)) FROM "
                + "(SELECT name FROM tags WHERE note = n.id ORDER BY rowid)) AS tags FROM notes n",
            "Key": "id", "Type": "public.plain-text",
            "Attributes": [
                "title": "{title}", "textContent": "{body}", "keywords": "{tags:lines}",
                "contentModificationDate": "{t:unix-ms}", "url": "notes://open?id={id}&title={title}",
            ],
            "Promises": [
                ["Type": "public.utf8-plain-text", "Template": "{title}\n\n{body}"],
                ["Type": "public.html", "Template": "<h1>{title}</h1><p>{body}</p>"],
                ["Type": "{kind}", "Select": "SELECT picture FROM notes WHERE id = :key"],
            ],
            "Preview": [
                "Type": "public.html", "Title": "Note “{title}”", "Template": "<h1>{title}</h1><p>{body}</p>",
            ],
        ]
    }
    private static let table = """
        CREATE TABLE notes(id INTEGER PRIMARY KEY, title TEXT, body TEXT, t INTEGER, picture BLOB);
        CREATE TABLE tags(note INTEGER, name TEXT);
        """

    private func install(_ files: [String] = ["~/Notes/notes.db"], item changes: [String: Any] = [:]) throws {
        let item = Self.item.merging(changes) { $1 }
        try harness.install(
            Self.bundle, library: nil,
            manifest: [
                "CFBundleExecutable": nil as Any?,
                "Searchlight": ["ReadablePaths": ["~/Notes"], "Database": ["Files": files, "Items": [item]]],
            ])
    }

    private func database(_ name: String = "notes.db", _ settings: String = "") throws -> AppDatabase {
        try AppDatabase(harness.folder + "/Notes/" + name, settings + Self.table)
    }

    private func count(_ text: String, _ engine: SearchlightEngine) async throws -> Int {
        try await engine.search(text, bundle: nil, limit: 5).total
    }

    private func update(_ engine: SearchlightEngine, _ paths: String...) async throws {
        try await engine.onHost { (host) throws(ExtensionError) in
            try await host.updateFiles(paths.map { .changed(path: $0) }, Self.bundle)
        }
    }

    @Test("finds all rows again when the file is back after a reindex without it")
    func fileIsBack() async throws {
        try install()
        let app = try database()
        try app.run("INSERT INTO notes VALUES (1, 'Ferry', 'nine', 1, NULL), (2, 'Pier', 'ten', 1, NULL)")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(Self.bundle) == 2)
            #expect(rename(app.path, app.path + ".away") == 0)
            #expect(try await engine.reindexAll(Self.bundle) == 0)
            #expect(try await count("ferry", engine) == 0)
            #expect(rename(app.path + ".away", app.path) == 0)
            try await update(engine, app.path)
            #expect(try await count("ferry", engine) == 1)
            #expect(try await engine.compare(Self.bundle).isEqual)
        }
    }

    @Test(
        "makes rows findable, previewable and draggable while the app has an exclusive lock",
        arguments: ["PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;", "PRAGMA locking_mode=EXCLUSIVE;"])
    func whole(settings: String) async throws {
        try install()
        let app = try database("notes.db", settings)
        try app.run(
            """
            INSERT INTO notes VALUES (1, 'Ferry <b>& pier', 'leaves at nine', 1600000000000, x'89504e470d0a1a0a00'),
                (2, 'Köln', 'cathedral', 1600000000000, NULL);
            INSERT INTO tags VALUES (1, 'travel'), (1, 'sea');
            """)
        try await harness.withEngine { engine async throws in
            #expect(engine.registry.refusals.isEmpty, "\(engine.registry.refusals)")
            #expect(try await engine.reindexAll(Self.bundle) == 2)
            let item = try #require(try await engine.search("ferry sea", bundle: nil, limit: 5).hits.first?.item)
            #expect(item.record.uniqueIdentifier == "note/1" && item.record.texts("keywords") == ["travel", "sea"])
            #expect(item.record.attributes["contentModificationDate"] == .date(621_692_800))
            #expect(item.record.text("url") == "notes://open?id=1&title=Ferry%20%3Cb%3E%26%20pier")
            let preview = try await engine.preview(of: item, query: "nine")
            #expect(
                preview.source == .extension && preview.title == "Note “Ferry <b>& pier”", "\(preview.problem ?? "")")
            let page = String(decoding: preview.content, as: UTF8.self)
            #expect(page.contains("<h1>Ferry &lt;b&gt;&amp; pier</h1>"), "\(page)")
            for (type, text) in [
                ("public.utf8-plain-text", "Ferry <b>& pier\n\nleaves at nine"),
                ("public.html", "<h1>Ferry &lt;b&gt;&amp; pier</h1><p>leaves at nine</p>"),
            ] {
                let path = harness.folder + "/drop." + type
                _ = try await engine.drag(item, accepted: [type], to: .file(path: path))
                #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
            }
            let picture = harness.folder + "/drop.png"
            _ = try await engine.drag(item, accepted: ["public.png"], to: .file(path: picture))
            #expect(try Data(contentsOf: URL(filePath: picture)).count == 9)
            // A picture that exceeds the limit is rejected, not truncated.
            try app.run("UPDATE notes SET picture = zeroblob(17 << 20) WHERE id = 1")
            let large = harness.folder + "/large.png"
            let refused = await #expect(throws: EngineError.self) {
                _ = try await engine.drag(item, accepted: ["public.png"], to: .file(path: large))
            }
            #expect(refused?.description.contains("more than 16 MiB") == true, "\(refused?.description ?? "")")
            #expect(!FileManager.default.fileExists(atPath: large))
            // A changed item is dropped with its new content, and a missing one is reported.
            try app.run("UPDATE notes SET body = 'leaves at ten' WHERE id = 1")
            let later = harness.folder + "/later"
            _ = try await engine.drag(item, accepted: ["public.utf8-plain-text"], to: .file(path: later))
            #expect(try String(contentsOfFile: later, encoding: .utf8).hasSuffix("ten"))
            try app.run("DELETE FROM notes WHERE id = 1")
            let gone = await #expect(throws: EngineError.self) {
                _ = try await engine.drag(
                    item, accepted: ["public.utf8-plain-text"], to: .file(path: harness.folder + "/none"))
            }
            #expect(gone?.description.contains("no longer has a row for note/1") == true, "\(gone?.description ?? "")")
            // No file is created next to the app's files.
            let folder = try FileManager.default.contentsOfDirectory(atPath: harness.folder + "/Notes")
            #expect(Set(folder).subtracting(["notes.db-wal", "notes.db-journal"]) == ["notes.db"])
        }
    }

    @Test(
        "donates only changed rows and deletes removed ones, with and without a column for changes",
        arguments: [true, false])
    func differences(hasColumn: Bool) async throws {
        try install(item: hasColumn ? ["Changed": "t"] : [:])
        let app = try database("notes.db", "PRAGMA journal_mode=WAL;")
        func fill(_ range: Range<Int>) throws {
            try app.run("BEGIN")
            for number in range {
                try app.run("INSERT INTO notes VALUES (\(number), 'Note \(number)', 'body', \(number), NULL)")
            }
            try app.run("COMMIT")
        }
        try fill(1..<1501)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(Self.bundle) == 1500)
            _ = donated.take()
            try await update(engine, app.path + "-wal")
            #expect(donated.take() == 0)
        }
        // In another worker, which has no cached state.
        try await harness.withEngine { engine async throws in
            try app.run(
                "UPDATE notes SET title = 'Renamed', t = 99999 WHERE id = 700; DELETE FROM notes WHERE id = 701")
            try fill(2000..<2002)
            try await update(engine, app.path)
            #expect(donated.take() == 3)
            #expect(try await count("renamed", engine) == 1)
            #expect(try await count("701", engine) == 0)
            #expect(try await count("2001", engine) == 1)
            let comparison = try await engine.compare(Self.bundle)
            #expect(comparison.isEqual, "\(comparison)")
            _ = donated.take()
            // A row is deleted, with no other change.
            try app.run("DELETE FROM notes WHERE id = 2000")
            try await update(engine, app.path)
            #expect(donated.take() == 0)
            #expect(try await count("2000", engine) == 0)
            #expect(try await engine.compare(Self.bundle).isEqual)
            _ = try await engine.reindexItems(["note/3", "note/701", "other/1", "nothing"], of: Self.bundle)
            #expect(try await engine.compare(Self.bundle).isEqual)
        }
    }

    @Test(
        "has the items of several profiles, and deletes the items of a removed profile but not of an unmounted disk")
    func profiles() async throws {
        try install(["~/Notes/*/notes.db"])
        var apps: [AppDatabase] = []
        for name in ["one", "two"] {
            let app = try database("\(name)/notes.db")
            try app.run("INSERT INTO notes VALUES (1, 'Same number', 'of \(name)', 1, NULL)")
            apps.append(app)
        }
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(Self.bundle) == 2)
            #expect(try await count("same", engine) == 2)
            let path = apps[0].path
            apps.removeFirst()
            unlink(path)
            try await engine.onHost { (host) throws(ExtensionError) in
                try await host.updateFiles([.removed(path: path)], Self.bundle)
            }
            #expect(try await count("same", engine) == 1)
            #expect(try await count("two", engine) == 1)
            apps = []
            let folder = harness.folder + "/Notes"
            try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
            let away = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(Self.bundle) }
            #expect(away?.description.contains("is not there") == true, "\(away?.description ?? "")")
            #expect(try await count("two", engine) == 1)
        }
    }

    @Test(
        "keeps its items when the file does not fit, is encrypted, empty, a pipe or a link to elsewhere, and reports it"
    )
    func faults() async throws {
        try install()
        let app = try database()
        try app.run("INSERT INTO notes VALUES (1, 'Kept', 'pier', 1, NULL)")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(Self.bundle) == 1)
            func failure() async throws -> String {
                let whole = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(Self.bundle) }
                _ = await #expect(throws: (any Error).self) { try await update(engine, app.path) }
                #expect(try await count("pier", engine) == 1)
                return whole?.description ?? ""
            }
            try app.run("ALTER TABLE notes RENAME COLUMN body TO contents")
            let schema = try await failure()
            #expect(schema.contains("Items.1.Select: no such column: n.body"), "\(schema)")
            #expect(schema.contains("notes (id, title, contents, t, picture)"), "\(schema)")
            var random = SplitMix64(seed: MutationLoop.seed)
            try Data((0..<4096).map { _ in UInt8.random(in: 1...255, using: &random) }).write(
                to: URL(filePath: app.path))
            #expect(
                try await failure().contains("not an SQLite database, or is encrypted. Its items stay as they are"))
            try Data().write(to: URL(filePath: app.path))
            #expect(try await failure().contains("is empty"))
            unlink(app.path)
            try #require(mkfifo(app.path, 0o600) == 0)
            #expect(try await failure().contains("not a regular file"))
            // A link that leads out of the readable folder is not followed.
            let other = try AppDatabase(harness.folder + "/Elsewhere/notes.db", Self.table)
            try other.run("INSERT INTO notes VALUES (1, 'Foreign', 'secret', 1, NULL)")
            unlink(app.path)
            try #require(symlink(other.path, app.path) == 0)
            #expect(try await failure().contains("Permission denied"))
            #expect(try await count("secret", engine) == 0)
        }
    }

    @Test(
        "never blocks 1,000 random writes of another process, and its index equals the database afterwards",
        arguments: ["WAL", "DELETE"])
    func writes(mode: String) async throws {
        try install()
        let app = try database("notes.db", "PRAGMA journal_mode=\(mode);")
        try app.run("BEGIN")
        for number in 1...300 { try app.run("INSERT INTO notes VALUES (\(number), 'Note \(number)', 'body', 0, NULL)") }
        try app.run("COMMIT")
        let script = """
            import random, sqlite3, sys
            random.seed(int(sys.argv[2]))
            database = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
            busy = 0
            for number in range(1000):
                key = random.randrange(1, 600)
                try:
                    kind = random.randrange(3)
                    if kind == 0:
                        database.execute("INSERT OR REPLACE INTO notes VALUES (?, ?, 'new', ?, NULL)",
                                         (key, "Note %d of %d" % (number, key), number))
                    elif kind == 1:
                        database.execute("UPDATE notes SET body = ?, t = ? WHERE id = ?", ("b%d" % number, number, key))
                    else:
                        database.execute("DELETE FROM notes WHERE id = ?", (key,))
                except sqlite3.OperationalError as error:
                    busy += "locked" in str(error) or "busy" in str(error)
            print("busy", busy)
            """
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(Self.bundle)
            let environment = ["PATH": "/usr/bin:/bin"]
            let path = app.path
            let writer = Task.detached {
                try CFixture.run(
                    "/usr/bin/env", ["python3", "-c", script, path, "\(MutationLoop.seed)"], environment: environment)
            }
            let isOver = Mutex(false)
            let watching = Task {
                let result = try await writer.value
                isOver.withLock { $0 = true }
                return result
            }
            var (updates, waits) = (0, 0)
            while !isOver.withLock({ $0 }) {
                // While another process writes continuously, a copy may fail. The change then stays
                // pending.
                do { try await update(engine, app.path) } catch { waits += 1 }
                updates += 1
            }
            let (status, output) = try await watching.value
            #expect(status == 0 && output.trimmingCharacters(in: .whitespacesAndNewlines) == "busy 0", "\(output)")
            #expect(updates > 0)
            try await update(engine, app.path)
            let comparison = try await engine.compare(Self.bundle)
            #expect(comparison.isEqual, "\(comparison) after \(updates) updates, \(waits) without a state")
        }
    }

    @Test("is followed by the host: the database and its log are watched without being named")
    func watched() throws {
        try install()
        let manifest = try ExtensionBundle(at: harness.extensions + "/\(Self.bundle).searchext").manifest
        guard case .some(let paths) = manifest.access.watchedPaths else {
            throw BundleProblem.missingKey("WatchedPaths")
        }
        #expect(paths.map(\.description) == ["$HOME/Notes/notes.db*"])
    }

    @Test("is rejected with the key, the column and a suggestion")
    func refused() throws {
        func reason(_ files: [String] = ["~/Notes/notes.db"], item: [String: Any] = [:]) throws -> String {
            try? FileManager.default.removeItem(atPath: harness.extensions + "/\(Self.bundle).searchext")
            try install(files, item: item)
            do throws(BundleProblem) {
                _ = try ExtensionBundle(at: harness.extensions + "/\(Self.bundle).searchext")
            } catch {
                return error.description
            }
            return "none"
        }
        #expect(try reason() == "none")
        let column = try reason(item: ["Attributes": ["title": "{titel}"]])
        #expect(
            column.contains(
                "Searchlight.Database.Items.1.Attributes.title in its Info.plist, column “titel”: The SELECT")
                && column.contains("Did you mean title?"), "\(column)")
        #expect(try reason(item: ["Sellect": "x"]).contains("Did you mean Select?"))
        #expect(try reason(["~/Elsewhere/notes.db"]).contains("whose folder ReadablePaths has"))
        #expect(try reason(["~/Notes/notes.db", "relative.db"]).contains("\"relative.db\""))
        #expect(try reason(item: ["Select": "SELECT 1; SELECT 2"]).contains("two statements"))
    }

    @Test("is read in pages")
    func pages() async throws {
        try install()
        let app = try database()
        try app.run("BEGIN")
        for number in 1...120 { try app.run("INSERT INTO notes VALUES (\(number), 'Note \(number)', 'body', 0, NULL)") }
        try app.run("COMMIT")
        var limits = ReindexPageLimits()
        limits.items = 25
        let engine = try harness.engine(pages: limits)
        let count = try await engine.reindexAll(Self.bundle)
        #expect(count == 120)
        #expect(try await engine.compare(Self.bundle).isEqual)
        _ = donated.take()
        try await update(engine, app.path)
        #expect(donated.take() == 0)
        await engine.close()
    }

    @Test("passes the validator")
    func judged() async throws {
        try install()
        let app = try database("notes.db", "PRAGMA journal_mode=WAL;")
        try app.run(
            "INSERT INTO notes VALUES (1, 'Ferry', 'pier', 1, x'89504e470d0a1a0a00'), (2, 'Café <i>', 'x & y', 2, NULL)"
        )
        let bundle = harness.extensions + "/\(Self.bundle).searchext"
        let report = try await harness.validate(bundle, ValidationCheck.judgeable)
        #expect(report.problems == [], "\(report.problems)")
    }
}
