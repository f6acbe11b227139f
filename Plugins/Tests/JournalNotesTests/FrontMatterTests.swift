// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import JournalNotes

@Suite("Front matter")
struct FrontMatterTests {
    private func read(_ lines: String...) -> FrontMatter? {
        FrontMatter.split("---\n" + lines.joined(separator: "\n") + "\n---\nbody").frontMatter
    }

    @Test func plainValues() {
        let front = read("title: A: b # comment", "summary: Short", "date: 2024-05-01")
        #expect(front?.title == "A: b")
        #expect(front?.summary == "Short")
        #expect(front?.date == "2024-05-01")
    }

    @Test func quotedValues() {
        #expect(read(#"title: "A \"b\" # c" # d"#)?.title == #"A "b" # c"#)
        #expect(read("title: 'It''s' # d")?.title == "It's")
        #expect(read(#"title: "unclosed"#)?.title == "unclosed")
        #expect(read("title: ''")?.title == nil)
    }

    @Test(arguments: [
        "tags: [a, \"b, c\", 'd']", "tags:\n- a\n- \"b, c\"\n- d", "tags:\n  - a\n  - b\n  - c # comment\n  - d",
        "Tags: a, b, c, d", "tags: '#a #b #c #d'", "tags: #a #b #c #d", "keywords: a,b,\nTags: [c, d, a]",
        "tags:\n- '#a'\n- '#b'\n- c\n- d",
    ])
    func tags(_ source: String) {
        let tags = read(source)?.tags ?? []
        #expect(Set(tags) == ["a", "b", "c", "d"] && tags.count == 4, "\(tags)")
    }

    @Test func tagsMayHaveSpaces() { #expect(read("tags: deep work, b")?.tags == ["deep work", "b"]) }

    @Test func emptyListsHaveNoTags() {
        for source in ["tags: []", "tags:", "tags: [ , ]", "tags: [", "tags:\n-"] { #expect(read(source)?.tags == []) }
    }

    @Test func foldedAndLiteralText() {
        #expect(read("description: >", "  one", "  two", "title: x")?.summary == "one two")
        #expect(read("description: |-", "  one", "  two")?.summary == "one\ntwo")
        #expect(read("description: one", "  two")?.summary == "one two")
    }

    @Test func unknownFormsAreLeftOut() {
        let front = read("author:", "  name: Ada", "  mail: x", "# comment", "", "title: T")
        #expect(front?.title == "T")
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

    @Test(arguments: 0..<200)
    func anyTextIsDividedWithoutLoss(seed: UInt64) {
        var random = SplitMix64(state: seed)
        let pieces = [
            "---", "\n", "\r\n", ":", " ", "tags", "[", "]", "\"", "'", "#", "- ", ">", "é", "\\", ",", "\u{301}",
        ]
        let text = "---\n" + (0..<40).map { _ in pieces.randomElement(using: &random)! }.joined() + "\n---\nrest"
        let (front, body) = FrontMatter.split(text)
        #expect(text.utf8.reversed().starts(with: body.utf8.reversed()), "seed \(seed)")
        if front == nil { #expect(body == text[...], "seed \(seed)") }
        for tag in front?.tags ?? [] { #expect(!tag.isEmpty && !tag.hasPrefix("#"), "seed \(seed)") }
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
        ("2024-05-01 12:30:15 +02", 1_714_559_415), ("2024-02-29", 1_709_164_800),
    ])
    func forms(_ text: String, _ expected: Double) { #expect(seconds(text) == expected) }

    @Test func timesWithoutZoneAreLocal() { #expect(seconds("2024-05-01", zone: 7200) == 1_714_514_400) }

    @Test(arguments: [
        "", "2024", "2024-5-1", "2023-02-29", "2024-13-01", "2024-00-10", "2024-05-01T", "2024-05-01T25:00",
        "2024-05-01T10:61", "2024-05-01x", "2024-05-01T10:00+99", "01.05.2024", "0000-01-01", "2024-05-01T10:00:00Zx",
    ])
    func otherTextsAreNoDates(_ text: String) { #expect(seconds(text) == nil) }
}
