// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import FileReading
@testable import JournalNotes

@Suite("Front matter")
struct FrontMatterTests {
    private func read(_ lines: String...) -> FrontMatter? {
        FrontMatter.split("---\n" + lines.joined(separator: "\n") + "\n---\nbody").frontMatter
    }

    private func properties(_ lines: String...) -> NoteProperties {
        NoteProperties(read(lines.joined(separator: "\n")) ?? FrontMatter(), timeZone: .gmt)
    }

    private func texts(_ frontMatter: FrontMatter?, _ key: String) -> [String]? {
        frontMatter?.entries.first { $0.key == key }?.values.map(\.text)
    }

    @Test func plainValues() {
        let properties = properties("title: A b # comment", "summary: Short", "date: 2024-05-01")
        #expect(properties.text(.title) == "A b")
        #expect(properties.text(.summary) == "Short")
        #expect(properties.date(.created)?.timeIntervalSince1970 == 1_714_521_600)
    }

    @Test func quotedValues() {
        #expect(read(#"title: "A \"b\" # c" # d"#)?.title == #"A "b" # c"#)
        #expect(read("title: 'It''s' # d")?.title == "It's")
        #expect(read(#"title: "unclosed"#)?.title == "unclosed")
        #expect(read("title: ''")?.title == nil)
        #expect(read(#"title: "\xC4rger \u2014 \U0001F411\t\x41""#)?.title == "Ärger — 🐑\tA")
    }

    @Test(arguments: [
        "tags: [a, \"b, c\", 'd']", "tags:\n- a\n- \"b, c\"\n- d",
        "tags:\n  - a\n  - b\n  - c # comment\n  # - e\n  - d",
        "Tags: a, b, c, d", "tags: '#a #b #c #d'", "tags: #a #b #c #d", "keywords: a,b\nTags: [c, d, a]",
        "tags:\n- '#a'\n- '#b'\n- c\n- d", "tags:\n  [\n    a,\n    \"b\",\n    c, d,\n  ]", "tags: [a,\nb,\n c, d]",
        "bad: [\ntags: [a, b, c, d]", "taxonomies:\n  tags: [a, b, c, d]", "tags: {a, b, c, d}",
        "tags:\n- a\n- b\n- *no anchor*\n- c\n- d",
    ])
    func tags(_ source: String) {
        let tags = properties(source).tags
        #expect(Set(tags) == ["a", "b", "c", "d"] && tags.count == 4, "\(tags)")
    }

    @Test func tagsMayHaveSpaces() { #expect(properties("tags: deep work, b").tags == ["deep work", "b"]) }

    @Test func emptyListsHaveNoTags() {
        for source in [
            "tags: []", "tags:", "tags: [ , ]", "tags: [", "tags:\n-", "tags: ~", "tags: null", "tags: [~, '']",
        ] {
            #expect(properties(source).tags == [], "\(source)")
        }
    }

    @Test func foldedAndLiteralText() {
        #expect(properties("description: >", "  one", "  two", "title: x").text(.summary) == "one two")
        #expect(properties("description: |-", "  one", "  two").text(.summary) == "one\ntwo")
        #expect(properties("description: one", "  two").text(.summary) == "one two")
        #expect(properties("title: >2", "    far in").text(.title) == "far in")
    }

    /// With unusual keys, and with lines that are not YAML, the rest is read and no text is lost.
    @Test(arguments: [
        "Weight (kg): 3", "smile ☺: wide", "_private: 1", "on/off: 1", "really?: yes", "'quoted key': v", "\"a: b\": c",
        "two words here: v", "1: one", "~: nothing", "? complex\n: v", "{{placeholder}}: v", "no colon at all",
        "a: b: c",
        "\tindented: with a tab", "link: [[Page]] and more", "when: @today", "x: `code`", "- stray item", "%: percent",
        "title: Second\nmore: 1", "price: 5 % off: yes", "a: \"unclosed", "b: 'unclosed", "c: {open", "d: [open",
        "key:value",
        "z: \u{7}bell", "!tag", "&anchor x: y", "*alias : y", "...x", "<<: word", "<<: [a, {b: c}]",
    ])
    func aLineCostsItself(_ line: String) {
        for lines in [["title: Proper", line, "tags: [good]"], ["tags: [good]", "title: Proper", line]] {
            let text = "---\n" + lines.joined(separator: "\n") + "\n---\nbody"
            let (frontMatter, body) = FrontMatter.split(text)
            #expect(body == "body")
            #expect(frontMatter?.title?.hasPrefix("Proper") == true, "\(String(describing: frontMatter))")
            #expect(texts(frontMatter, "tags") == ["good"], "\(String(describing: frontMatter))")
        }
    }

    @Test func whatCannotBeReadIsKeptAsText() {
        let front = read("title: T", "no colon at all", "tags: [a]", "list:", "- b", "- {open", "- c")
        #expect(front?.leftovers == ["no colon at all", "- {open"])
        #expect(texts(front, "list") == ["b", "c"])
        #expect(properties("title: T", "no colon at all").text == "no colon at all")
    }

    @Test func textWithAColonIsTakenAsItStands() {
        #expect(read("title: Part 1: the sea # not the land", "x: y")?.title == "Part 1: the sea")
    }

    @Test func nestedAndMergedValuesHaveTheKeysAroundThem() {
        let front = read("base: &b {c: 1}", "a:", "  d: [x, {e: y}]", "  <<: *b", "  f: {g: {h: z}}")
        #expect(texts(front, "a.d") == ["x"] && texts(front, "a.d.e") == ["y"] && texts(front, "a.c") == ["1"])
        #expect(texts(front, "a.f.g.h") == ["z"])
    }

    @Test func valuesHaveTypes() {
        let front = read(
            "a: 0x1F", "b: 1_000", "c: 1.5e3", "d: Yes", "e: '12'", "f: 1.2.3", "g: 0o17", "h: .inf", "i: !!str 5",
            "j: 99999999999999999999")
        #expect(
            front?.entries.flatMap(\.values) == [
                .integer(31, source: "0x1F"), .integer(1000, source: "1_000"), .real(1500, source: "1.5e3"),
                .flag(true, source: "Yes"), .text("12"), .text("1.2.3"), .integer(15, source: "0o17"),
                .real(.infinity, source: ".inf"), .text("5"), .text("99999999999999999999"),
            ])
    }

