// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Promises
import SearchlightEngine
import Synchronization
import Testing

/// The Bookmarks extension, written in C, with the real worker and store.
@Suite("Bookmarks", .timeLimit(.minutes(10)))
struct BookmarksTests {
    private let harness: Harness
    private let bundle: String

    init() throws {
        harness = try Harness()
        bundle = try harness.installBookmarks()
    }

    private func titles(_ engine: SearchlightEngine, _ text: String) async throws -> [String] {
        try await engine.search(text, bundle: nil, limit: 20).hits.map(\.item.displayTitle)
    }

    @Test("The bookmarks of a running Firefox are found, shown and dragged, and no file is left beside its files")
    func firefox() async throws {
        let profile = try FirefoxProfile(home: harness.folder)
        try profile.addFolder(10, "Code. Languages", parent: 3)
        try profile.addFolder(11, "programming", parent: 4)
        try profile.add(20, "https://swift.example/a b?x=1&y=\"2\"", "Swift <language> home", parent: 10)
        try profile.add(21, "javascript:alert(1)", "Bookmarklet")
        try profile.add(22, "place:sort=8", "Recent")
        try profile.add(23, "data:text/html,x", "Data")
        try profile.run(
            """
            INSERT INTO moz_bookmarks(id, type, fk, parent, guid) VALUES (30, 1, 20, 11, 'tagged');
            INSERT INTO moz_bookmarks(id, type, parent, guid) VALUES (31, 3, 3, 'separator');
            INSERT INTO moz_keywords(keyword, place_id) VALUES ('sw', 20);
            UPDATE moz_places SET visit_count = 7, last_visit_date = 1700000000000000, description = 'Fast & safe' WHERE id = 20;
            BEGIN;
            """)
        try profile.add(40, "https://uncommitted.example/", "Not committed")
        let before = try FileManager.default.contentsOfDirectory(atPath: profile.folder).sorted()
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            let item = try await engine.item(named: "firefox/x1y2.default/guid-20")
            #expect(item.displayTitle == "Swift <language> home")
            #expect(item.contentType == "public.url")
            #expect(item.record.domainIdentifier == "firefox.x1y2%2Edefault.Bookmarks Toolbar.Code%2E Languages")
            #expect(item.record.text("contentURL") == "https://swift.example/a%20b?x=1&y=%222%22")
            #expect(item.record.text("contentDescription") == "Fast & safe")
            #expect(item.record.text("containerDisplayName") == "Bookmarks Toolbar › Code. Languages")
            #expect(item.record.texts("keywords") == ["sw", "programming"])
            #expect(item.record.attributes["com_searchlight_bookmarks_visitCount"] == .integer(7))
            #expect(item.record.attributes["addedDate"] == .date(1_600_000_000 - 978_307_200))
            #expect(item.record.attributes["lastUsedDate"] == .date(1_700_000_000 - 978_307_200))
            #expect(item.record.expiration == .never)
            for words in ["languages toolbar", "swift.example", "programming"] {
                #expect(try await titles(engine, words) == ["Swift <language> home"], "\(words)")
            }

            let address = "https://swift.example/a%20b?x=1&y=%222%22"
            let expected = [
                "public.url": address,
                "public.html":
                    "<a href=\"https://swift.example/a%20b?x=1&amp;y=%222%22\">Swift &lt;language&gt; home</a>",
                "public.utf8-plain-text": "Swift <language> home\n\(address)\n",
                "com.microsoft.internet-shortcut": "[InternetShortcut]\r\nURL=\(address)\r\n",
            ]
            for (type, text) in expected {
                let path = harness.folder + "/drop"
                _ = try await engine.drag(item, accepted: [type], to: .file(path: path))
                #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
            }
            let location = harness.folder + "/drop.webloc"
            _ = try await engine.drag(item, accepted: ["com.apple.web-internet-location"], to: .file(path: location))
            let list = try PropertyListSerialization.propertyList(
                from: try Data(contentsOf: URL(filePath: location)), format: nil)
            #expect(list as? [String: String] == ["URL": address])

            let preview = try await engine.preview(of: item, query: "SWIFT lang")
            let html = String(decoding: preview.content, as: UTF8.self)
            #expect(preview.source == .extension)
            #expect(html.contains("<mark>Swift</mark> &lt;<mark>lang</mark>uage&gt; home"))
            #expect(html.contains("<td>programming</td>") && html.contains("2020-09-13"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: profile.folder).sorted() == before)
        #expect(harness.messages.contains { $0.contains("3 bookmarks left out") }, "\(harness.messages)")
    }

