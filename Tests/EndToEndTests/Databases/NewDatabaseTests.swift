// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Testing

/// “searchlight extensions new --language database”: from an unknown database to items that are
/// found.
@Suite("A new extension for a database", .timeLimit(.minutes(10)))
struct NewDatabaseTests {
    private let command: Command
    private var harness: Harness { command.harness }

    init() throws { command = Command(harness: try Harness()) }

    @Test("is built, installed and searched as it was proposed")
    func whole() throws {
        let app = try AppDatabase(
            harness.folder + "/Tasks/tasks.db",
            """
            PRAGMA journal_mode=WAL;
            CREATE TABLE tasks(id INTEGER PRIMARY KEY, title TEXT, note TEXT, changed INTEGER, project INTEGER);
            CREATE TABLE projects(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE settings(k INTEGER, v INTEGER);
            INSERT INTO tasks VALUES (1, 'Book the ferry', 'pier <three>', 1600000000000, 1), (2, 'Pack', NULL, 1600000000001, 1);
            INSERT INTO projects VALUES (1, 'Heligoland');
            INSERT INTO settings VALUES (1, 2);
            """)
        let folder = harness.folder + "/project"
        let made = try command(
            "extensions", "new", "com.example.tasks", app.path, "--language", "database", "--directory", folder)
        #expect(made.status == 0, "\(made.output)")
        #expect(made.output.contains("tasks (2 rows): title title, text note"), "\(made.output)")
        #expect(made.output.contains("not used: settings"), "\(made.output)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                "Info.plist", "Makefile", "README.md",
            ])
        let build = try command.shell("make -s -C project install SEARCHLIGHT=\"$SEARCHLIGHT\"")
        #expect(build.status == 0, "\(build.output)")
        let reindex = try command("reindex", "com.example.tasks")
        #expect(reindex.status == 0 && reindex.output.contains("3 items indexed"), "\(reindex.output)")
        #expect(try command("search", "ferry three").output.contains("Book the ferry"))
        let info = try command("extensions", "info", "com.example.tasks")
        #expect(info.output.contains("task: rows of ~/Tasks/tasks.db"), "\(info.output)")
    }

    @Test("is not made of files that are foreign, without texts or not readable, and the reason is reported")
    func refused() throws {
        let text = harness.folder + "/Tasks/readme.txt"
        _ = try AppDatabase(harness.folder + "/Tasks/numbers.db", "CREATE TABLE n(a INTEGER); INSERT INTO n VALUES (1)")
        _ = try AppDatabase(
            harness.folder + "/home.db", "CREATE TABLE n(id INTEGER, title TEXT); INSERT INTO n VALUES (1, 'x')")
        try Data(repeating: 65, count: 200).write(to: URL(filePath: text))
        func new(_ arguments: String...) throws -> (status: Int32, output: String) {
            try command(["extensions", "new", "com.example.tasks", "-d", harness.folder + "/project"] + arguments)
        }
        let foreign = try new(text, "-l", "database")
        #expect(foreign.status == 1 && foreign.output.contains("not an SQLite database"), "\(foreign.output)")
        #expect(!foreign.output.contains("items"), "\(foreign.output)")
        try Data().write(to: URL(filePath: text))
        let empty = try new(text, "-l", "database")
        #expect(empty.status == 1 && empty.output.contains("is empty: the app has not created"), "\(empty.output)")
        let nothing = try new(harness.folder + "/Tasks/numbers.db", "-l", "database")
        #expect(nothing.status == 2 && nothing.output.contains("No table of"), "\(nothing.output)")
        let home = try new(harness.folder + "/home.db", "-l", "database")
        #expect(home.status == 4 && home.output.contains("cannot read that file"), "\(home.output)")
        #expect(try new("-l", "database").status == 64 && new(text, "-l", "c").status == 64)
        #expect(!FileManager.default.fileExists(atPath: harness.folder + "/project"))
    }
}
