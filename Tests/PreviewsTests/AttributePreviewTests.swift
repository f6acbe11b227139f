// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import TestSupport
import Testing
@testable import Previews

@Suite("Previews from attributes")
struct AttributePreviewTests {
    private static func item(_ attributes: [String: AttributeValue]) -> ItemRecord {
        ItemRecord(uniqueIdentifier: "the-identifier", attributes: attributes)
    }

    private static func html(_ attributes: [String: AttributeValue], query: String? = nil) -> String {
        AttributePreview(item(attributes), query: query).html
    }

    @Test("The title is the item's title, else its display name, else its identifier")
    func title() {
        #expect(AttributePreview(Self.item([:]), query: nil).title == "the-identifier")
        #expect(AttributePreview(Self.item(["displayName": .string("D")]), query: nil).title == "D")
        let both = Self.item(["displayName": .string("D"), "title": .string("T\n\u{1B}x")])
        #expect(AttributePreview(both, query: nil).title == "T x")
    }

    @Test(
        "Markup in any attribute is only text",
        arguments: ["title", "contentDescription", "textContent", "authorNames", "keywords", "contentType", "url"])
    func markup(attribute: String) {
        let hostile = "<script>alert(1)</script><img src=x onerror=\"a()\"></title></pre>&lt;b>"
        for query in [nil, "script", "alert img b"] {
            let html = Self.html([attribute: .string(hostile)], query: query)
            #expect(!html.contains("<script"))
            #expect(!html.contains("<img"))
            #expect(!html.contains("</title></pre>"))
            #expect(!html.contains("<b>"))
            #expect(html.components(separatedBy: "</title>").count == 2)
        }
        #expect(Self.html([attribute: .string(hostile)]).contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
        #expect(Self.html([attribute: .string(hostile)]).contains("&amp;lt;b&gt;"))
    }

    @Test(
        "Markup is escaped also beside scalars that combine with it into one character",
        arguments: [
            "\u{600}<img src=x>", "\u{110BD}<img>", "<\u{301}img>", "\u{600}&lt;", "\u{600}\"\u{600}>", "<\u{200D}",
        ])
    func meltedMarkup(text: String) {
        let html = Self.html(["title": .string(text), "textContent": .string(text)], query: "img")
        let before = Self.html(["title": .string("x"), "textContent": .string("x")], query: "img")
        func count(_ scalar: Unicode.Scalar, _ html: String) -> Int { html.unicodeScalars.count { $0 == scalar } }
        let marks = html.components(separatedBy: "<mark>").count - 1
        #expect(count("<", html) == count("<", before) + 2 * marks)
        #expect(count(">", html) == count(">", before) + 2 * marks)
        #expect(count("\"", html) == count("\"", before))
        #expect(!html.contains("&lt;\u{600}") && !html.unicodeScalars.starts(with: "\u{600}&lt;".unicodeScalars))
    }