    @Test("An exported file is read with its folders, tags and descriptions, in any encoding")
    func exported() async throws {
        try harness.export(
            """
                <DT><H3 PERSONAL_TOOLBAR_FOLDER="true">Bookmarks Toolbar</H3>
                <DD>Add bookmarks to this folder
                <DL><p>
                    <DT><A HREF="https://debian.example/" ADD_DATE="1500000000" TAGS="linux,distro">The &lt;OS&gt; caf\u{E9}</A>
                    <DD>All about it
                    <HR>
                    <DT><A HREF="javascript:void(0)">Script</A>
                    <DT><H3>Inner</H3>
                    <DL><p>
                        <DT><A HREF="https://inner.example/">Inner page</A>
                    </DL><p>
                    <DT><A HREF="https://after.example/">After the folder</A>
                </DL><p>
                <DT><A HREF="https://last.example/">Last</A>
            """)
        let old = "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF='https://old.example/'>Fa\u{FF}ade \0 x</A></DL>"
        let latin = old.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        try FileManager.default.createDirectory(
            atPath: harness.folder + "/Downloads", withIntermediateDirectories: true)
        try Data(latin).write(to: URL(filePath: harness.folder + "/Downloads/bookmarks.html"))
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 5)
            func item(_ words: String) async throws -> [String?] {
                let hit = try #require(try await engine.search(words, bundle: nil, limit: 1).hits.first?.item)
                return [
                    hit.displayTitle, hit.record.text("containerDisplayName"), hit.record.text("contentDescription"),
                ]
            }
            #expect(try await item("debian") == ["The <OS> café", "Bookmarks Toolbar", "All about it"])
            #expect(try await item("\"inner page\"") == ["Inner page", "Bookmarks Toolbar › Inner", nil])
            #expect(try await item("after") == ["After the folder", "Bookmarks Toolbar", nil])
            #expect(try await item("last") == ["Last", nil, nil])
            #expect(try await item("old") == ["Faÿade x", nil, nil])
        }
    }

    @Test("Chromium's bookmarks are found in each of its profiles")
    func chromium() async throws {
        let text = """
            {"roots": {"bookmark_bar": {"children": [{"children": [{"date_added": "13300000000000000", "guid": "g-1",
            "name": "Inner", "type": "url", "url": "https://inner.example/"}], "name": "Sub", "type": "folder"}],
            "name": "Bookmarks bar", "type": "folder"}}, "version": 1}
            """
        for profile in ["Default", "Profile 3"] {
            let folder = harness.folder + "/config/chromium/" + profile
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(text.replacing("Inner", with: profile).utf8).write(to: URL(filePath: folder + "/Bookmarks"))
        }
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
            let item = try await engine.item(named: "chromium/Profile%203/g-1")
            #expect(item.record.text("containerDisplayName") == "Bookmarks bar › Sub")
            #expect(item.record.attributes["addedDate"] == .date(13_300_000_000 - 11_644_473_600 - 978_307_200))
        }
    }

    @Test("The name of a root folder is one line and cut, like other names")
    func chromiumRoot() async throws {
        let name = "Bar\\nof marks " + String(repeating: "x", count: 5000)
        let text = """
            {"roots": {"bookmark_bar": {"children": [{"guid": "g-1", "name": "One", "type": "url",
            "url": "https://one.example/"}], "name": "\(name)", "type": "folder"}}, "version": 1}
            """
        let folder = harness.folder + "/config/chromium/Default"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: folder + "/Bookmarks"))
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            let item = try await engine.item(named: "chromium/Default/g-1")
            let path = try #require(item.record.text("containerDisplayName"))
            #expect(path.hasPrefix("Bar of marks xxx") && path.count == 200)
        }
    }

    @Test("A bookmark that was also exported is shown once, and comes from the export if the profile is deleted")
    func duplicates() async throws {
        let profile = try FirefoxProfile(home: harness.folder)
        try profile.add(20, "https://one.example/", "One")
        try harness.export("<DT><A HREF=\"https://one.example/\">One</A>\n<DT><A HREF=\"https://one.example/\">Uno</A>")
        try await harness.withEngine { engine async throws in
            // "Uno" is another bookmark.
            #expect(try await engine.reindexAll(bundle) == 2)
            #expect(try await engine.item(named: "firefox/x1y2.default/guid-20").displayTitle == "One")
            try FileManager.default.removeItem(atPath: harness.folder + "/.mozilla")
            #expect(try await engine.reindexAll(bundle) == 2)
            let hit = try #require(try await engine.search("one", bundle: nil, limit: 1).hits.first)
            #expect(hit.item.record.uniqueIdentifier.hasPrefix("html/"))
        }
    }

    @Test("Changes are found by the next request: named items are donated or deleted, and promises follow")
    func changes() async throws {
        let profile = try FirefoxProfile(home: harness.folder)
        for number in 20..<23 { try profile.add(number, "https://site\(number).example/", "Site \(number)") }
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 3)
            let kept = try await engine.item(named: "firefox/x1y2.default/guid-20")
            let removed = try await engine.item(named: "firefox/x1y2.default/guid-21")
            try profile.run(
                "UPDATE moz_bookmarks SET title = 'Renamed' WHERE id = 20; DELETE FROM moz_bookmarks WHERE id = 21;")
            let path = harness.folder + "/drop.txt"
            _ = try await engine.drag(kept, accepted: ["public.utf8-plain-text"], to: .file(path: path))
            #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("Renamed\n"))
            let refusal = await #expect(throws: EngineError.self) {
                _ = try await engine.drag(removed, accepted: ["public.url"], to: .file(path: path))
            }
            guard case .extension(.failed(_, _, .notFound, _))? = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
            let names = [kept, removed].map(\.record.uniqueIdentifier) + ["firefox/x1y2.default/never"]
            #expect(try await engine.reindexItems(Set(names), of: bundle) == 2)
            #expect(try await titles(engine, "renamed") == ["Renamed"])
        }
    }

    @Test(
        "An exported file that is created or replaced while a worker runs is read by the next request")
    func exportedLater() async throws {
        let started = Mutex(0)
        harness.listen { event in if case .started = event { started.withLock { $0 += 1 } } }
        let path = harness.folder + "/Downloads/bookmarks.html"
        func export(_ title: String) throws {
            try harness.export("<DT><A HREF=\"https://\(title).example/\">\(title)</A>", to: "Downloads/new.html")
            try #require(rename(harness.folder + "/Downloads/new.html", path) == 0)
        }
        try harness.export("<DT><A HREF=\"https://first.example/\">first</A>")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            #expect(try await engine.reindexAll(bundle) == 1)
            #expect(started.withLock { $0 } == 1)
            try export("second")
            #expect(try await engine.reindexAll(bundle) == 2)
            try export("third")
            #expect(try await engine.reindexAll(bundle) == 2)
            #expect(try await titles(engine, "third") == ["third"])
            let item = try #require(try await engine.search("third", bundle: nil, limit: 1).hits.first?.item)
            _ = try await engine.drag(item, accepted: ["public.url"], to: .file(path: harness.folder + "/drop"))
            // The folder did not exist when the first worker started, so a second one was started.
            #expect(started.withLock { $0 } == 2)
        }
    }

    @Test("2,500 bookmarks survive a worker that is killed between pages")
    func killedBetweenPages() async throws {
        let profile = try FirefoxProfile(home: harness.folder)
        try profile.run("BEGIN")
        for number in 100..<2600 { try profile.add(number, "https://site\(number).example/", "Site \(number)") }
        try profile.run("COMMIT")
        let worker = Mutex<(process: Int32, wasKilled: Bool)>((0, false))
        harness.listen { event in
            worker.withLock { worker in
                switch event {
                case .started(_, let process): worker.process = process
                case .donated where !worker.wasKilled:
                    worker.wasKilled = true
                    kill(worker.process, SIGKILL)
                default: break
                }
            }
        }
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2500)
            #expect(engine.owedJobs.isEmpty)
        }
        #expect(worker.withLock { $0.wasKilled })
    }
}
