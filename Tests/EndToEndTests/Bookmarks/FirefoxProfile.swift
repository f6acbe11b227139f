// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDBSQLite
import Testing

/// A Firefox profile while the browser runs: a locked `places.sqlite`, with the latest changes in
/// its write-ahead log.
final class FirefoxProfile {
    let folder: String
    private let database: OpaquePointer

    /// - Parameters:
    ///   - home: The home folder.
    ///   - root: The path of Firefox's profile folder, relative to the home folder.
    init(home: String, root: String = ".mozilla/firefox", name: String = "x1y2.default") throws {
        let root = home + "/" + root
        folder = root + "/" + name
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let settings = "[Profile0]\nName=default\nIsRelative=1\nPath=\(name)\n\n[General]\nVersion=2\n"
        try Data(settings.utf8).write(to: URL(filePath: root + "/profiles.ini"))
        var opened: OpaquePointer?
        try #require(sqlite3_open(folder + "/places.sqlite", &opened) == SQLITE_OK)
        database = try #require(opened)
        try run(
            """
            PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;
            CREATE TABLE moz_places(id INTEGER PRIMARY KEY, url TEXT, title TEXT, visit_count INTEGER DEFAULT 0,
                last_visit_date INTEGER, guid TEXT, description TEXT);
            CREATE TABLE moz_bookmarks(id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER, parent INTEGER,
                position INTEGER, title TEXT, dateAdded INTEGER, lastModified INTEGER, guid TEXT UNIQUE);
            CREATE TABLE moz_keywords(id INTEGER PRIMARY KEY, keyword TEXT UNIQUE, place_id INTEGER);
            INSERT INTO moz_bookmarks(id, type, parent, title, guid) VALUES
                (1, 2, 0, '', 'root________'), (2, 2, 1, 'menu', 'menu________'), (3, 2, 1, 'toolbar', 'toolbar_____'),
                (4, 2, 1, 'tags', 'tags________'), (5, 2, 1, 'unfiled', 'unfiled_____');
            PRAGMA wal_checkpoint(TRUNCATE);
            """)
    }

    deinit { sqlite3_close(database) }

    var places: String { folder + "/places.sqlite" }

    /// Executes statements as the browser does.
    func run(_ text: String) throws {
        var message: UnsafeMutablePointer<CChar>?
        let result = sqlite3_exec(database, text, nil, nil, &message)
        defer { sqlite3_free(message) }
        try #require(result == SQLITE_OK, "\(message.map { String(cString: $0) } ?? "")")
    }

    /// Adds a page and a bookmark for it, with the same number.
    func add(_ number: Int, _ address: String, _ title: String, parent: Int = 5, date: Int = 1_600_000_000) throws {
        let address = address.replacing("'", with: "''")
        let title = title.replacing("'", with: "''")
        try run(
            """
            INSERT INTO moz_places(id, url, title) VALUES (\(number), '\(address)', 'page');
            INSERT INTO moz_bookmarks(id, type, fk, parent, title, dateAdded, lastModified, guid)
                VALUES (\(number), 1, \(number), \(parent), '\(title)', \(date)000000, \(date)000000, 'guid-\(number)');
            """)
    }

    func addFolder(_ number: Int, _ title: String, parent: Int) throws {
        try run(
            """
            INSERT INTO moz_bookmarks(id, type, parent, title, guid)
                VALUES (\(number), 2, \(parent), '\(title)', 'guid-\(number)');
            """)
    }
}

extension Harness {
    /// Installs Bookmarks with the harness's folder as its home, and returns its identifier.
    func installBookmarks() throws -> String {
        let identifier = "com.searchlight.bookmarks"
        let bundle = extensions + "/\(identifier).searchext"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: BuiltProducts.repository + "/Plugins/Bookmarks/Info.plist", toPath: bundle + "/Info.plist")
        try FileManager.default.copyItem(
            atPath: try BuiltProducts.bookmarksLibrary(), toPath: bundle + "/libBookmarks.so")
        try FileManager.default.createDirectory(atPath: folder + "/Documents", withIntermediateDirectories: true)
        return identifier
    }

    /// Writes a file as a browser exports it, with the content of its outermost list.
    func export(_ list: some StringProtocol, to name: String = "Documents/bookmarks.html") throws {
        let page = """
            <!DOCTYPE NETSCAPE-Bookmark-file-1>
            <!-- This is an automatically generated file. -->
            <META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
            <TITLE>Bookmarks</TITLE>
            <H1>Bookmarks Menu</H1>

            <DL><p>
            \(list)
            </DL>

            """
        let path = URL(filePath: folder + "/" + name)
        try FileManager.default.createDirectory(at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(page.utf8).write(to: path)
    }
}