    @Test("Random attributes do not change the document's own markup", arguments: [71, 72] as [UInt64])
    func randomAttributes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let before = Self.html(["title": .string("x"), "textContent": .string("y")])
        let own = before.unicodeScalars.count { $0 == "<" }
        for _ in 0..<150 {
            let html = Self.html(
                [
                    "title": .string("x" + random.text(length: 20)),
                    "textContent": .string("y" + random.text(length: 60)),
                ],
                query: random.text(length: 4))
            let marks = html.components(separatedBy: "<mark>").count - 1
            #expect(html.unicodeScalars.count { $0 == "<" } == own + 2 * marks)
        }
    }

    @Test("Found words are marked in both forms")
    func highlights() {
        let item = Self.item(["title": .string("Apple"), "textContent": .string("an apple & a pear")])
        let preview = AttributePreview(item, query: "apple")
        #expect(preview.html.contains("<h1 dir=\"auto\"><mark>Apple</mark></h1>"))
        #expect(preview.html.contains("<pre dir=\"auto\">an <mark>apple</mark> &amp; a pear</pre>"))
        #expect(
            preview.textPieces(width: nil).map { $0.style == .found ? "*\($0.text)*" : $0.text }.joined().contains(
                "an *apple* & a pear"))
        #expect(preview.text.hasPrefix("Apple\n─────\n"))
    }

    @Test("The policy precedes all texts of an item")
    func policy() throws {
        let html = Self.html(["title": .string("MARKER"), "textContent": .string("MARKER")])
        let policy = try #require(html.range(of: "Content-Security-Policy"))
        let first = try #require(html.range(of: "MARKER"))
        #expect(policy.upperBound < first.lowerBound)
        #expect(html.hasPrefix("<!DOCTYPE html>"))
    }

    @Test("The text form contains no control sequence, from any attribute")
    func terminal() {
        let escape = AttributeValue.string("a\u{1B}[2J\u{202E}\rb")
        let names = [
            "title", "contentType", "authorNames", "keywords", "url", "contentDescription", "textContent", "contentURL",
        ]
        let text = AttributePreview(
            Self.item(Dictionary(uniqueKeysWithValues: names.map { ($0, escape) })), query: "a"
        ).text
        #expect(!text.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" || $0 == "\r" })
        #expect(text.contains("Kind"))
    }

    @Test("Facts are named and in order")
    func facts() {
        let preview = AttributePreview(
            Self.item([
                "contentType": .string("public.plain-text"), "dueDate": .date(0),
                "keywords": .array([.string("k"), .string("l")]),
                "authorNames": .string("A\nB"), "contentURL": .url("file:///tmp/a%20b"),
                "url": .url("https://example.com"),
            ]), query: nil)
        #expect(preview.facts.map(\.name) == ["Kind", "Due", "Author", "Keywords", "Where"])
        #expect(preview.facts.map(\.value).suffix(3) == ["A B", "k, l", "/tmp/a b"])
    }

    @Test("A day is in the user's time zone, and in the manner of the locale")
    func day() throws {
        // 2001-01-01 00:00 UTC
        let zones = [
            ("GMT", "en_GB", "1 Jan 2001"), ("America/New_York", "en_US", "Dec 31, 2000"),
            ("Asia/Tokyo", "ja_JP", "2001年1月1日"), ("Europe/Berlin", "de_DE", "1. Jan. 2001"),
        ]
        for (name, locale, expected) in zones {
            let zone = try #require(TimeZone(identifier: name))
            #expect(AttributePreview.day(0, in: zone, Locale(identifier: locale)) == expected)
        }
        let tokyo = try #require(TimeZone(identifier: "Asia/Tokyo"))
        #expect(AttributePreview.day(16 * 3600, in: tokyo, Locale(identifier: "en_GB")) == "2 Jan 2001")
    }

    @Test(
        "Dates use the locale of the environment",
        arguments: [
            (["LC_ALL": "", "LC_TIME": "de_AT.UTF-8@euro", "LANG": "fr_FR"], "de_AT"),
            (["LC_ALL": "sv_SE.UTF-8", "LC_TIME": "de_DE"], "sv_SE"), (["LANG": "fr_FR.UTF-8"], "fr_FR"),
            (["LC_TIME": "C", "LANG": "fr_FR"], "en_001"), ([:], "en_001"), (["LANG": "../x y"], "en_001"),
        ])
    func locale(environment: [String: String], identifier: String) {
        #expect(Locale(datesIn: environment).identifier == identifier)
    }

    @Test(
        "An impossible date is shown as unknown, without a crash",
        arguments: [
            .nan, .infinity, -.infinity, 1e300, -1e300, 1e18, -1e18, 1e15, -1e12, .greatestFiniteMagnitude,
            .leastNonzeroMagnitude,
        ])
    func strangeMoments(moment: Double) {
        let preview = AttributePreview(Self.item(["dueDate": .date(moment)]), query: nil)
        if abs(moment) < 1e10 {
            #expect(preview.facts.map(\.name) == ["Due"])
        } else {
            #expect(preview.facts.map(\.value) == ["unknown"])
        }
    }

    @Test("A description that equals the text's beginning is shown once")
    func description() {
        let item = Self.item(["contentDescription": .string("Once"), "textContent": .string("Once upon a time")])
        #expect(AttributePreview(item, query: nil).text.components(separatedBy: "Once").count == 2)
    }

    @Test("Enormous attributes are cut")
    func enormous() {
        let long = AttributeValue.string(String(repeating: "word ", count: 400_000))
        let list = AttributeValue.array((0..<50_000).map { .string("keyword number \($0)") })
        let preview = AttributePreview(
            Self.item([
                "title": long, "contentDescription": long, "textContent": long, "keywords": list, "authorNames": long,
                "contentType": long, "url": long,
            ]), query: "word")
        #expect(preview.title.count <= 1001)
        #expect(preview.facts.allSatisfy { $0.value.count <= 1001 })
        #expect(preview.text.count < 2 * AttributePreview.maximumTextCharacters + 20_000)
        #expect(preview.html.utf8.count < 5_000_000)
    }

    @Test("A truncated text ends with an ellipsis, and others do not", arguments: [0, 1])
    func cut(excess: Int) {
        let text = String(repeating: "x", count: AttributePreview.maximumTextCharacters + excess)
        let preview = AttributePreview(Self.item(["textContent": .string(text)]), query: nil)
        #expect(preview.content?.hasSuffix("…") == (excess > 0))
        #expect(preview.content?.count == AttributePreview.maximumTextCharacters + excess)
    }

    @Test(
        "A content path is the absolute path of a file of this machine",
        arguments: [
            ("file:///home/a/b.txt", "/home/a/b.txt"), ("file:///a%20b%C3%A9", "/a bé"), ("file://localhost/a", "/a"),
            ("FILE:///a", "/a"), ("file:///a#b", "/a"), ("file://", nil), ("file:", nil), ("file:a/b", nil),
            ("file://server/share", nil), ("file:///a%00b", nil), ("/home/a", nil), ("https://example.com/a", nil),
            ("", nil), ("file:///%zz", "/%zz"),
        ] as [(String, String?)])
    func contentPath(url: String, path: String?) {
        #expect(Self.item(["contentURL": .url(url)]).contentPath == path)
    }

    @Test("A description that equals the text's beginning, after the title or truncated, is shown once")
    func descriptionOnce() {
        func text(_ description: String, _ content: String) -> String {
            let record = ItemRecord(
                uniqueIdentifier: "i",
                attributes: [
                    "title": .string("Oslo"), "contentDescription": .string(description),
                    "textContent": .string(content),
                ])
            let preview = AttributePreview(record, query: nil)
            #expect(preview.html.contains("<p ") == preview.text.contains("\n\n" + description))
            return preview.text
        }
        let once = text("The ferry leaves from pier…", "Oslo\n\nThe ferry\nleaves from pier three.")
        #expect(once.ranges(of: "ferry").count == 1)
        let both = text("About a ferry", "Oslo\n\nThe boat leaves.")
        #expect(both.contains("About a ferry") && both.contains("The boat leaves."))
    }
}