    @Test func aLastDayCountsToItsEnd() {
        func end(_ text: String) -> Date? { properties("start: 2024-05-01", "end: \(text)").date(.end) }
        #expect(end("2024-05-03") == ISO8601.date(from: "2024-05-03T23:59:59Z", timeZone: .gmt))
        #expect(end("2024-05-03T10:00:00Z") == ISO8601.date(from: "2024-05-03T10:00:00Z", timeZone: .gmt))
    }

    @Test func knownKeysAreTypedAndAllOthersAreText() {
        let properties = properties(
            "Author: [Ada Lovelace, {name: Mary, email: mary@example.org}]", "aliases: [Engine, Notes]",
            "due-date: 2024-5-1",
            "Last Modified: 2024-05-02", "lastChecked: 2024-05-03", "source: https://example.org/a", "lang: en",
            "rating: 4",
            "location: [51.5, -0.1]", "city: London", "published: 2020-01-01", "created: 2019-01-01", "draft: true",
            "chapter: 12",
            "params: {tags: [deep]}", "Küche: Brot")
        #expect(properties.texts(.authors) == ["Ada Lovelace", "Mary"])
        #expect(properties.texts(.authorAddresses) == ["mary@example.org"])
        #expect(properties.texts(.aliases) == ["Engine", "Notes"])
        #expect(properties.date(.due) == ISO8601.date(from: "2024-05-01", timeZone: .gmt))
        #expect(properties.date(.modified) == ISO8601.date(from: "2024-05-02", timeZone: .gmt))
        #expect(properties.date(.created) == ISO8601.date(from: "2019-01-01", timeZone: .gmt))
        #expect(properties.url?.absoluteString == "https://example.org/a")
        #expect(properties.texts(.languages) == ["en"])
        #expect(properties.number(.rating) == 4)
        #expect(properties.coordinates?.latitude == 51.5 && properties.coordinates?.longitude == -0.1)
        #expect(properties.tags == ["deep"])
        #expect(properties.custom.map(\.name) == ["lastChecked", "draft", "chapter", "K_che"])
        let lines = Set(properties.text.split(separator: "\n").map(String.init))
        #expect(
            lines.isSuperset(of: ["2024-05-03", "https://example.org/a", "4", "draft: true", "12", "Brot", "2024-5-1"]))
        #expect(!lines.contains("London") && !lines.contains("Ada Lovelace"))
    }

    @Test(arguments: ["0001-01-01T00:00:00Z", "2023-02-30", "2024-13-01", "soon", "~", "2024-05-01T25:00"])
    func whatIsNoDateIsNone(_ date: String) {
        let properties = properties("date: \(date)", "title: x")
        #expect(properties.date(.created) == nil)
    }

    @Test func keysWithoutValuesAreFrontMatter() {
        let (front, body) = FrontMatter.split("---\ntitle:\naliases: []\n---\nbody")
        #expect(front?.entries == [] && body == "body")
    }

    // MARK: Other forms

    private func head(_ text: String, _ kind: NoteKind = .markdown) -> (FrontMatter?, String) {
        let (front, body) = FrontMatter.split(text, kind: kind)
        return (front, String(body))
    }

    @Test func tomlBetweenPlusSigns() {
        let text = """
            +++
            title = "Sea \\u00e9"
            date = 2024-05-01T10:00:00Z
            weight = 0x10
            draft = false
            tags = ["a",
              "b"] # comment
            [params]
            author = 'Ada'
            [[menu.main]]
            name = "x"
            +++
            body
            """
        let (front, body) = head(text)
        #expect(body == "body" && front?.title == "Sea é")
        #expect(texts(front, "tags") == ["a", "b"] && texts(front, "menu.main.name") == ["x"])
        #expect(front?.entries.first { $0.key == "weight" }?.values == [.integer(16, source: "16")])
        let properties = NoteProperties(front!, timeZone: .gmt)
        #expect(properties.texts(.authors) == ["Ada"])
        #expect(properties.date(.created)?.timeIntervalSince1970 == 1_714_557_600)
    }

    @Test(arguments: [
        "no equals sign", "x = ", "x = [1", "x = \"unclosed", "x = soon", "[bad", "= 1", "title = 2", "\u{1}",
        "x = {a = 1",
        "k." + String(repeating: "a.", count: 20_000) + "b = 1",
    ])
    func aLineOfTOMLCostsItself(_ line: String) {
        for lines in [
            ["title = \"Proper\"", line, "tags = [\"good\"]"], ["tags = [\"good\"]", "title = \"Proper\"", line],
        ] {
            let (front, body) = head("+++\n" + lines.joined(separator: "\n") + "\n+++\nbody")
            #expect(
                body == "body" && front?.title?.hasPrefix("Proper") == true,
                "\(line.prefix(80)): \(String(describing: front))")
            let tags = front?.entries.filter { $0.key == "tags" || $0.key == "bad.tags" }.flatMap(\.values).map(\.text)
            #expect(tags == ["good"], "\(line.prefix(80)): \(String(describing: tags))")
        }
    }

    @Test func propertiesOfLogseq() {
        let (front, body) = head(
            "title:: A page\ntags:: #one, [[two words]], three\nalias:: First, Second\n\n- item\nkey:: later\n")
        #expect(front?.title == "A page" && body == "\n- item\nkey:: later\n")
        let properties = NoteProperties(front!, timeZone: .gmt)
        #expect(properties.tags == ["one", "two words", "three"])
        #expect(properties.texts(.aliases) == ["First", "Second"])
        #expect(head("- type:: book\n  author:: Ada\n- text").0?.entries.map(\.key) == ["type", "author"])
        for text in ["std::vector is\n", "a::b\n", "Foo:: bar baz: x", ":: x", "::", "a b:: c"]
        where text != "Foo:: bar baz: x" {
            #expect(head(text).0 == nil, "\(text)")
        }
    }

    @Test func titleBlockOfPandoc() {
        let (front, body) = head("% The title\n  goes on\n% Ada Lovelace; Mary\n  Percy\n% 2024-05-01\n\nbody")
        #expect(front?.title == "The title goes on" && body == "\nbody")
        #expect(texts(front, "author") == ["Ada Lovelace", "Mary", "Percy"])
        #expect(texts(front, "date") == ["2024-05-01"])
        #expect(head("%\n% Ada\nbody").0?.entries.map(\.key) == ["author"])
        #expect(head("% TeX comment", .plainText).0 == nil)
        #expect(head("%x").0 == nil && head("%\n\n").0 == nil)
    }

    @Test func lineEndsOfAllSystems() {
        for end in ["\n", "\r\n", "\r"] {
            let (front, body) = FrontMatter.split(["---", "title: T", "...", "body", ""].joined(separator: end))
            #expect(front?.title == "T")
            #expect(body == "body" + end)
        }
    }

    @Test(arguments: [
        "---\n\nA rule, not front matter\n\n---\nmore", "---\ntitle: never closed\n", "---", "----\ntitle: x\n----\n",
        "--- title: x\n---\n", "---\n---\n", "\n---\ntitle: x\n---\n", "---\nJust words\n---\n", "---\nhttp://x\n---\n",
        "---\n- a\n- b\n---\n", "---\n# comment\n---\n", "---\nWords: like\nthese, and\nthose, and\nothers\n---\n",
        "+++\nwords\n+++\n",
        "+++", "+++\na = 1\n---\n", "---\na: 1\n+++\n", "++\n",
    ])
    func otherTextsAreNotFrontMatter(_ text: String) {
        let (front, body) = FrontMatter.split(text)
        #expect(front == nil)
        #expect(body == text[...])
    }

    @Test func sizeIsBounded() {
        let text = "---\ntitle: x\n" + String(repeating: "k: v\n", count: 20_000) + "---\n"
        #expect(FrontMatter.split(text).frontMatter == nil)
    }

    @Test func whatGrowsIsNotUnfolded() {
        var laughs = "a: &a [x, x]\n"
        for level in 0..<30 {
            laughs +=
                "b\(level): &b\(level) [*\(level == 0 ? "a" : "b\(level - 1)"), *\(level == 0 ? "a" : "b\(level - 1)")]\n"
        }
        let nested = String(repeating: "[", count: 5_000)
        let keys = String(repeating: "? ", count: 900)
        for source in [
            laughs, laughs + "? *b29\n: x", "x: " + nested, "x: " + nested + String(repeating: "]", count: 5_000),
            keys + "x",
        ] {
            let front = read("title: T", source)
            #expect(front?.title == "T")
            #expect((front?.entries.flatMap(\.values).count ?? 0) < 200_000)
        }
    }

    @Test func manyBrokenLinesTakeNoLongTime() {
        let lines = (0..<3_000).map { $0 % 2 == 0 ? "k\($0): \"x" : "t\($0): [a" }
        #expect(read(lines.joined(separator: "\n"))?.entries.isEmpty == false)
    }

    /// The text after the front matter is the note's text, and no text before it is lost.
    @Test(arguments: 0..<Generated.seeds)
    func anyTextIsDividedWithoutLoss(seed: UInt64) {
        var random = SplitMix64(state: seed)
        let pieces = [
            "---", "+++", "\n", "\r\n", ":", ": ", "::", " = ", " ", "tags", "title", "[", "]", "{", "}", "\"", "'",
            "#", "- ", ">", "|", "é",
            "\\", ",", "\u{301}", "&a ", "*a", "!!set ", "? ", "% ", "\t", "\u{0}", "\u{FEFF}", "2024-05-01", "~",
            "<<: ", "word",
        ]
        let fence = ["---\n", "+++\n", "% ", "key:: ", "---\nword: x\n"].randomElement(using: &random)!
        let text =
            fence + (0..<40).map { _ in pieces.randomElement(using: &random)! }.joined() + "\n---\n+++\nlast words"
        let (front, body) = FrontMatter.split(text)
        #expect(text.utf8.reversed().starts(with: body.utf8.reversed()), "seed \(seed)")
        #expect(body.hasSuffix("last words"), "seed \(seed)")
        if front == nil { #expect(body == text[...], "seed \(seed)") }
        let properties = NoteProperties(front ?? FrontMatter(), timeZone: .gmt)
        for tag in properties.tags { #expect(!tag.isEmpty && !tag.hasPrefix("#"), "seed \(seed)") }
        let all = (front?.entries.flatMap(\.values).map(\.text) ?? []) + (front?.leftovers ?? [])
        if front != nil, text.dropLast(body.count).contains("word") {
            let keys = front?.entries.map(\.key).joined() ?? ""
            // A key without a value, a comment and a null carry no information.
            if !text.contains("#"), all.isEmpty { #expect(keys.isEmpty, "seed \(seed)") }
        }
    }
}

@Suite("Dates of front matter")
struct ISO8601Tests {
    private func seconds(_ text: String, zone: Int = 0) -> Double? {
        ISO8601.date(from: text, timeZone: TimeZone(secondsFromGMT: zone)!)?.timeIntervalSince1970
    }

    @Test(arguments: [
        ("2024-05-01", 1_714_521_600), ("2024-05-01T10:30", 1_714_559_400), ("2024-05-01 10:30:15", 1_714_559_415),
        ("2024-05-01T10:30:15Z", 1_714_559_415), ("2024-05-01T10:30:15.25Z", 1_714_559_415.25),
        ("2024-05-01T12:30:15+02:00", 1_714_559_415), ("2024-05-01T05:00:15-0530", 1_714_559_415),
        ("2024-05-01 12:30:15 +02", 1_714_559_415), ("2024-02-29", 1_709_164_800), ("2024-5-1", 1_714_521_600),
        ("2024-05-01t10:30:15.25   Z", 1_714_559_415.25), ("2024-05-01  9:30:15 -1", 1_714_559_415),
    ])
    func forms(_ text: String, _ expected: Double) { #expect(seconds(text) == expected) }

    @Test func timesWithoutZoneAreLocal() { #expect(seconds("2024-05-01", zone: 7200) == 1_714_514_400) }

    @Test(arguments: [
        "", "2024", "2024-5-", "2024-005-1", "0001-01-01", "2023-02-29", "2024-13-01", "2024-00-10", "2024-05-01T",
        "2024-05-01T25:00",
        "2024-05-01T10:61", "2024-05-01x", "2024-05-01T10:00+99", "01.05.2024", "0000-01-01", "2024-05-01T10:00:00Zx",
    ])
    func otherTextsAreNoDates(_ text: String) { #expect(seconds(text) == nil) }
}
