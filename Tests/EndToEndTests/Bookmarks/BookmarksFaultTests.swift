// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ExtensionValidation
import Foundation
import SearchlightEngine
import Testing

/// Unexpected objects at the paths that the Bookmarks extension reads.
@Suite("Bookmarks and bad input", .timeLimit(.minutes(10)))
struct BookmarksFaultTests {
    private let harness: Harness
    private let bundle: String

    init() throws {
        harness = try Harness()
        bundle = try harness.installBookmarks()
        try harness.export("<DT><A HREF=\"https://good.example/\">Good</A>")
    }

    /// The possible objects at a database's path.
    enum Fault: CaseIterable {
        case noDatabase, empty, damaged, loop, dangling, pipe, folder, huge
    }

    @Test("An invalid places.sqlite fails the reindex, and all other bookmarks are found", arguments: Fault.allCases)
    func badDatabase(_ fault: Fault) async throws {
        let folder = harness.folder + "/.mozilla/firefox/x1y2.default"
        let places = folder + "/places.sqlite"
        do { _ = try FirefoxProfile(home: harness.folder) }
        let whole = try Data(contentsOf: URL(filePath: places))
        try FileManager.default.removeItem(atPath: places)
        switch fault {
        case .noDatabase: try Data("<html>".utf8).write(to: URL(filePath: places))
        case .empty: try Data().write(to: URL(filePath: places))
        case .damaged: try damaged(whole).write(to: URL(filePath: places))
        case .loop: try FileManager.default.createSymbolicLink(atPath: places, withDestinationPath: "places.sqlite")
        case .dangling: try FileManager.default.createSymbolicLink(atPath: places, withDestinationPath: "nowhere")
        case .pipe: try #require(mkfifo(places, 0o600) == 0)
        case .folder: try FileManager.default.createDirectory(atPath: places, withIntermediateDirectories: true)
        case .huge:
            try #require(FileManager.default.createFile(atPath: places, contents: nil))
            try #require(truncate(places, 2 << 30) == 0)
        }
        try await harness.withEngine { engine async throws in
            guard fault != .dangling, fault != .pipe, fault != .folder else {
                // The file is not a profile database, so the reindex succeeds without it.
                #expect(try await engine.reindexAll(bundle) == 1)
                #expect(engine.owedJobs.isEmpty)
                let skipped = harness.messages.filter { $0.hasPrefix("skipped: \(places)") }
                #expect(skipped.count == (fault == .dangling ? 0 : 1), "\(harness.messages)")
                return
            }
            let failure = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            #expect("\(String(describing: failure))".contains(places))
            #expect(try await engine.search("good", bundle: nil, limit: 2).hits.count == 1)
            #expect(engine.owedJobs.count == 1)
        }
    }

    /// Returns a database with a valid header and damaged content.
    private func damaged(_ whole: Data) -> Data {
        var bytes = whole
        for place in stride(from: 1100, to: bytes.count, by: 3) { bytes[place] = 0xAA }
        return bytes
    }

