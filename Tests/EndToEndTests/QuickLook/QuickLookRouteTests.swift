// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import QuickLookServer
import SearchlightEngine
import Testing

/// The answers to the page's requests, from a real engine and a real worker.
@Suite("Quick Look", .timeLimit(.minutes(10)))
struct QuickLookRouteTests {
    private func withNotebook(_ body: (QuickLookSession, SearchlightEngine) async throws -> Void) async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            try await engine.settle()
            try await body(QuickLookSession(engine), engine)
        }
    }

    @Test("A search gives titles and passages in pieces, with the found words marked")
    func search() async throws {
        try await withNotebook { session, _ in
            let answer = try await session.get("api/search", ["q": "beta"])
            #expect(answer.status == 200 && answer.headers["Content-Type"] == "application/json")
            let hits = try #require(try answer.json()["hits"] as? [[String: Any]])
            try #require(hits.count == 1)
            let title = try #require(hits[0]["title"] as? [[String: Any]])
            #expect(title.map { $0["text"] as? String } == ["Beta", " sheet"])
            #expect(title.map { $0["found"] as? Bool } == [true, false])
            #expect(hits[0]["date"] as? Double == 978_307_200)
            #expect(hits[0]["icon"] as? String == "text")
            let offer = try #require(hits[0]["offer"] as? [String: String])
            #expect(offer["file"] == "Beta sheet.html" && offer["media"] == "text/html")
        }
    }

    @Test("A misspelled word is corrected, unless the page asks for the text as typed")
    func corrections() async throws {
        try await withNotebook { session, _ in
            let answer = try await session.get("api/search", ["q": "betta sheet"]).json()
            let correction = try #require(answer["correction"] as? [[String: Any]])
            #expect(correction.map { $0["text"] as? String } == ["beta", " sheet"])
            #expect(correction.map { $0["found"] as? Bool } == [true, false])
            let hits = try #require(answer["hits"] as? [[String: Any]])
            let title = try #require(hits.first?["title"] as? [[String: Any]])
            #expect(title.map { $0["text"] as? String } == ["Beta", " ", "sheet"])
            let typed = try await session.get("api/search", ["q": "betta", "typed": "1"]).json()
            #expect((typed["hits"] as? [Any])?.isEmpty == true && typed["correction"] == nil)
        }
    }

    @Test("The page gets suggestions for its field")
    func suggestions() async throws {
        try await withNotebook { session, _ in
            let answer = try await session.get("api/suggest", ["q": "bet"]).json()
            let suggestions = try #require(answer["suggestions"] as? [[String: Any]])
            #expect(suggestions.map { $0["text"] as? String } == ["Beta", "Beta sheet"])
            #expect(suggestions.first?["kind"] as? String == "completion")
            #expect(suggestions.first?["count"] as? Int == 1 && suggestions.first?["isExact"] as? Bool == true)
            let page = try await session.get("")
            #expect(page.text.contains("<ul id=\"suggestions\" role=\"listbox\""))
        }
    }

    @Test("An item is opened in its app, and the page is notified if no app opens it")
    func opened() async throws {
        let harness = try Harness()
        let (log, program) = (harness.folder + "/log", harness.folder + "/app")
        try FileManager.default.createDirectory(
            atPath: harness.folder + "/data/applications", withIntermediateDirectories: true)
        try "#!/bin/sh\necho \"$@\" >> '\(log)'\n".write(toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        try "[Desktop Entry]\nType=Application\nName=Notes\nExec=\(program) %u\n".write(
            toFile: harness.folder + "/data/applications/org.example.notes.desktop", atomically: true, encoding: .utf8)
        try await harness.withEngine { engine async throws in
            for bundle in ["org.example.notes", "org.example.none"] {
                let record = ItemRecord(uniqueIdentifier: bundle, attributes: ["url": .url("note:1")])
                try await QuickLookSession.donate([record], to: engine, bundle: bundle)
            }
            let environment = [
                "HOME": harness.folder, "XDG_DATA_HOME": harness.folder + "/data", "XDG_DATA_DIRS": "/nothing",
                "PATH": "/usr/bin:/bin",
            ]
            let session = QuickLookSession(engine, environment: environment)
            let number = try await session.number(of: "org.example.notes")
            #expect(try await session.get("api/open/\(number)").status == 405)
            #expect(!FileManager.default.fileExists(atPath: log))
            let answer = try await session.post("api/open/\(number)", ["q": "no"])
            #expect(answer.status == 200)
            #expect(try answer.json()["app"] as? String == "Notes")
            #expect(try String(contentsOfFile: log, encoding: .utf8) == "note:1\n")
            let none = try await session.post("api/open/\(try await session.number(of: "org.example.none"))")
            #expect(none.status == 406)
            #expect((try none.json()["error"] as? String)?.hasPrefix("No app opens") == true)
        }
    }

    @Test("A search has the number of items, and is narrowed by app and kind on every page of hits")
    func narrowed() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            for (bundle, type, count) in [
                ("org.example.notes", "public.html", 60), ("org.example.notes", "com.adobe.pdf", 5),
                ("org.example.mail", "public.html", 3),
            ] {
                let records = (0..<count).map {
                    ItemRecord(
                        uniqueIdentifier: "\(type) \($0)",
                        attributes: ["title": .string("Ferry \($0)"), "contentType": .string(type)])
                }
                try await QuickLookSession.donate(records, to: engine, bundle: bundle)
            }
            let session = QuickLookSession(engine)
            func found(_ arguments: [String: String]) async throws -> (
                hits: [[String: Any]], count: Int?, next: String?
            ) {
                let answer = try await session.get("api/search", ["q": "fer"].merging(arguments) { $1 }).json()
                let total = answer["total"] as? [String: Any]
                return (
                    try #require(answer["hits"] as? [[String: Any]]), total?["count"] as? Int, answer["next"] as? String
                )
            }
            #expect(try await found([:]).count == 68)
            let notes = try await found(["app": "org.example.notes", "kind": "public.html"])
            #expect(notes.count == 60 && notes.hits.count == 40)
            #expect(notes.hits.allSatisfy { $0["app"] as? String == "org.example.notes" })
            #expect(notes.hits.allSatisfy { $0["type"] as? String == "public.html" })
            let next = try #require(notes.next)
            let rest = try await found(["app": "org.example.notes", "kind": "public.html", "cursor": next])
            #expect(rest.hits.count == 20 && rest.count == nil && rest.next == nil)
            #expect(rest.hits.allSatisfy { $0["app"] as? String == "org.example.notes" })
            #expect(try await found(["kind": "com.adobe.pdf"]).count == 5)
            #expect(try await found(["app": "org.example.mail", "kind": ""]).count == 3)
            #expect(try await found(["app": "nobody"]).count == 0)
            // The typed words are highlighted, but filters are not.
            let title = try #require(notes.hits[0]["title"] as? [[String: Any]])
            #expect(title.filter { $0["found"] as? Bool == true }.compactMap { $0["text"] as? String } == ["Fer"])
            // A cursor from a search without filters is not valid with a filter.
            let other = try await session.get(
                "api/search", ["q": "fer", "app": "org.example.mail", "cursor": next])
            #expect(other.status == 410)
            for kind in ["pdf or -x", "pdf", "a..b", "\"x.y\""] {
                #expect(try await session.get("api/search", ["q": "fer", "kind": kind]).status == 400, "\(kind)")
            }
        }
    }

    @Test("Markup in items stays text for the page")
    func markup() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let hostile = "<script>alert(1)</script>\u{202E}\"><img src=x onerror=alert(1)>"
            try await QuickLookSession.donate(
                [
                    ItemRecord(
                        uniqueIdentifier: "x",
                        attributes: [
                            "title": .string("ferry " + hostile), "textContent": .string("ferry " + hostile),
                            "contentType": .string("public.plain-text"),
                        ])
                ], to: engine, bundle: "com.example.hostile")
            let session = QuickLookSession(engine, query: "\"><script>alert(1)</script>")
            let page = try await session.get("")
            #expect(page.status == 200 && !page.text.contains("<script>"))
            #expect(page.text.contains("value=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\""))
            // The text appears in no displayed page. In JSON it is data, under a policy that runs
            // nothing.
            let found = try await session.get("api/search", ["q": "ferry"])
            #expect(found.headers["Content-Security-Policy"]?.hasPrefix("sandbox; default-src 'none'") == true)
            #expect(found.headers["X-Content-Type-Options"] == "nosniff")
            let preview = try await session.get("preview/\(try await session.number(of: "x"))/frame")
            #expect(preview.text.contains("&lt;script&gt;") && !preview.text.contains("<script"))
            #expect(!preview.text.contains("<img"))
        }
    }

    @Test("The user's actions on the page are counted with the typed text")
    func engaged() async throws {
        try await withNotebook { session, engine in
            let number = try await session.number(of: "beta")
            for (kind, status) in [("preview", 200), ("drag", 200), ("select", 400), ("", 400)] {
                #expect(try await session.get("api/engaged/\(number)", ["q": "She", "kind": kind]).status == status)
            }
            #expect(try await session.get("api/engaged/9999", ["q": "She", "kind": "drag"]).status == 404)
            let history = try await engine.history(limit: 10)
            #expect(history.entries.map(\.uniqueIdentifier) == ["beta"])
            #expect(history.entries[0].texts.map(\.typed) == ["She"] && history.entries[0].total.events == 2)
            let found = try await session.get("api/search", ["q": "she"]).json()["hits"] as? [[String: Any]]
            #expect(found?.first?["id"] as? String == "\(number)")
        }
    }

    @Test("The page runs only its own script, and previews run none")
    func policies() async throws {
        try await withNotebook { session, _ in
            let page = try await session.get("")
            let policy = try #require(page.headers["Content-Security-Policy"])
            for part in ["default-src 'none'", "script-src 'self'", "frame-src 'self'", "frame-ancestors 'none'"] {
                #expect(policy.contains(part))
            }
            #expect(!policy.contains("unsafe"))
            for file in ["style.css", "script.js", "icon.svg"] {
                #expect(page.text.contains("\"\(file)\""))
                #expect(try await session.get(file).status == 200)
            }
            #expect(!page.text.contains("http://") && !page.text.contains("https://"))
            let frame = try await session.get("preview/\(try await session.number(of: "alpha"))/frame")
            let own = try #require(frame.headers["Content-Security-Policy"])
            #expect(own.hasPrefix("sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none';"))
            for answer in [page, frame] {
                #expect(answer.headers["Cache-Control"] == "no-store")
                #expect(answer.headers["Referrer-Policy"] == "no-referrer")
                #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
            }
        }
    }

    @Test("A preview is described first, and its content is the rendered one")
    func preview() async throws {
        try await withNotebook { session, _ in
            let number = try await session.number(of: "alpha")
            let about = try await session.get("api/preview/\(number)", ["q": "ruled"]).json()
            #expect(about["kind"] as? String == "html" && about["title"] as? String == "A sheet")
            #expect(about["removed"] as? String == "1 script")
            #expect((about["offers"] as? [Any])?.count == 3)
            let content = try await session.get("preview/\(number)/content", ["v": "1"])
            #expect(content.headers["Content-Type"] == "text/html; charset=utf-8")
            #expect(content.text.hasSuffix("<p>alpha <mark>ruled</mark></p></body></html>"))
            // Links open outside. The frame does not control their target.
            #expect(content.text.contains("<base target=\"_blank\">"))
            let again = try await session.get("preview/\(number)/content", ["q": "other"])
            #expect(again.text.contains("alpha <mark>other</mark>"))
        }
    }

    @Test("An item that its extension does not render is shown by its attributes, with the reason")
    func fallback() async throws {
        try await withNotebook { session, _ in
            let number = try await session.number(of: "gamma")
            let about = try await session.get("api/preview/\(number)").json()
            #expect(about["source"] as? String == "attributes")
            #expect(about["problem"] as? String == "gamma cannot be shown")
            let frame = try await session.get("preview/\(number)/frame", ["v": "1"])
            #expect(frame.status == 200 && frame.text.contains("Gamma sheet"))
        }
    }

    @Test("PDF opens in a window of its own, named and without rights; rich text is shown as words")
    func documents() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("documents")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 3)
            let session = QuickLookSession(engine)
            let pdf = try await session.get("api/preview/\(try await session.number(of: "pdf"))").json()
            #expect(pdf["kind"] as? String == "pdf" && pdf["length"] as? Int == 20)
            let opened = try #require(pdf["content"] as? String).split(separator: "?")
            let document = try await session.get(String(opened[0]), ["v": String(opened[1].dropFirst(2))])
            #expect(document.text == "%PDF-1.7 of a report" && document.headers["Content-Type"] == "application/pdf")
            #expect(document.headers["Content-Disposition"]?.hasPrefix("inline; filename=\"A report.pdf\"") == true)
            #expect(document.headers["X-Frame-Options"] == "DENY")
            #expect(document.headers["X-Content-Type-Options"] == "nosniff")
            let policy = try #require(document.headers["Content-Security-Policy"])
            for part in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'none'"] {
                #expect(policy.contains(part))
            }
            let letter = try await session.number(of: "rich")
            let rich = try await session.get("api/preview/\(letter)").json()
            #expect(rich["kind"] as? String == "richText" && (rich["problem"] as? String)?.contains("words") == true)
            let offers = try #require(rich["offers"] as? [[String: Any]])
            #expect(offers.last?["type"] as? String == "public.rtf")
            #expect(offers.last?["url"] as? String == rich["content"] as? String)
            let words = try await session.get("preview/\(letter)/frame", ["q": "ferry"])
            #expect(words.text.contains("The &lt;b&gt;<mark>ferry</mark> leaves\nat noon</pre>"), "\(words.text)")
            #expect(words.headers["Content-Security-Policy"]?.hasPrefix("sandbox") == true)
            let saved = try await session.get("preview/\(letter)/content")
            #expect(saved.headers["Content-Disposition"]?.hasPrefix("attachment; filename=\"A letter.rtf\"") == true)
            // Without query words, the item's attributes are shown.
            let blank = try await session.get("preview/\(try await session.number(of: "blank"))/frame")
            #expect(blank.text.contains("A blank letter") && !blank.text.contains("Secret"))
        }
    }

    @Test("A promise is fulfilled on request, inline, as a stream and from a file, under a safe name")
    func promises() async throws {
        try await withNotebook { session, _ in
            let small = try await session.get(
                "promise/\(try await session.number(of: "alpha"))", ["type": "public.html"])
            #expect(small.status == 200 && small.text == "alpha as public.html")
            #expect(
                small.headers["Content-Disposition"]?.hasPrefix("attachment; filename=\"Alpha sheet.html\"") == true)
            let beta = try await session.number(of: "beta")
            let large = try await session.get("promise/\(beta)", ["type": "public.html"])
            #expect(large.bytes.count == 3 << 20 && large.bytes[1000] == UInt8(1000 % 251))
            let file = try await session.get("promise/\(beta)", ["type": "public.rtf"])
            #expect(file.text == "{\\rtf1 beta}")
            #expect(file.headers["Content-Type"] == "text/rtf" || file.headers["Content-Type"] == "application/rtf")
        }
    }

    @Test(
        "Missing content is answered with a status for the reason",
        arguments: [
            ("promise/ALPHA", ["type": "public.png"], 406), ("promise/GAMMA", ["type": "public.html"], 404),
            ("promise/ALPHA", [:], 406), ("promise/999999", ["type": "public.html"], 404), ("promise/x", [:], 404),
            ("thumbnail/ALPHA", [:], 404), ("thumbnail/-1", [:], 404), ("api/preview/999999", [:], 404),
            ("api/search", ["q": String(repeating: "x", count: 2001)], 414),
            ("api/search", ["q": "x", "cursor": "9"], 410),
            ("api/search", ["q": "x", "page": String(repeating: "x", count: 41), "n": "1"], 400), ("nothing", [:], 404),
            ("preview/ALPHA/../../style.css", [:], 404), ("api", [:], 404),
        ])
    func refusals(path: String, arguments: [String: String], status: Int) async throws {
        try await withNotebook { session, _ in
            let alpha = try await session.number(of: "alpha")
            let gamma = try await session.number(of: "gamma")
            let path = path.replacing("ALPHA", with: "\(alpha)").replacing("GAMMA", with: "\(gamma)")
            let answer = try await session.get(path, arguments)
            #expect(answer.status == status, "\(path): \(answer.text)")
            #expect(try answer.json()["error"] as? String != nil)
        }
    }

    @Test("Results come in pages, and the server keeps the position of the next page")
    func pages() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let records = (0..<90).map {
                ItemRecord(uniqueIdentifier: "\($0)", attributes: ["title": .string("ferry \($0)")])
            }
            try await QuickLookSession.donate(records, to: engine, bundle: "com.example.ferry")
            let session = QuickLookSession(engine)
            var (seen, cursor): (Set<String>, String?) = ([], nil)
            for expected in [40, 40, 10] {
                var arguments = ["q": "ferry"]
                arguments["cursor"] = cursor
                let page = try await session.get("api/search", arguments).json()
                let hits = try #require(page["hits"] as? [[String: Any]])
                #expect(hits.count == expected)
                seen.formUnion(hits.compactMap { $0["id"] as? String })
                cursor = page["next"] as? String
            }
            #expect(seen.count == 90 && cursor == nil)
        }
    }

    @Test("A thumbnail is sent unchanged")
    func thumbnails() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let header: [UInt8] = [
                0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 2, 0, 0,
                0, 2,
                8, 6, 0, 0, 0,
            ]
            try await QuickLookSession.donate(
                [
                    ItemRecord(
                        uniqueIdentifier: "x", attributes: ["title": .string("ferry"), "thumbnailData": .data(header)]),
                    ItemRecord(
                        uniqueIdentifier: "y",
                        attributes: ["title": .string("ferry"), "thumbnailURL": .string("file:///y")]),
                    ItemRecord(uniqueIdentifier: "z", attributes: ["title": .string("ferry")]),
                ], to: engine, bundle: "com.example.picture")
            let session = QuickLookSession(engine)
            let answer = try await session.get("thumbnail/\(try await session.number(of: "x"))")
            #expect(answer.status == 200 && answer.headers["Content-Type"] == "image/png" && answer.bytes == header)
            // The page requests the existing ones.
            let found = try await session.get("api/search", ["q": "ferry"])
            let hits = try #require(try found.json()["hits"] as? [[String: Any]])
            let (x, y) = (try await session.number(of: "x"), try await session.number(of: "y"))
            #expect(hits.count == 3)
            #expect(Set(hits.compactMap { $0["thumbnail"] as? String }) == ["thumbnail/\(x)", "thumbnail/\(y)"])
            #expect(found.bytes.count < 4096)
        }
    }

    @Test("A type that is promised in several forms is offered once")
    func offers() async throws {
        let harness = try Harness()
        try await harness.withEngine { engine async throws in
            let types = ["public.plain-text", "public.html", "public.plain-text"].map { AttributeValue.string($0) }
            let attributes: [String: AttributeValue] = [
                "providerDataTypeIdentifiers": .array(types), "providerFileTypeIdentifiers": .array(types),
                "providerInPlaceFileTypeIdentifiers": .array([.string("public.rtf"), .string("public.html")]),
            ]
            try await QuickLookSession.donate(
                [ItemRecord(uniqueIdentifier: "x", attributes: attributes)], to: engine, bundle: "com.example.app")
            let session = QuickLookSession(engine)
            let about = try await session.get("api/preview/\(try await session.number(of: "x"))").json()
            let offers = try #require(about["offers"] as? [[String: Any]])
            #expect(offers.compactMap { $0["type"] as? String } == ["public.plain-text", "public.html", "public.rtf"])
        }
    }

    @Test("Items have the name of their app: of its extension, of its desktop entry, or its identifier")
    func names() async throws {
        let harness = try Harness()
        let bundle = "com.example.notes"
        try harness.install(
            bundle, library: try CFixture.library("notebook"), manifest: ["CFBundleDisplayName": "Notes of Example"])
        let entries = harness.folder + "/.local/share/applications"
        try FileManager.default.createDirectory(atPath: entries, withIntermediateDirectories: true)
        let entry =
            "[Desktop Entry]\nType=Application\nName[xx]=Nope\nName = Ferry Planner\n[Desktop Action a]\nName=No\n"
        try Data(entry.utf8).write(to: URL(filePath: entries + "/org.example.ferry.desktop"))
        try await harness.withEngine { engine async throws in
            for app in [bundle, "org.example.ferry", "org.example.bare", "../../etc/passwd"] {
                try await QuickLookSession.donate(
                    [ItemRecord(uniqueIdentifier: app, attributes: ["title": .string("ferry")])], to: engine,
                    bundle: app)
            }
            let hits = try await QuickLookSession(engine).get("api/search", ["q": "ferry"]).json()["hits"]
            let names = (hits as? [[String: Any]] ?? []).map { [$0["app"] as? String, $0["bundle"] as? String] }
            #expect(
                Set(names) == [
                    [bundle, "Notes of Example"], ["org.example.ferry", "Ferry Planner"],
                    ["org.example.bare", "org.example.bare"], ["../../etc/passwd", "../../etc/passwd"],
                ])
        }
    }

    @Test("A missing store has no results")
    func noStore() async throws {
        let harness = try Harness()
        let engine = try? harness.engine(.readOnly)
        guard let engine else { return }
        let answer = try await QuickLookSession(engine).get("api/search", ["q": "x"])
        let hits = try answer.json()["hits"] as? [Any]
        #expect(answer.status == 200 && hits?.isEmpty == true)
        await engine.close()
    }
}
