// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDBSQLite
import TestSupport
import Testing

@testable import DatabaseBindings
@testable import ExtensionRuntime

/// A database that an app keeps open.
final class OpenDatabase {
    let path: String
    private let database: OpaquePointer

    init(_ path: String, _ text: String) throws {
        self.path = path
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
        try #require(result == SQLITE_OK, "\(message.map { String(cString: $0) } ?? "")")
    }
}

@Suite("The copy of an app's database")
struct DatabaseReaderTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/app's notes%20?.db" }

    init() throws { folder = try TemporaryFolder() }

    private func reader() throws -> DatabaseReader {
        try DatabaseReader(path, watch: ReadingWatch(now: { .zero }))
    }

    private func titles(_ reader: DatabaseReader) throws -> [String] {
        let rows = try reader.select("SELECT title FROM notes ORDER BY id")
        var titles: [String] = []
        while let row = try rows.next() { titles.append(row["TITLE"].text ?? "") }
        return titles
    }

    private func failure(_ body: () throws -> some Any) -> String {
        do { _ = try body() } catch {
            return (error as? BindingFailure)?.message ?? (error as? SelectProblem)?.message ?? "\(error)"
        }
        return "none"
    }

    private static let table = "CREATE TABLE notes(id INTEGER PRIMARY KEY, title TEXT);"

    @Test(
        "has the committed rows with each lock and journal of an app, and leaves no file beside the database",
        arguments: [
            "", "PRAGMA journal_mode=WAL;", "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;",
            "PRAGMA locking_mode=EXCLUSIVE;", "PRAGMA journal_mode=PERSIST;", "PRAGMA journal_mode=TRUNCATE;",
            "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;", "PRAGMA page_size=512; PRAGMA journal_mode=WAL;",
        ])
    func modes(settings: String) throws {
        let app = try OpenDatabase(path, settings + Self.table)
        try app.run("INSERT INTO notes(title) VALUES ('one'), ('two'); UPDATE notes SET title = 'zwei' WHERE id = 2")
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let reader = try reader()
        #expect(try titles(reader) == ["one", "zwei"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
        // The app is not blocked while the copy is read, and the copy does not change.
        let rows = try reader.select("SELECT title FROM notes")
        _ = try rows.next()
        try app.run("INSERT INTO notes(title) VALUES ('three'); DELETE FROM notes WHERE id = 1")
        #expect(try titles(reader) == ["one", "zwei"])
        #expect(try titles(try self.reader()) == ["zwei", "three"])
    }

    @Test("has no part of an uncommitted transaction, and the rows that a checkpoint moved")
    func transactions() throws {
        let app = try OpenDatabase(path, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;" + Self.table)
        try app.run("INSERT INTO notes(title) VALUES ('one')")
        // The cache spills, so that the log contains frames without a commit.
        try app.run(
            """
            PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN; UPDATE notes SET title = 'changed';
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO notes(title) SELECT hex(randomblob(200)) FROM n;
            """)
        #expect(try titles(try reader()) == ["one"])
        try app.run("COMMIT; PRAGMA wal_checkpoint(PASSIVE)")
        #expect(try titles(try reader()).count == 3001)
        try app.run("INSERT INTO notes(id, title) VALUES (0, 'null')")
        #expect(try titles(try reader()).prefix(2) == ["null", "changed"])
        // Everything is in the log, including the tables.
        let young = try OpenDatabase(folder.path + "/young.db", "PRAGMA journal_mode=WAL;" + Self.table)
        try young.run("INSERT INTO notes(title) VALUES ('new')")
        let reader = try DatabaseReader(young.path, watch: ReadingWatch(now: { .zero }))
        #expect(try titles(reader) == ["new"])
    }

    @Test("is repeated while the app writes, up to a limit, and then fails with the reason")
    func retries() throws {
        let app = try OpenDatabase(path, Self.table)
        // The app writes while the copy is made.
        var writes = 3
        func write() -> Bool {
            writes -= 1
            if writes >= 0 { try? app.run("INSERT INTO notes(title) VALUES ('again')") }
            return true
        }
        let snapshot = try DatabaseSnapshot(of: path, goesOn: write) { _ in }
        unlink(snapshot.path)
        #expect(writes < 0)
        writes = .max
        let busy = failure { try DatabaseSnapshot(of: path, goesOn: write) { _ in } }
        #expect(busy.contains("written without a pause"), "\(busy)")
        // After a spilled transaction the file is half changed, as its rollback journal shows.
        try app.run("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN; UPDATE notes SET title = hex(zeroblob(9000))")
        let open = failure { try DatabaseSnapshot(of: path, goesOn: { true }) { _ in } }
        #expect(open.contains("transaction that is not finished"), "\(open)")
        #expect(failure { try DatabaseSnapshot(of: path, goesOn: { false }) { _ in } }.contains("cancelled"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }

    @Test("fails with the name of a file that is foreign, empty, missing or not regular")
    func foreign() throws {
        #expect(failure { try reader() }.contains("cannot be opened"))
        try Data().write(to: URL(filePath: path))
        #expect(failure { try reader() }.contains("is empty"))
        try Data("A few words, and no database.".utf8).write(to: URL(filePath: path))
        #expect(failure { try reader() }.contains("not an SQLite database"))
        var random = SplitMix64(seed: MutationLoop.seed)
        try Data((0..<8192).map { _ in UInt8.random(in: 0...255, using: &random) }).write(to: URL(filePath: path))
        #expect(failure { try reader() }.contains("not an SQLite database, or is encrypted"))
        unlink(path)
        try #require(mkfifo(path, 0o600) == 0)
        #expect(failure { try reader() }.contains("is not a regular file"))
        unlink(path)
        try #require(symlink("/dev/zero", path) == 0)
        #expect(failure { try reader() }.contains("is not a regular file"))
        unlink(path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(failure { try reader() }.contains("is not a regular file"))
    }

    @Test("has the frames of the log beside a link's target")
    func link() throws {
        let app = try OpenDatabase(folder.path + "/real.db", "PRAGMA journal_mode=WAL;" + Self.table)
        try #require(symlink("real.db", path) == 0)
        try app.run("INSERT INTO notes(title) VALUES ('one')")
        #expect(try titles(try reader()) == ["one"])
    }

    @Test("is made although the log is a pipe or a link to itself")
    func hostileLog() throws {
        _ = try OpenDatabase(path, Self.table + "INSERT INTO notes(title) VALUES ('one')")
        try #require(mkfifo(path + "-wal", 0o600) == 0 && mkfifo(path + "-journal", 0o600) == 0)
        #expect(try titles(try reader()) == ["one"])
        unlink(path + "-wal")
        try #require(symlink((path as NSString).lastPathComponent + "-wal", path + "-wal") == 0)
        #expect(try titles(try reader()) == ["one"])
    }

    @Test("returns rows up to a limit, and stops before sorting fills the disk")
    func bounds() throws {
        _ = try OpenDatabase(
            path, Self.table + "INSERT INTO notes(title) VALUES ('1'), ('2'), ('3'), ('4'), ('5'), ('6'), ('7'), ('8')")
        let few = try DatabaseReader(path, watch: ReadingWatch(now: { .zero }), maximumRows: 100)
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        for select in [endless, "SELECT a.id FROM notes a, notes b, notes c"] {
            let reason = failure {
                let rows = try few.select(select)
                while try rows.next() != nil {}
            }
            #expect(reason.contains("returns more than 100 rows; add a WHERE"), "\(reason)")
        }
        let full = try DatabaseReader(path, watch: ReadingWatch(now: { .zero }, hasRoom: { false }))
        let reason = failure { try full.select("SELECT * FROM (\(endless)) ORDER BY i").next() }
        #expect(reason.contains("sorts more rows than fit on the disk"), "\(reason)")
    }

    @Test("omits too large values and reads the other values of the row")
    func sizes() throws {
        let app = try OpenDatabase(path, "CREATE TABLE t(id INTEGER PRIMARY KEY, a BLOB, b TEXT);")
        try app.run("INSERT INTO t VALUES (1, zeroblob(17 << 20), 'one'), (2, x'07', 'two')")
        let reader = try reader()
        let rows = try reader.select("SELECT a, b FROM t ORDER BY id")
        let first = try #require(try rows.next())
        #expect(first["a"] == .blob([]) && first.isFirstCut && first.isCut(["A"]) && first["b"] == .text("one"))
        let second = try #require(try rows.next())
        #expect(second["a"] == .blob([7]) && !second.isFirstCut && !second.isCut(["a", "b"]))
        // If a value exceeds the maximum row size, only statements without that value can be read.
        try app.run("UPDATE t SET a = zeroblob(65 << 20) WHERE id = 1")
        let later = try self.reader()
        #expect(try later.select("SELECT b FROM t ORDER BY id").next()?["b"] == .text("one"))
        #expect(failure { try later.select("SELECT a FROM t ORDER BY id").next() }.contains("more memory"))
    }

    @Test("returns rows or an error for damage at random offsets, and never ends the process")
    func damage() throws {
        let app = try OpenDatabase(path, "PRAGMA page_size=1024; PRAGMA journal_mode=WAL;" + Self.table)
        for number in 0..<200 {
            try app.run("INSERT INTO notes(title) VALUES ('\(String(repeating: "x", count: number))')")
        }
        let parts = try [path, path + "-wal"].map { try Data(contentsOf: URL(filePath: $0)) }
        let other = folder.path + "/damaged.db"
        var random = SplitMix64(seed: MutationLoop.seed)
        for round in 0..<150 {
            for (part, ending) in zip(parts, ["", "-wal"]) {
                var bytes = part
                for _ in 0..<(1 + round / 10) where !bytes.isEmpty {
                    bytes[random.below(bytes.count)] = UInt8.random(in: 0...255, using: &random)
                }
                try bytes.prefix(round % 5 == 0 ? random.below(bytes.count + 1) : bytes.count)
                    .write(to: URL(filePath: other + ending))
            }
            _ = failure { try titles(try DatabaseReader(other, watch: ReadingWatch(now: { .zero }))) }
        }
    }

    @Test(
        "can only be read",
        arguments: [
            "ATTACH DATABASE '/tmp/x.db' AS x", "PRAGMA writable_schema=1", "INSERT INTO notes VALUES (9, 'x')",
            "DELETE FROM notes", "DROP TABLE notes", "CREATE TEMP TABLE x(a)", "VACUUM INTO '/tmp/x.db'",
            "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT randomblob(9)",
            "SELECT zeroblob(9)",
            "SELECT fts3_tokenizer('simple')", "SELECT * FROM pragma_table_info('notes')", "SELECT sqlite_version()",
            "BEGIN",
            "EXPLAIN SELECT 1", "ANALYZE", "", "SELECT 1 AS a, titel FROM notes",
        ])
    func authorizer(statement: String) throws {
        let app = try OpenDatabase(path, Self.table)
        try app.run("INSERT INTO notes(title) VALUES ('one')")
        let reader = try reader()
        let reason = failure {
            let rows = try reader.select(statement)
            while try rows.next() != nil {}
        }
        // EXPLAIN reads nothing, and pragma functions fail when they run.
        #expect(reason != "none" || statement.hasPrefix("EXPLAIN"), "\(statement)")
        #expect(try titles(reader) == ["one"])
    }

    @Test("allows functions without side effects, views, FTS5 tables and table functions of JSON")
    func allowed() throws {
        let app = try OpenDatabase(path, Self.table)
        try app.run(
            """
            INSERT INTO notes(title) VALUES ('["a", "b"]');
            CREATE VIEW v AS SELECT upper(title) AS title FROM notes;
            CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('pier three');
            """)
        let reader = try reader()
        for (statement, text) in [
            ("SELECT group_concat(value, '|') AS x FROM notes, json_each(title)", "a|b"),
            ("SELECT title AS x FROM v", "[\"A\", \"B\"]"),
            ("SELECT body AS x FROM f WHERE f MATCH 'pier'", "pier three"),
            ("SELECT strftime('%Y', 0, 'unixepoch') || printf('%03d', 7) AS x", "1970007"),
            ("SELECT row_number() OVER (ORDER BY id) AS x FROM notes", "1"),
            ("SELECT :folder AS x", folder.path),
        ] {
            #expect(try reader.select(statement).next()?["x"].text == text, "\(statement)")
        }
    }

    @Test("stops statements that take too long for a row or were cancelled")
    func time() throws {
        _ = try OpenDatabase(path, Self.table)
        var calls = 0
        let watch = ReadingWatch(now: {
            calls += 1
            return .seconds(calls)
        })
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS m FROM n"
        let reader = try DatabaseReader(path, watch: watch)
        #expect(failure { try reader.select(endless).next() }.contains("takes more than 60 s"))
        calls = 0
        watch.serve(cancelled: { calls > 10 }) {}
        #expect(failure { try reader.select(endless).next() }.contains("cancelled"))
        // The next request starts with its own time limit.
        watch.serve(cancelled: { false }) {}
        #expect(try reader.select("SELECT 1 AS a").next()?["a"] == .integer(1))
    }

    @Test("has a schema within the time of one statement, without endless views")
    func endlessViews() throws {
        let view = "AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS title FROM n;"
        _ = try OpenDatabase(
            path,
            Self.table + "INSERT INTO notes(title) VALUES ('one');"
                + (0..<9).map { "CREATE VIEW v\($0) \(view)" }.joined())
        var seconds = 0
        let watch = ReadingWatch(
            now: {
                seconds += 1
                return .seconds(seconds)
            }, isPerRow: false)
        let schema = try DatabaseSchema.read(try DatabaseReader(path, watch: watch), samples: 5)
        #expect(schema.tables.map(\.name) == ["notes"])
        #expect(seconds < 200, "\(seconds)")
    }

    @Test("reports the missing table or column, and the existing ones")
    func schema() throws {
        _ = try OpenDatabase(path, "CREATE TABLE note_items(id INTEGER PRIMARY KEY, name TEXT, body TEXT);")
        func problem(_ select: String, _ title: String = "{t}") throws -> String {
            let binding = try DatabaseBinding(
                json: """
                    {"Files": ["a"], "Items": [{"Name": "n", "Select": "\(select)", "Key": "id",
                        "Attributes": {"title": "\(title)"}}]}
                    """)
            return failure { try SchemaCheck.fit(binding, try reader()) }
        }
        let table = try problem("SELECT id, name AS t FROM notes")
        #expect(table.contains("Items.1.Select: no such table: notes") && table.contains("note_items"), "\(table)")
        let column = try problem("SELECT id, title AS t FROM note_items")
        #expect(column.contains("no such column: title") && column.contains("note_items (id, name, body)"), "\(column)")
        #expect(
            try problem("SELECT * FROM note_items").contains(
                "Attributes.title: the SELECT does not return the column t"))
        #expect(try problem("SELECT * FROM note_items", "{NAME}") == "none")
    }

    @Test("has a schema with samples of each table")
    func samples() throws {
        _ = try OpenDatabase(
            path, Self.table + "INSERT INTO notes(title) VALUES ('one'), ('two'); CREATE VIEW v AS SELECT 1 AS a;")
        let schema = try DatabaseSchema.read(try reader(), samples: 5)
        #expect(schema.tables.map(\.name) == ["notes", "v"] && schema.tables[0].rows == 2)
        #expect(schema.tables[0].columns.map(\.name) == ["id", "title"])
        #expect(schema.tables[0].columns[1].samples == [.text("one"), .text("two")])
    }

    @Test("has the primary key of one column, and knows tables and views without row numbers")
    func keys() throws {
        _ = try OpenDatabase(
            path,
            """
            CREATE TABLE books(isbn TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID;
            CREATE TABLE pairs(a, b, name TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
            CREATE TABLE "o'clock"(hour INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE plain(name TEXT);
            INSERT INTO books VALUES ('1-2', 'Moby'); INSERT INTO plain VALUES ('x');
            CREATE VIEW shown AS SELECT name FROM plain;
            """)
        let tables = try DatabaseSchema.read(try reader(), samples: 5).tables
        #expect(tables.map(\.name) == ["books", "pairs", "o'clock", "plain", "shown"])
        #expect(tables.map(\.primaryKey) == ["isbn", nil, "hour", nil, nil])
        #expect(tables.map(\.hasRowNumbers) == [false, false, true, true, false])
    }
}

@Suite("The files of a database binding")
struct DatabaseFilesTests {
    @Test(
        "match patterns in which * stands for any characters",
        arguments: [
            ("abc", "abc", true), ("abc", "a*", true), ("abc", "*c", true), ("abc", "*", true), ("abc", "a*b*c*", true),
            ("abc", "b*", false), ("", "*", true), ("aXbXc", "a*b*d", false), ("a?c", "a?c", true),
            ("abc", "a?c", false),
        ])
    func match(name: String, pattern: String, isMatch: Bool) {
        #expect(DatabaseFiles.isMatch(name, pattern) == isMatch)
    }

    @Test("are found in all profiles, and known by their log and journal")
    func find() throws {
        let folder = try TemporaryFolder()
        for name in ["one/places.sqlite", "two/places.sqlite", "two/other.sqlite", "places.sqlite"] {
            let path = URL(filePath: folder.path + "/" + name)
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: path)
        }
        let binding = try DatabaseBinding(
            json: """
                {"Files": ["\(folder.path)/*/places.sqlite", "\(folder.path)/absent.db", "\(folder.path)/away/x.db"],
                 "Items": [{"Name": "n", "Select": "SELECT 1 AS a", "Key": "a", "Attributes": {"title": "{a}"}}]}
                """)
        let files = DatabaseFiles(binding)
        let found = files.find()
        #expect(found.files.map(\.path) == ["one", "two"].map { "\(folder.path)/\($0)/places.sqlite" })
        #expect(found.absent == ["\(folder.path)/absent.db"] && found.away == ["\(folder.path)/away/x.db"])
        #expect(files.hasTags && Set(found.files.map(\.tag)).count == 2)
        for ending in ["", "-wal", "-journal", "-shm"] {
            #expect(files.database(of: found.files[0].path + ending) == found.files[0])
        }
        #expect(files.database(of: folder.path + "/two/other.sqlite") == nil)
        #expect(files.database(of: folder.path + "/a/b/places.sqlite") == nil)
        // A pipe at the path of a named file is detected, so reading it fails and its items are
        // kept.
        try #require(mkfifo(folder.path + "/absent.db", 0o600) == 0)
        try #require(mkdir(folder.path + "/three", 0o700) == 0)
        #expect(files.find().files.first?.path == folder.path + "/absent.db" && files.find().absent == [])
        #expect(files.find().files.count == 3 && !files.find().isCut)
        for number in 0..<DatabaseLimits.matchedFiles {
            let profile = folder.path + "/p\(number)"
            try #require(mkdir(profile, 0o700) == 0)
            try Data().write(to: URL(filePath: profile + "/places.sqlite"))
        }
        #expect(files.find().files.count == DatabaseLimits.matchedFiles && files.find().isCut)
    }

    @Test("have a cursor that is equal after writing and reading")
    func cursor() throws {
        let binding = try DatabaseBinding(
            json: """
                {"Files": ["a"], "Items": [{"Name": "n", "Select": "SELECT 1 AS a", "Key": "a", "Attributes":
                    {"title": "{a}"}}]}
                """)
        var digests = RowDigests(of: binding)
        digests.add("n/1", [.text("x")])
        for key in [RowKey?.none, .integer(-4), .text("a\n\"b\u{1}é")] {
            var cursor = ReindexCursor(file: "/a \"b\"", digests: digests)
            (cursor.item, cursor.key, cursor.failure) = (3, key, key == nil ? nil : "no")
            #expect(cursor.bytes.count < 4096 && ReindexCursor(cursor.bytes, of: binding) == cursor)
        }
        for bytes in [[], Array("{}".utf8), Array(#"{"file":"a","item":99,"rows":""}"#.utf8)] as [[UInt8]] {
            #expect(ReindexCursor(bytes, of: binding) == nil)
        }
    }
}