    @Test(
        "The bookmarks of a damaged places.sqlite stay, even in a new worker, until it is repaired or deleted"
    )
    func damagedLater() async throws {
        do {
            let profile = try FirefoxProfile(home: harness.folder)
            try profile.run("BEGIN")
            for number in 100..<2600 { try profile.add(number, "https://site\(number).example/", "Kept \(number)") }
            try profile.run("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
        }
        let places = harness.folder + "/.mozilla/firefox/x1y2.default/places.sqlite"
        let whole = try Data(contentsOf: URL(filePath: places))
        try await harness.withEngine { engine async throws in #expect(try await engine.reindexAll(bundle) == 2501) }
        try damaged(whole).write(to: URL(filePath: places))
        // Enough bookmarks for a page to end between them and the database's bookmarks.
        let links = (0..<1500).map { "<DT><A HREF=\"https://new\($0).example/\">New \($0)</A>" }
        try harness.export(links.joined(separator: "\n"))
        for _ in 0..<2 {
            try await harness.withEngine { engine async throws in
                for _ in 0..<2 {
                    let failure = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
                    #expect(
                        "\(String(describing: failure))".contains("\(places) cannot be read as bookmarks of Firefox"))
                }
                #expect(try await engine.search("\"kept 2599\"", bundle: nil, limit: 2).hits.count == 1)
                #expect(try await engine.search("\"new 1499\"", bundle: nil, limit: 2).hits.count == 1)
            }
        }
        // The file is valid again, so everything is donated, including the bookmarks before the
        // page that failed.
        try whole.write(to: URL(filePath: places))
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 4000)
            #expect(engine.owedJobs.isEmpty)
        }
        try damaged(whole).write(to: URL(filePath: places))
        try await harness.withEngine { engine async throws in
            await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            try FileManager.default.removeItem(atPath: places)
            #expect(try await engine.reindexAll(bundle) == 1500)
        }
    }

    @Test(
        "The bookmarks of an exported file that became invalid stay, even in a new worker, until it is valid or deleted",
        arguments: ["", "<html>no bookmarks</html>", "\u{0}\u{1}garbage"])
    func exportedLater(_ text: String) async throws {
        let file = harness.folder + "/Documents/bookmarks.html"
        let spoil = { try Data(text.utf8).write(to: URL(filePath: file)) }
        try await harness.withEngine { engine async throws in #expect(try await engine.reindexAll(bundle) == 1) }
        try spoil()
        for _ in 0..<2 {
            try await harness.withEngine { engine async throws in
                for _ in 0..<2 {
                    let failure = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
                    #expect("\(String(describing: failure))".contains("\(file) is no longer a bookmarks file"))
                }
                #expect(try await engine.search("good", bundle: nil, limit: 2).hits.count == 1)
                #expect(engine.owedJobs.count == 1)
            }
        }
        try harness.export("<DT><A HREF=\"https://new.example/\">New</A>")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            #expect(engine.owedJobs.isEmpty)
            #expect(try await engine.search("new", bundle: nil, limit: 2).hits.count == 1)
            // The worker that has read the file knows that too.
            try spoil()
            await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            try FileManager.default.removeItem(atPath: file)
            #expect(try await engine.reindexAll(bundle) == 0)
        }
        // From the start, the damaged file was never an exported bookmarks file.
        try spoil()
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 0)
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("Bookmarks deleted from other files are removed while one file is damaged")
    func deletedBesideDamaged() async throws {
        let places = harness.folder + "/.mozilla/firefox/x1y2.default/places.sqlite"
        do {
            let profile = try FirefoxProfile(home: harness.folder)
            try profile.add(20, "https://kept.example/", "Kept")
            try profile.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try harness.export("<DT><A HREF=\"https://a.example/\">Stays</A>\n<DT><A HREF=\"https://b.example/\">Goes</A>")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 3)
            try damaged(try Data(contentsOf: URL(filePath: places))).write(to: URL(filePath: places))
            try harness.export("<DT><A HREF=\"https://a.example/\">Stays</A>")
            let failure = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            #expect("\(String(describing: failure))".contains("stay as they were"))
            let counts = try await engine.itemCounts()
            #expect(counts.values.reduce(0, +) == 2, "\(counts)")
            for (title, count) in [("kept", 1), ("stays", 1), ("goes", 0)] {
                #expect(try await engine.search(title, bundle: nil, limit: 2).hits.count == count, "\(title)")
            }
        }
    }

    @Test("A damaged file of Chromium's loses no bookmark, and a page without bookmarks adds none")
    func damagedOthers() async throws {
        let folder = harness.folder + "/config/chromium/Default"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = """
            {"roots": {"bookmark_bar": {"children": [{"guid": "g-1", "name": "Kept", "type": "url",
            "url": "https://kept.example/"}], "name": "Bar", "type": "folder"}}, "version": 1}
            """
        try Data(text.utf8).write(to: URL(filePath: folder + "/Bookmarks"))
        try Data("<html>no bookmarks</html>".utf8).write(
            to: URL(filePath: harness.folder + "/Documents/bookmarks.html"))
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            #expect(harness.messages.count { $0.hasPrefix("skipped: ") } == 1, "\(harness.messages)")
            // A second reindex does not read the unchanged file again, but still reports it.
            for _ in 0..<2 {
                let leftOut = try await engine.account(of: bundle).leftOut
                #expect(leftOut.map(\.reason) == ["not a file of bookmarks"], "\(leftOut)")
                #expect(leftOut.first?.examples == [harness.folder + "/Documents/bookmarks.html"])
                _ = try await engine.reindexAll(bundle)
            }
            try Data(text.dropLast(30).utf8).write(to: URL(filePath: folder + "/Bookmarks"))
            let failure = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            #expect("\(String(describing: failure))".contains("cannot be read as bookmarks of Chromium"))
            #expect(try await engine.search("kept", bundle: nil, limit: 2).hits.count == 1)
        }
    }

    @Test("Missing folders of the list are reported in one line, and nothing else changes")
    func missingFolders() async throws {
        let settings = harness.folder + "/config/com.searchlight.bookmarks"
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        try harness.export("<DT><A HREF=\"https://listed.example/\">Listed</A>", to: "there/mine.html")
        let list = "# mine\n~/there\n~/nowhere\n\(harness.folder)/gone/away\n~/Documents/bookmarks.html\nrelative\n"
        try Data(list.utf8).write(to: URL(filePath: settings + "/folders"))
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
            #expect(engine.owedJobs.isEmpty)
            let leftOut = try await engine.account(of: bundle).leftOut
            #expect(leftOut.map(\.reason) == ["entries of the settings that name no folder"], "\(leftOut)")
        }
        let told = harness.messages.filter { $0.hasPrefix("skipped: ") }
        #expect(told.count == 1, "\(harness.messages)")
        for name in ["~/nowhere", "\(harness.folder)/gone/away", "~/Documents/bookmarks.html", "relative"] {
            #expect(told.first?.contains(name) == true, "\(told)")
        }
        #expect(told.first?.contains("~/there") == false)
    }

    @Test("While a file cannot be read its bookmarks stay, and the others are up to date")
    func unreadable() async throws {
        do {
            let profile = try FirefoxProfile(home: harness.folder)
            try profile.add(20, "https://kept.example/", "Kept")
        }
        let places = harness.folder + "/.mozilla/firefox/x1y2.default/places.sqlite"
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
        }
        // A worker that root starts has none of root's privileges, so permission bits restrict it
        // too.
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: places)
        try harness.export("<DT><A HREF=\"https://new.example/\">New</A>")
        try await harness.withEngine { engine async throws in
            let failure = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            #expect("\(String(describing: failure))".contains("places.sqlite cannot be opened"))
            #expect(try await engine.search("kept", bundle: nil, limit: 1).hits.count == 1)
            #expect(try await engine.search("new", bundle: nil, limit: 1).hits.count == 1)
            #expect(!engine.owedJobs.isEmpty)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: places)
            #expect(try await engine.reindexAll(bundle) == 2)
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("Folders may be nested ten thousand deep")
    func deep() async throws {
        var list = ""
        for level in 0..<10_000 { list += "<DT><H3>level \(level)</H3><DL><p>\n" }
        list += "<DT><A HREF=\"https://deep.example/\">Deepest</A>\n"
        list += String(repeating: "</DL><p>\n", count: 10_000)
        try harness.export(list + "<DT><A HREF=\"https://top.example/\">Top</A>")
        let profile = try FirefoxProfile(home: harness.folder)
        try profile.run("BEGIN")
        for level in 100..<10_100 { try profile.addFolder(level, "f\(level)", parent: level == 100 ? 3 : level - 1) }
        // A cycle without a root.
        try profile.run("INSERT INTO moz_bookmarks(id, type, parent, guid) VALUES (50, 2, 51, 'a'), (51, 2, 50, 'b')")
        try profile.add(20_000, "https://bottom.example/", "Bottom", parent: 10_099)
        try profile.add(20_001, "https://circle.example/", "Circle", parent: 50)
        try profile.run("COMMIT")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 3)
            let top = try #require(try await engine.search("top", bundle: nil, limit: 1).hits.first)
            #expect(top.item.record.text("containerTitle") == nil)
            let bottom = try #require(try await engine.search("bottom", bundle: nil, limit: 1).hits.first)
            let path = try #require(bottom.item.record.text("containerDisplayName"))
            #expect(path.hasPrefix("Bookmarks Toolbar › f100 › f101") && path.utf8.count < 8192)
        }
    }

    @Test("passes the validator")
    func validator() async throws {
        let profile = try FirefoxProfile(home: harness.folder)
        for number in 20..<30 {
            try profile.add(number, "https://site\(number).example/ü", "Site <\(number)>", parent: 3)
        }
        let report = try await harness.validate(harness.extensions + "/\(bundle).searchext", ValidationCheck.judgeable)
        let others = report.checks.filter { $0.result.kind != .passed }
        // The extension must read the browsers' profiles, whose names are unpredictable. All other
        // checks pass.
        #expect(others.map(\.check) == [.manifest], "\(others.map { "\($0.check): \($0.result)" })")
        let manifest = try report.result(.manifest)
        #expect(manifest.kind == .warning)
        #expect(manifest.reason?.split(separator: "\n").count == 1, "\(manifest.reason ?? "")")
        #expect(manifest.reason?.contains("passwords and sessions") == true)
    }

    @Test("links neither CoreSpotlight nor the Swift runtime")
    func plainC() throws {
        let (status, text) = try CFixture.run("/usr/bin/env", ["readelf", "-d", try BuiltProducts.bookmarksLibrary()])
        let needed = text.split(separator: "\n").filter { $0.contains("(NEEDED)") }
        try #require(status == 0 && !needed.isEmpty, "\(text)")
        #expect(!needed.contains { $0.contains("swift") || $0.contains("CoreSpotlight") }, "\(needed)")
    }

    @Test("The readers pass damaged files under the address and undefined-behaviour sanitizers")
    func sanitizers() throws {
        let profile = try FirefoxProfile(home: harness.folder)
        try profile.addFolder(10, "Folder", parent: 3)
        for number in 20..<40 {
            try profile.add(number, "https://site\(number).example/", "Site \(number)", parent: 10)
        }
        try profile.run("PRAGMA wal_checkpoint(PASSIVE)")
        try harness.export(
            (0..<20).map {
                "<DT><H3>F\($0)</H3><DL><p><DT><A HREF=\"https://s\($0).example/\">é \($0)</A><DD>text</DL>"
            }
            .joined(separator: "\n"))
        let json = """
            {"roots": {"other": {"name": "Other", "type": "folder", "children": [
            {"type": "url", "name": "N", "url": "https://n.example/", "guid": "g", "date_added": "13300000000000000"}]}}}
            """
        try Data(json.utf8).write(to: URL(filePath: harness.folder + "/Bookmarks"))
        let backup = """
            {"type": "text/x-moz-place-container", "children": [{"type": "text/x-moz-place-container", "title": "T",
            "children": [{"type": "text/x-moz-place", "title": "B", "uri": "https://xn--mnchen-3ya.example/%C3%BC",
            "guid": "g", "tags": "a,b"}]}]}
            """
        try Data(backup.utf8).write(to: URL(filePath: harness.folder + "/backup.json"))
        // A run of bytes whose last byte, a space, is repeated four times.
        let text = Array(backup.utf8) + [0x20]
        let header = Array("mozLz40\0".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: (text.count + 4) >> (8 * $0)) }
        let length = Array(repeating: UInt8(255), count: (text.count - 15) / 255) + [UInt8((text.count - 15) % 255)]
        let block = [0xF0] + length + text + [1, 0, 0]
        try Data(header + block).write(to: URL(filePath: harness.folder + "/backup.jsonlz4"))
        let japanese = Array(
            "<!DOCTYPE NETSCAPE-Bookmark-file-1><meta charset=sjis><DL><DT><A HREF='https://xn--p8j9a0d9c9a.example/'>"
                .utf8)
        try Data(japanese + [0x93, 0xFA, 0x96, 0x7B] + Array("</A></DL>".utf8)).write(
            to: URL(filePath: harness.folder + "/japanese.html"))
        let folder = harness.folder + "/check"
        let (built, log) = try CFixture.run(
            "/usr/bin/env",
            ["make", "--silent", "-C", BuiltProducts.repository + "/Plugins/Bookmarks", "check", "BUILD=\(folder)"])
        try #require(built == 0, "\(log)")
        let files = [
            ("firefox", profile.places), ("netscape", harness.folder + "/Documents/bookmarks.html"),
            ("chromium", harness.folder + "/Bookmarks"), ("backup", harness.folder + "/backup.json"),
            ("backup", harness.folder + "/backup.jsonlz4"), ("netscape", harness.folder + "/japanese.html"),
        ]
        for (kind, file) in files {
            let (status, text) = try CFixture.run(
                folder + "/check", ["fuzz", kind, file, "7", "300", folder + "/scratch"],
                environment: ["TMPDIR": harness.folder, "PATH": "/usr/bin:/bin"])
            #expect(status == 0 && text.hasPrefix("300 damaged files"), "\(kind): \(text)")
        }
    }
}
