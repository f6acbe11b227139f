// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import TestSupport
import Testing

@testable import DatabaseBindings

@Suite("The item of a row")
struct RowItemTests {
    private func record(_ attributes: String, _ row: [(String, RowValue)], more: String = "") throws -> ItemRecord {
        let binding = try item(
            #""Attributes": {\#(attributes)}\#(more.isEmpty ? "" : ", " + more)"#, select: "SELECT * FROM notes")
        return binding.record(Row(row), identifier: "note/1", domain: "note")
    }

    @Test("has values of its attributes' types")
    func kinds() throws {
        let found = try record(
            """
            "title": "{T}", "keywords": "{tags:lines}", "authorNames": "{names:json}", "pageCount": "{pages}",
            "rating": "{stars}", "allDay": "{flag}", "thumbnailData": "{picture}", "authors": "{mail:commas}",
            "url": "https://example.org/?q={T}", "contentURL": "{path:file}", "com_example_n": "{pages}",
            "com_example_t": "{T}", "comment": "{none}", "subject": "{T} ({pages})"
            """,
            [
                ("t", .text("Grüße & Küsse")), ("tags", .text("a\n b \n\u{1F}c")),
                ("names", .text(#"["Ann", 3, null]"#)),
                ("pages", .integer(12)), ("stars", .text("4.5")), ("flag", .integer(1)), ("picture", .blob([1, 2])),
                ("mail", .text("Ann <ann@example.org>, bob@example.org, Carl")), ("path", .text("/a b/c")),
                ("none", .null),
            ])
        #expect(found.attributes["title"] == .string("Grüße & Küsse"))
        #expect(found.texts("keywords") == ["a", "b", "c"] && found.texts("authorNames") == ["Ann", "3"])
        #expect(found.attributes["pageCount"] == .integer(12) && found.attributes["rating"] == .double(4.5))
        #expect(found.attributes["allDay"] == .boolean(true) && found.attributes["thumbnailData"] == .data([1, 2]))
        #expect(found.attributes["url"] == .url("https://example.org/?q=Gr%C3%BC%C3%9Fe%20%26%20K%C3%BCsse"))
        #expect(found.attributes["contentURL"] == .url("file:///a%20b/c"))
        #expect(found.attributes["com_example_n"] == .integer(12) && found.text("subject") == "Grüße & Küsse (12)")
        #expect(found.attributes["comment"] == nil && found.expiration == .never && found.domainIdentifier == "note")
        guard case .array(let people)? = found.attributes["authors"] else { throw Unexpected() }
        #expect(
            people == [
                .person(
                    PersonValue(displayName: "Ann", handles: ["ann@example.org"], handleIdentifier: "emailAddresses")),
                .person(
                    PersonValue(displayName: nil, handles: ["bob@example.org"], handleIdentifier: "emailAddresses")),
                .person(PersonValue(displayName: "Carl", handles: [], handleIdentifier: "")),
            ])
    }
    private struct Unexpected: Error {}

    @Test("has no URL for an invalid text, and a valid URL unchanged")
    func urls() throws {
        func url(_ text: String) throws -> AttributeValue? {
            try record(#""url": "{u}""#, [("u", .text(text))]).attributes["url"]
        }
        #expect(try url("https://a.example/b?c=d%20e#f") == .url("https://a.example/b?c=d%20e#f"))
        #expect(try url("/home/me/a b") == .url("file:///home/me/a%20b"))
        for text in ["", "a.example", "ht tp://x", "1a:b", "javascript", "https://a\n.b"] {
            #expect(try url(text) == nil)
        }
    }

    @Test("has the types of its promises for which the row has a value")
    func promises() throws {
        let more = """
            "Type": "{kind}", "Promises": [{"Type": "public.html", "Template": "x"}, {"Type": "{kind}", "File": "{path}"},
            {"Type": "{none}", "Template": "x"}]
            """
        let found = try record(
            #""title": "{kind}""#, [("kind", .text("org.idpf.epub")), ("path", .text("/a.epub")), ("none", .null)],
            more: more)
        #expect(found.text("contentType") == "org.idpf.epub")
        #expect(found.texts("providerDataTypeIdentifiers") == ["public.html"])
        #expect(found.texts("providerInPlaceFileTypeIdentifiers") == ["org.idpf.epub"])
        let bare = try record(#""title": "{kind}""#, [("kind", .text("")), ("path", .text("a.epub"))], more: more)
        #expect(bare.attributes["contentType"] == nil && bare.attributes["providerInPlaceFileTypeIdentifiers"] == nil)
    }

    @Test("reports how many bytes of a long text are left out")
    func long() throws {
        let found = try record(
            #""textContent": "{b}""#, [("b", .text(String(repeating: "ä", count: DatabaseLimits.textBytes / 2 + 10)))])
        #expect(found.text("textContent")?.utf8.count == DatabaseLimits.textBytes && found.missingTextBytes == 20)
    }

    @Test(
        "has dates in each unit",
        arguments: [
            (ColumnTimeUnit.unix, RowValue.integer(1_600_000_000)), (.unixMilliseconds, .integer(1_600_000_000_000)),
            (.unixMicroseconds, .integer(1_600_000_000_000_000)), (.apple, .real(621_692_800)),
            (.webkit, .integer(13_244_473_600_000_000)), (.julian, .real(2_459_106.018518518518)),
            (.iso, .text("2020-09-13 12:26:40")), (.iso, .text("2020-09-13T14:26:40.000+02:00")),
            (.iso, .text("2020-09-13T12:26:40Z")), (.iso, .text("2020-09-13 14:26:40 +0200")),
            (.unix, .text("1600000000")),
        ])
    func moments(unit: ColumnTimeUnit, value: RowValue) throws {
        let moment = try #require(unit.moment(value))
        #expect(abs(moment - 621_692_800) < 0.001, "\(moment)")
        #expect(MarkupText.date(moment.rounded()) == "2020-09-13 12:26")
    }

    @Test("has no date without a valid value")
    func noMoments() {
        for unit in ColumnTimeUnit.allCases {
            for value in [
                RowValue.null, .integer(0), .text(""), .text("x"), .blob([1]), .real(.infinity), .real(1e300),
                .integer(.max),
            ] where unit != .unixMicroseconds && unit != .webkit || value != .integer(.max) {
                #expect(unit.moment(value) == nil, "\(unit) \(value)")
            }
        }
        for text in [
            "2020", "2020-13-01", "2020-02-31", "2020-01-01T24:59", "2020-01-01T10:00+99:99", "2020-01-01x",
            "2020-01-01 1:2", "2020-01-01 10:00:00 +1",
        ] {
            #expect(ColumnTimeUnit.iso.moment(.text(text)) == nil, "\(text)")
        }
    }

    @Test("has dates that agree with Foundation's over seven thousand years")
    func dates() throws {
        var style = Date.ISO8601FormatStyle()
        style.timeZone = .gmt
        var random = SplitMix64(seed: MutationLoop.seed)
        for _ in 0..<2000 {
            let seconds = Double.random(in: -11_600_000_000...200_000_000_000, using: &random).rounded()
            let text = Date(timeIntervalSince1970: seconds).formatted(style)
            #expect(ColumnTimeUnit.iso.moment(.text(text)) == seconds - 978_307_200, "\(text)")
            #expect(text.hasPrefix(MarkupText.date(seconds - 978_307_200).replacing(" ", with: "T")), "\(text)")
        }
    }
}

@Suite("A template")
struct DatabaseTemplateTests {
    private func text(_ template: String, _ escaping: DatabaseTemplate.Escaping, _ value: RowValue) throws -> String? {
        try DatabaseTemplate(template, at: []).text(Row([("a", value)]), escaping)
    }

    @Test(
        "in HTML is not left by a value",
        arguments: ["<script>x()</script>", "\"><img src=x onerror=y>", "' onload='z", "&lt;b&gt;", "a\u{0}b"])
    func html(value: String) throws {
        let made = try #require(try text("<p title=\"{a}\" lang='{a}'>{a}</p>", .html, .text(value)))
        let inside = made.dropFirst("<p title=\"".count).dropLast("</p>".count)
        #expect(inside.count { $0 == "<" } == 0 && inside.count { $0 == ">" } == 1, "\(made)")
        #expect(inside.count { $0 == "\"" } == 1 && inside.count { $0 == "'" } == 2, "\(made)")
        #expect(!made.utf8.contains(0))
    }

    @Test("in a URL is not left by a value, except for the slashes of a path")
    func url() throws {
        #expect(try text("x://y?id={a}&z", .url, .text("1&b=2#c/d é")) == "x://y?id=1%26b%3D2%23c%2Fd%20%C3%A9&z")
        #expect(try text("x://y/{a:path}", .url, .text("b c/d?")) == "x://y/b%20c/d%3F")
        #expect(try text("{a}", .url, .text("https://x/?y=z")) == "https://x/?y=z")
        #expect(try text("x://y/{a:unix}", .url, .integer(1_600_000_000)) == "x://y/2020-09-13%2012%3A26")
    }

    @Test("as text has braces, numbers, lists, dates and the words of HTML")
    func plain() throws {
        #expect(try text("{{{a}}}", .none, .integer(3)) == "{3}" && text("{a}", .none, .real(2.5)) == "2.5")
        #expect(try text("{a}", .none, .null) == nil && text("fixed", .none, .null) == "fixed")
        #expect(try text("{a:commas}", .none, .text("b,c ,")) == "b, c")
        #expect(try text("{a:unix}", .none, .integer(1_600_000_000)) == "2020-09-13 12:26")
        let html = "<h1>A&amp;B</h1><p>c<b>d</b>&nbsp;&#233;<br/>e<script>f</script><!-- g > h -->i < j</p>"
        #expect(try text("{a:html}", .none, .text(html)) == "A&B\ncd é\nei < j\n")
        #expect(try text("{a:html}", .html, .text("<b>x</b>")) == "<b>x</b>")
        let script = "<p>one</p><script>for (i=0;i<n;i++) f();</script><p>two</p>"
        #expect(try text("{a:html}", .none, .text(script)) == "one\ntwo\n")
    }

    @Test("bounds the bytes of its values")
    func limit() throws {
        let template = try DatabaseTemplate("{a}-{a}", at: [])
        #expect(template.text(Row([("a", .text("äöü"))]), .none, limit: 9) == "äöü-ä")
    }
}

@Suite("The digests of rows")
struct RowDigestTests {
    private func binding(_ name: String = "note") throws -> DatabaseBinding {
        try DatabaseBindingsTests.binding(
            #"{"Files": ["a"], "Items": [{"Name": "\#(name)", "Select": "SELECT 1 AS a", "Key": "a", "Attributes": {"title": "{a}"}}]}"#
        )
    }

    @Test("differ exactly in the changed parts of rows, in any order of rows")
    func parts() throws {
        let binding = try binding()
        var rows = (0..<500).map { ("note/\($0)", [RowValue.integer($0 as Int64), .text("t\($0)")]) }
        var random = SplitMix64(seed: MutationLoop.seed)
        func digests(_ rows: [(String, [RowValue])]) -> RowDigests {
            var digests = RowDigests(of: binding)
            for (name, values) in rows.shuffled(using: &random) { digests.add(name, values) }
            return digests
        }
        let before = digests(rows)
        #expect(digests(rows).differences(from: before).isEmpty)
        rows[7].1[1] = .text("other")
        rows[8].1[0] = .real(8)
        #expect(digests(rows).differences(from: before) == Set([7, 8].map { RowDigests.part(of: "note/\($0)") }))
        rows.removeLast()
        #expect(digests(rows).differences(from: before).contains(RowDigests.part(of: "note/499")))
    }

    @Test("are a client state, valid only for the same manifest")
    func state() throws {
        let one = try binding()
        var digests = RowDigests(of: one)
        digests.add("note/1", [.null, .blob([1])])
        #expect(digests.bytes.count <= 250 && RowDigests(digests.bytes, of: one) == digests)
        #expect(RowDigests(digests.bytes.dropLast(), of: one) == nil && RowDigests([], of: one) == nil)
        var other = RowDigests(of: try binding("page"))
        other.add("note/1", [.null, .blob([1])])
        #expect(!other.differences(from: digests).isEmpty)
    }

    @Test("encode keys and identifiers, which are read back unchanged")
    func identifiers() throws {
        #expect(RowIdentifier("note/a/b", hasTags: false) == RowIdentifier(file: "", item: "note", key: "a/b"))
        #expect(RowIdentifier("00ff/note/a/b", hasTags: true)?.key == "a/b")
        #expect(RowIdentifier("note", hasTags: false) == nil && RowIdentifier("a//b", hasTags: true) == nil)
        #expect(RowKey.candidates("12") == [.integer(12), .text("12")] && RowKey.candidates("012") == [.text("012")])
        #expect(RowKey(.null) == nil && RowKey(.text("")) == nil && RowKey(.real(1)) == nil)
        #expect(RowKey(.text("a\0b")) == nil && RowKey(.text("a\u{1}b")) != nil)
        #expect(RowIdentifier.tag(of: "/a/b").utf8.count == 16)
    }
}
