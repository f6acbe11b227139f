// SPDX-License-Identifier: Apache-2.0
import Foundation
import SearchlightEngine
import Testing

/// Browsers' exports: their names, their encodings, and the bookmarks found in them.
@Suite("Exported bookmarks", .timeLimit(.minutes(10)))
struct ExportedBookmarksTests {
    private let harness: Harness
    private let bundle: String

    init() throws {
        harness = try Harness()
        bundle = try harness.installBookmarks()
    }

    private func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        let path = URL(filePath: harness.folder + "/" + name)
        try FileManager.default.createDirectory(at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: path)
    }

    private func titles(_ engine: SearchlightEngine, _ text: String) async throws -> Set<String> {
        Set(try await engine.search(text, bundle: nil, limit: 20).hits.map(\.item.displayTitle))
    }

    /// Returns a backup in Firefox's format.
    private func backup(_ title: String) -> String {
        """
        {"guid":"root________","title":"","index":0,"dateAdded":1700000000000000,"lastModified":1700000000000000,"id":1,\
        "typeCode":2,"type":"text/x-moz-place-container","root":"placesRoot","children":[{"guid":"toolbar_____","title":\
        "toolbar","index":1,"typeCode":2,"type":"text/x-moz-place-container","root":"toolbarFolder","children":[{"guid":"f",\
        "title":"Reading","type":"text/x-moz-place-container","children":[{"guid":"one","title":"\(title)","index":0,\
        "dateAdded":1600000000000000,"lastModified":1650000000000000,"id":9,"typeCode":1,"tags":"blue,green sea",\
        "keyword":"kw","type":"text/x-moz-place","uri":"https://\(title).example/"},{"guid":"two","title":"Query",\
        "type":"text/x-moz-place","uri":"place:sort=8"}]}]}]}
        """
    }

    @Test("Every browser's file name for exports is read, in the folders for documents and downloads")
    func names() async throws {
        let names = [
            "bookmarks.html", "bookmarks_11_26_26.html", "bookmarks_26.11.26.html", "Lesezeichen_26.11.26.html",
            "favorites_11_26_26.html", "favoris_26_11_2026.html", "Opera Bookmarks.html", "Safari Bookmarks.html",
            "Bookmarks.HTM", "お気に入り.html",
        ]
        for (number, name) in names.enumerated() {
            try harness.export(
                "<DT><A HREF=\"https://n\(number).example/\">page\(number)</A>",
                to: (number % 2 == 0 ? "Downloads/" : "Documents/") + name)
        }
        try write(backup("backup").utf8, to: "Downloads/bookmarks-2026-11-26.json")
        // Other files in the folder cause no errors.
        try write("<html><body>A page that was saved".utf8, to: "Downloads/saved.html")
        try write("{\"bookmarks\": []}".utf8, to: "Downloads/package.json")
        try write([], to: "Documents/empty.html")
        try harness.export("<DT><A HREF=\"https://deep.example/\">deep</A>", to: "Downloads/folder/bookmarks.html")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == names.count + 1)
            for number in names.indices { #expect(try await titles(engine, "page\(number)") == ["page\(number)"]) }
            #expect(try await titles(engine, "\"green sea\"") == ["backup"])
            let hit = try #require(try await engine.search("backup", bundle: nil, limit: 1).hits.first)
            #expect(hit.item.record.text("containerDisplayName") == "Bookmarks Toolbar › Reading")
            #expect(hit.item.record.texts("keywords") == ["kw", "blue", "green sea"])
            #expect(hit.item.record.attributes["addedDate"] == .date(1_600_000_000 - 978_307_200))
            #expect(!harness.messages.contains { $0.hasPrefix("skipped: ") }, "\(harness.messages)")
        }
    }

    @Test("Exports are found among many other files in a folder, in any order")
    func manyFiles() async throws {
        func export(_ numbers: Range<Int>) throws {
            for number in numbers {
                try harness.export(
                    "<DT><A HREF=\"https://n\(number).example/\">n\(number)</A>", to: "Downloads/export\(number).html")
            }
        }
        try export(0..<10)
        for number in 0..<10_500 {
            let path = harness.folder + "/Downloads/file\(number).txt"
            try #require(FileManager.default.createFile(atPath: path, contents: nil))
        }
        try export(10..<20)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 20)
        }
    }

    @Test("A folder with too many exported files reports how many are left out")
    func tooMany() async throws {
        for number in 0..<70 {
            try harness.export(
                "<DT><A HREF=\"https://n\(number).example/\">n\(number)</A>", to: "Downloads/export\(number).html")
        }
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 64)
            #expect(harness.messages.contains { $0.hasPrefix("skipped: 6 files") }, "\(harness.messages)")
        }
    }

    /// Returns a block in the LZ4 format: runs of bytes, each except the last followed by the
    /// distance to four or more earlier bytes.
    private func packed(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        var block: [UInt8] = []
        func length(_ count: Int) -> [UInt8] {
            count < 15 ? [] : Array(repeating: 255, count: (count - 15) / 255) + [UInt8((count - 15) % 255)]
        }
        var (start, place) = (0, 0)
        var seen: [[UInt8]: Int] = [:]
        while place + 12 < bytes.count {
            let four = Array(bytes[place..<place + 4])
            let before = seen.updateValue(place, forKey: four)
            guard let before, place - before < 65_536 else {
                place += 1
                continue
            }
            var count = 4
            while place + count + 5 < bytes.count, bytes[before + count] == bytes[place + count] { count += 1 }
            block.append(UInt8(min(place - start, 15) << 4 | min(count - 4, 15)))
            block += length(place - start) + bytes[start..<place]
            block += [UInt8((place - before) & 0xFF), UInt8((place - before) >> 8)] + length(count - 4)
            place += count
            start = place
        }
        block.append(UInt8(min(bytes.count - start, 15) << 4))
        return block + length(bytes.count - start) + bytes[start...]
    }

    @Test("Packed backups of Firefox are read, and a damaged one is reported by name")
    func packedBackup() async throws {
        let text = backup("saffron").replacing("Reading", with: String(repeating: "Reading ", count: 200))
        let count = text.utf8.count
        let whole =
            Array("mozLz40\0".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + packed(text)
        #expect(whole.count < count)
        let name = "bookmarks-2026-11-26_1_abc==.jsonlz4"
        try write(whole, to: "Downloads/" + name)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            #expect(try await titles(engine, "blue") == ["saffron"])
            try write(whole.dropLast(20), to: "Downloads/" + name)
            let failure = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            #expect("\(String(describing: failure))".contains("\(name) cannot be read: it is damaged"))
            #expect(try await titles(engine, "blue") == ["saffron"])
        }
    }

    /// A text in an encoding that a page declares with a label.
    struct Declared: Sendable, CustomTestStringConvertible {
        let label: String
        let bytes: [UInt8]
        let text: String
        var testDescription: String { label }

        init(_ label: String, _ bytes: [UInt8], _ text: String) {
            (self.label, self.bytes, self.text) = (label, bytes, text)
        }

        static let all = [
            Declared("windows-1251", [0xCF, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2], "Привет"),
            Declared("KOI8_R", [0xF0, 0xD2, 0xC9, 0xD7, 0xC5, 0xD4], "Привет"),
            Declared("cyrillic", [0xBF, 0xE0, 0xD8, 0xD2, 0xD5, 0xE2], "Привет"),
            Declared("x-sjis", [0x93, 0xFA, 0x96, 0x7B, 0x8C, 0xEA], "日本語"),
            Declared("x-euc-jp", [0xC6, 0xFC, 0xCB, 0xDC, 0xB8, 0xEC], "日本語"),
            Declared("ISO-2022-JP", Array("\u{1B}$BF|K\\8l\u{1B}(B".utf8), "日本語"),
            Declared("gb2312", [0xD6, 0xD0, 0xCE, 0xC4], "中文"),
            Declared("big5", [0xA4, 0xA4, 0xA4, 0xE5], "中文"),
            Declared("ks_c_5601-1987", [0xC7, 0xD1, 0xB1, 0xB9], "한국"),
            // Browsers treat these labels as windows-1252.
            Declared("iso-8859-1", [0x93, 0x63, 0x61, 0x66, 0xE9, 0x94], "\u{201C}café\u{201D}"),
            Declared("us-ascii", [0x63, 0x61, 0x66, 0xE9], "café"),
            Declared("latin2", [0xB3, 0xF3, 0x64, 0xBC], "łódź"),
            Declared("l5", [0xFD, 0x6C, 0xFD, 0x6B], "ılık"),
            Declared("tis-620", [0xE4, 0xB7, 0xC2], "ไทย"),
            // A page whose declaration is readable cannot be UTF-16, so `utf-16` means UTF-8, as in
            // browsers.
            Declared("utf-16", Array("naïve".utf8), "naïve"),
        ]
    }

    private func page(_ declared: Declared, meta: String) -> [UInt8] {
        let head = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<!-- <meta charset=koi8-u> -->\n\(meta)\n<DL><p>\n"
        return Array((head + "<DT><A HREF=\"https://declared.example/\">").utf8) + declared.bytes
            + Array("</A>\n</DL>\n".utf8)
    }

    @Test("A page is read in its declared encoding, by the labels of the WHATWG", arguments: Declared.all)
    func declared(_ declared: Declared) async throws {
        let metas = [
            "<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=\(declared.label)\">",
            "<meta charset='\(declared.label.uppercased())'>",
        ]
        for (number, meta) in metas.enumerated() {
            try write(page(declared, meta: meta), to: "Downloads/\(number)/bookmarks.html")
            try write(page(declared, meta: meta), to: "Downloads/bookmarks.html")
            try await harness.withEngine { engine async throws in
                #expect(try await engine.reindexAll(bundle) == 1)
                #expect(try await titles(engine, declared.text) == [declared.text])
            }
        }
    }

    @Test(
        "Characters of several bytes at the borders of a long file's parts are complete, with and without a byte order mark"
    )
    func longFiles() async throws {
        let sign: [UInt8] = [0x93, 0xFA]
        let line = Array("<DT><A HREF=\"https://long.example/".utf8)
        for (name, filler) in [("a", 0), ("b", 1)] {
            var bytes = Array("<!DOCTYPE NETSCAPE-Bookmark-file-1><meta charset=shift_jis>".utf8)
            bytes += Array(repeating: UInt8(ascii: " "), count: filler) + Array("<DL>".utf8)
            for number in 0..<2000 {
                bytes += line + Array("\(name)\(number)\">".utf8) + Array(repeating: sign, count: 40).joined()
                bytes += Array("</A>".utf8)
            }
            try write(bytes, to: "Downloads/\(name).html")
        }
        let wide = "\u{FEFF}<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF='https://wide.example/'>weiß 🐦</A></DL>"
        try write(wide.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, to: "Downloads/wide.html")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 4001)
            #expect(try await titles(engine, "weiß") == ["weiß 🐦"])
            let found = try await engine.search("long.example", bundle: nil, limit: 5000).hits.map(\.item.displayTitle)
            #expect(Set(found).subtracting(["weiß 🐦"]) == [String(repeating: "日", count: 40)])
        }
    }

    @Test("One address with several titles or sets of tags is several bookmarks, and each is found")
    func sameAddress() async throws {
        try harness.export(
            """
            <DT><A HREF="https://docs.example/">First reading</A>
            <DT><A HREF="https://docs.example/" TAGS="work">Second xylophone</A>
            <DT><A HREF="https://docs.example/" TAGS="garden">First reading</A>
            <DT><A HREF="https://docs.example/">First reading</A>
            <DT><H3>Other</H3>
            <DL><p>
            <DT><A HREF="https://docs.example/">Third in a folder</A>
            </DL><p>
            """)
        let profile = try FirefoxProfile(home: harness.folder)
        try profile.add(20, "https://docs.example/", "Third in a folder")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 4)
            #expect(try await titles(engine, "first") == ["First reading"])
            #expect(try await titles(engine, "xylophone") == ["Second xylophone"])
            #expect(try await titles(engine, "garden") == ["First reading"])
            #expect(try await engine.item(named: "firefox/x1y2.default/guid-20").displayTitle == "Third in a folder")
            // The same bookmarks have the same identifiers.
            let names = try await engine.search("reading", bundle: nil, limit: 9).hits.map(
                \.item.record.uniqueIdentifier)
            #expect(names.count == 2)
            #expect(try await engine.reindexItems(Set(names), of: bundle) == 4)
            #expect(try await engine.compare(bundle).isEqual)
        }
    }

    @Test("The words of another source's bookmark are found, although the bookmark is shown once")
    func moreOfTheSame() async throws {
        let profile = try FirefoxProfile(home: harness.folder)
        try profile.add(20, "https://one.example/", "One")
        try harness.export("<DT><A HREF=\"https://one.example/\" TAGS=\"umbrella\">One</A>")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
            #expect(try await titles(engine, "umbrella") == ["One"])
        }
    }

    @Test("An address is found by its letters, percent-encoded, in Punycode or plain")
    func letters() async throws {
        try harness.export(
            """
            <DT><A HREF="https://de.wiki.example/wiki/K%C3%B6ln">Stadt am Rhein</A>
            <DT><A HREF="https://münchen.example/straße">Stadt an der Isar</A>
            <DT><A HREF="https://xn--dsseldorf-q9a.example:8080/">Stadt mit Alt</A>
            <DT><A HREF="https://www.xn--e1afmkfd.xn--80akhbyknj4f/a?q=%E6%9D%B1%E4%BA%AC+b">Beispiel</A>
            <DT><A HREF="https://XN--80AKHBYKNJ4F.example/">Gross</A>
            <DT><A HREF="https://xn--a-.example/%FF%00%0Atail">Kein Text</A>
            <DT><A HREF="https://xn--99999999.example/100%25%2z">Kein Name</A>
            <DT><A HREF="https://no.title.example/Z%C3%BCrich"></A>
            """)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 8)
            let expected = [
                ("köln", "Stadt am Rhein"), ("münchen", "Stadt an der Isar"), ("straße", "Stadt an der Isar"),
                ("düsseldorf", "Stadt mit Alt"), ("\"xn--dsseldorf-q9a.example\"", "Stadt mit Alt"),
                ("пример", "Beispiel"), ("東京", "Beispiel"), ("tail", "Kein Text"), ("99999999", "Kein Name"),
                ("zürich", "no.title.example/Zürich"),
            ]
            for (words, title) in expected {
                #expect(try await titles(engine, words).contains(title), "\(words)")
            }
            #expect(try await titles(engine, "испытание") == ["Beispiel", "Gross"])
            let hit = try #require(try await engine.search("köln", bundle: nil, limit: 1).hits.first)
            #expect(hit.item.record.text("contentURL") == "https://de.wiki.example/wiki/K%C3%B6ln")
        }
    }
}
