// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import MetadataQuery
import TestSupport
import Testing
import UniformTypeIdentifiers

@testable import UserSearch

/// Wednesday, 25 November 2026, noon UTC.
private let clock = QueryClock(now: ISOMoment("2026-11-25T12:00:00Z")!.instant)

private func intent(_ text: String, languages: [String] = ["en-GB"]) -> SearchIntent {
    SearchIntent(text, clock: clock, languages: languages)
}

/// Returns the remaining words, and the sentences that describe the filters.
private func short(_ text: String) -> [String] {
    let intent = intent(text)
    return [intent.words.terms.map { ($0.isExcluded ? "-" : "") + $0.text }.joined(separator: " ")]
        + intent.filters.map(\.sentence)
}

@Suite("Filters in a typed text")
struct SearchIntentTests {
    @Test(
        "Filters are removed from the words",
        arguments: [
            ("report kind:pdf", ["report", "of the kind pdf"]),
            ("kind:pdf report", ["report", "of the kind pdf"]),
            ("KIND:PDF", ["", "of the kind PDF"]),
            ("type:image,movies cat", ["cat", "of the kind image or of the kind movies"]),
            ("-kind:folder x", ["x", "not of the kind folder"]),
            ("from:anna budget", ["budget", "from anna"]),
            ("from:\"Anna Smith\" budget", ["budget", "from Anna Smith"]),
            ("from:“Anna Smith”,bob budget", ["budget", "from Anna Smith or from bob"]),
            ("to:bob app:mail in:projects", ["", "to bob", "of the app mail", "in the folder projects"]),
            ("tag:work -tag:old plan", ["plan", "tagged work", "not tagged old"]),
            ("title:oslo", ["", "with oslo in the title"]),
            ("larger:10MB smaller:1.5gb film", ["film", "larger than 10 MB", "smaller than 1.5 gb"]),
            ("larger:10 MB film", ["film", "larger than 10 MB"]),
            ("film smaller:1.5 GiB", ["film", "smaller than 1.5 GiB"]),
            ("larger:10 films", ["films", "larger than 10 bytes"]), ("larger:10MB kb", ["kb", "larger than 10 MB"]),
            ("larger:10 mb: x", ["mb: x", "larger than 10 bytes"]),
            ("has:attachment", ["", "with an attachment"]),
            ("kind:public.jpeg x", ["x", "of the kind public.jpeg"]),
            ("kind:pdf, report", ["report", "of the kind pdf"]),
        ] as [(String, [String])])
    func filters(text: String, expected: [String]) { #expect(short(text) == expected) }

    @Test(
        "Dates in filters",
        arguments: [
            ("after:2026-11-16", "dated on or after 16 November 2026"),
            ("since:2026-11", "dated on or after 1 November 2026"),
            ("before:2026", "dated before 1 January 2026"), ("until:2025", "dated on or before 31 December 2025"),
            ("on:today", "dated on 25 November 2026"), ("date:yesterday", "dated on 24 November 2026"),
            ("on:\"last week\"", "dated from 16 November 2026 to 22 November 2026"),
            ("on:last week", "dated from 16 November 2026 to 22 November 2026"),
            ("on:this month", "dated from 1 November 2026 to 30 November 2026"),
            ("after:2 days ago", "dated on or after 23 November 2026"),
            ("after:2w", "dated on or after 9 November 2026"),
            ("on:monday", "dated on 23 November 2026"), ("on:wednesday", "dated on 25 November 2026"),
            ("on:last wednesday", "dated on 18 November 2026"), ("on:next mon", "dated on 30 November 2026"),
            ("on:november", "dated from 1 November 2026 to 30 November 2026"),
            ("on:december", "dated from 1 December 2025 to 31 December 2025"),
            ("on:march 2024", "dated from 1 March 2024 to 31 March 2024"),
            ("on:14 november 2025", "dated on 14 November 2025"), ("on:nov 14th", "dated on 14 November 2026"),
            ("on:29. feb", "dated on 29 February 2024"), ("on:14/11/2026", "dated on 14 November 2026"),
            ("on:3/4/2026", "dated on 3 April 2026"), ("on:14.11.26", "dated on 14 November 2026"),
            ("on:11/14/2026", "dated on 14 November 2026"), ("on:20261116", "dated on 16 November 2026"),
            ("on:2026-01..2026-03", "dated from 1 January 2026 to 31 March 2026"),
            ("on:last 7 days", "dated from 19 November 2026 to 25 November 2026"),
            ("on:the last week", "dated from 16 November 2026 to 22 November 2026"),
            ("on:past month", "dated from 26 October 2026 to 25 November 2026"),
            ("on:a year ago", "dated from 1 January 2025 to 31 December 2025"),
            ("changed:today", "changed on 25 November 2026"),
            ("created:>2026-01-01", "created on or after 1 January 2026"),
            ("used:<=2025", "used on or before 31 December 2025"), ("due:tomorrow", "due on 26 November 2026"),
            ("on:monday,tuesday", "dated on 23 November 2026 or dated on 24 November 2026"),
            ("-on:today", "not dated on 25 November 2026"),
        ])
    func dates(filter: String, sentence: String) {
        #expect(short(filter + " notes") == ["notes", sentence])
        #expect(short("notes " + filter) == ["notes", sentence])
    }

    @Test("The region decides whether the month comes first")
    func regions() {
        for (languages, sentence) in [
            (["en-US"], "4 March"), (["en_US.UTF-8"], "4 March"), (["en"], "4 March"), (["de-DE"], "3 April"),
            (["de", "en-US"], "3 April"), ([], "3 April"),
        ] {
            #expect(intent("on:3/4/2026 x", languages: languages).filters[0].sentence == "dated on \(sentence) 2026")
        }
    }

    @Test(
        "Dates in words, at the start or the end beside other words",
        arguments: [
            ("photos last week", ["photos", "dated from 16 November 2026 to 22 November 2026"]),
            ("last week photos", ["photos", "dated from 16 November 2026 to 22 November 2026"]),
            ("notes from yesterday", ["notes", "dated on 24 November 2026"]),
            ("mail since last monday", ["mail", "dated on or after 23 November 2026"]),
            ("plan in the last 7 days ", ["plan", "dated from 19 November 2026 to 25 November 2026"]),
            ("kind:pdf today", ["", "of the kind pdf", "dated on 25 November 2026"]),
            ("invoice 2 months ago", ["invoice", "dated from 1 September 2026 to 30 September 2026"]),
            // Alone, in the middle, in quotation marks, as part of a word, or a date that is not
            // relative to today: plain text.
            ("last week", ["last week"]), ("today", ["today"]), ("photos last week oslo", ["photos last week oslo"]),
            ("photos \"last week\"", ["photos last week"]), ("yesterday's photos", ["yesterday's photos"]),
            ("photos -today", ["photos -today"]), ("invoice november 2026", ["invoice november 2026"]),
            ("blue monday", ["blue monday"]), ("report 2026-11-16", ["report 2026-11-16"]),
            ("photos last we", ["photos last we"]),
        ] as [(String, [String])])
    func bareDates(text: String, expected: [String]) {
        #expect(short(text) == expected)
        for filter in intent(text).filters where filter.sentence.hasPrefix("dated") { #expect(filter.isImplied) }
    }

    @Test(
        "Text that is not a filter is searched as words",
        arguments: [
            "foo:bar", "http://example.org/a:b", "12:30", "C:\\x", "std::vector", "kind:xyz", "larger:big",
            "on:someday",
            "kind:", "from: anna", "\"kind:pdf\"", "-\"kind:pdf\"", "x kind :pdf", "has:wings", ":pdf", "from:\"\"",
            "a.kind:pdf",
            "larger:.", "after:2026-13-45", "on:0000", "app:,", "from:...", "in:/", "on:99999 years ago",
        ])
    func text(text: String) {
        #expect(intent(text).filters.isEmpty)
        #expect(intent(text).words == UserQuery(text))
    }

    @Test("Text that resembles a filter has a hint")
    func hints() {
        func hint(_ text: String) -> String? {
            let hints = intent(text).hints
            #expect(hints.count < 2)
            return hints.first?.message
        }
        #expect(hint("knid:pdf") == "“knid:” is not a filter, so it is searched as text. Did you mean kind:?")
        #expect(hint("foobar:bar") == "“foobar:” is not a filter, so it is searched as text.")
        #expect(hint("kind:xyz")?.hasPrefix("“xyz” is not a value of kind:. Write a kind such as pdf") == true)
        #expect(hint("from: anna") == "“from:” has no value. Write a name directly after the colon.")
        #expect(hint("larger:big")?.contains("a size such as") == true)
        for text in ["http://x.org", "12:30", "C:\\x", "std::vector", "x: y", "\"foo:bar\""] {
            #expect(hint(text) == nil)
        }
        let range = intent("é foo:bar x").hints[0].range
        #expect(range == 3..<10)
    }

    @Test("Filters and words have their ranges in bytes")
    func ranges() {
        let intent = intent("é -kind:pdf zø after:last week \"x y\"")
        #expect(intent.filters.map(\.range) == [3..<12, 17..<32])
        #expect(intent.words.terms.map(\.range) == [0..<2, 13..<16, 33..<38])
    }

    @Test("The last word is incomplete only at the end of the text")
    func prefix() {
        #expect(intent("kind:pdf repo").words.terms.map(\.isPrefix) == [true])
        #expect(intent("repo kind:pdf").words.terms.map(\.isPrefix) == [false])
    }

    @Test("Apps are resolved by the caller")
    func apps() {
        let filters = intent("app:mail,\"Text Editor\" -app:org.gnome.Evolution x").filters
        #expect(filters.map(\.apps) == [["mail", "Text Editor"], ["org.gnome.Evolution"]])
        #expect(filters.map(\.isExcluded) == [false, true])
        #expect(filters.allSatisfy { $0.expression == nil })
    }

    // MARK: Meaning

    private static func matches(_ text: String, _ attributes: [String: AttributeValue]) throws -> Bool {
        let context = QueryContext(
            clock: clock, conforms: { UTType($0)?.conforms(to: UTType($1) ?? .item) ?? ($0 == $1) })
        let expression = try #require(intent(text).expression)
        return QueryMatcher(expression, context: context)
            .matches(ItemRecord(uniqueIdentifier: "a", attributes: attributes))
    }

    @Test("Filters find the matching items")
    func meaning() throws {
        let day = ISOMoment("2026-11-18T09:00:00Z")!.instant
        let item: [String: AttributeValue] = [
            "contentType": .string("public.jpeg"), "contentModificationDate": .date(day), "fileSize": .double(12.5),
            "authorNames": .array([.string("Bob Jones"), .string("Ánna Smith")]), "keywords": .array([.string("Work")]),
            "primaryRecipients": .array([
                .person(PersonValue(displayName: "Eve", handles: ["eve@example.org"], handleIdentifier: "email"))
            ]), "path": .string("/home/u/Projects/Oslo trip/a.jpg"), "title": .string("Harbour at night"),
            "attachmentNames": .array([.string("x.pdf")]),
            "contentURL": .url("file:///home/u/Projects/Oslo%20trip/a.jpg"),
        ]
        for text in [
            "kind:image", "kind:photos", "kind:pdf,jpg", "-kind:pdf", "from:anna", "from:ann", "from:\"anna smith\"",
            "from:bob",
            "to:eve", "to:eve@example.org", "in:projects", "in:\"oslo trip\"", "in:/home/u/projects", "in:~/Projects/",
            "tag:work",
            "title:harb",
            "title:night", "larger:10MB", "smaller:13mb", "has:attachment", "on:2026-11-18", "after:2026-11-18",
            "on:last week",
            "before:2026-11-19", "until:2026-11-18", "-on:today", "changed:>2026-11-17",
        ] { #expect(try Self.matches(text, item), "\(text)") }
        for text in [
            "kind:pdf", "-kind:image", "kind:document", "from:eve", "from:\"ann\"", "to:anna", "in:project",
            "in:/home/v", "tag:wor",
            "title:night_x", "larger:13MB", "has:link", "on:2026-11-17", "after:2026-11-19", "before:2026-11-18",
            "created:2026",
        ] { #expect(try !Self.matches(text, item), "\(text)") }
        #expect(try Self.matches("has:attachment", ["attachmentTypes": .array([.string("com.adobe.pdf")])]))
    }

    @Test("A day ends where the next starts")
    func days() throws {
        for (time, isInside) in [
            ("2026-11-15T23:59:59Z", false), ("2026-11-16T00:00:00Z", true), ("2026-11-16T23:59:59.9Z", true),
            ("2026-11-17T00:00:00Z", false),
        ] {
            let date = try #require(ISOMoment(time)).instant
            #expect(try Self.matches("on:2026-11-16", ["startDate": .date(date)]) == isInside)
        }
    }

    @Test("Every kind is a declared uniform type")
    func kinds() {
        for type in KindNames.allTypes { #expect(UTType(type) != nil, "\(type)") }
        for name in KindNames.names { #expect(intent("kind:\(name) x").filters.count == 1, "\(name)") }
    }

    @Test("Every attribute has a standard name, or is donated by extensions for mail")
    func attributes() {
        let filters = FilterName.allCases.map { name in
            let value =
                name.takesDates
                ? "today" : ["kind": "pdf", "larger": "1", "smaller": "1", "has": "attachment"][name.rawValue]
            return "\(name.rawValue):\(value ?? "anna")"
        }
        let names = filters.reduce(into: Set<String>()) { $0.formUnion(intent($1).expression?.attributeNames ?? []) }
        #expect(names.subtracting(AttributeNames.standard) == ["attachmentNames", "attachmentTypes"])
    }

    // MARK: Properties

    private static let parts = [
        "kind:pdf", "-kind:image,pdf", "from:\"a b\"", "from:", "after:last week", "on:2 days ago", "before:",
        "yesterday",
        "last", "week", "since", "foo:bar", "\"", "“", ",", ":", "-", " ", "  ", "in:x", "larger:1MB", "é", "app:m",
        "-app:m",
        "title:x,y,z", "\n", "2026", "from:a,", "has:", "kind:\"",
    ]

    @Test(
        "Any text is read: the words and filters cover it, in order, within the limits",
        arguments: 1...8 as ClosedRange<UInt64>)
    func anyText(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<400 {
            var text = ""
            for _ in 0..<random.below(14) {
                text += random.below(4) == 0 ? random.text(length: random.below(8)) : random.pick(Self.parts)
                if random.below(3) > 0 { text += " " }
            }
            try Self.check(text)
        }
    }

    @Test("Very long texts stay within the limits")
    func long() throws {
        for part in Self.parts + ["title:" + String(repeating: "\"*?,", count: 60)] {
            for separator in ["", " ", ",", "\""] {
                try Self.check(String(repeating: part + separator, count: 3_000))
            }
        }
        let many = intent(String(repeating: "tag:a ", count: 100))
        #expect(many.filters.count == 64 && many.isTruncated && many.words.terms.count == 36)
        #expect(intent("tag:" + Array(repeating: "a", count: 17).joined(separator: ",")).filters.isEmpty)
    }

    private static func check(_ text: String) throws {
        let intent = intent(text)
        let bytes = Array(text.utf8)
        #expect(intent.filters.count <= SearchIntent.maximumFilters && intent.hints.count <= SearchIntent.maximumHints)
        var end = 0
        for filter in intent.filters {
            #expect(filter.range.lowerBound >= end && filter.range.upperBound <= bytes.count && !filter.range.isEmpty)
            end = filter.range.upperBound
            #expect(String(validating: bytes[filter.range], as: UTF8.self) != nil)
            #expect((filter.expression == nil) != filter.apps.isEmpty)
        }
        for hint in intent.hints { #expect(hint.range.upperBound <= bytes.count && !hint.range.isEmpty) }
        // The remaining text equals the text without the filters.
        var blanked = bytes
        for filter in intent.filters { for index in filter.range { blanked[index] = 0x20 } }
        #expect(intent.words == UserQuery(String(decoding: blanked, as: UTF8.self)))
        if let expression = intent.expression {
            #expect(try QueryExpression(parsing: expression.description) == expression)
        }
    }

    @Test(
        "A filter alone has the same meaning at any position of a text",
        arguments: ["kind:pdf", "-tag:x", "from:\"a b\"", "after:2026"])
    func places(filter: String) {
        let alone = intent(filter).filters[0]
        for text in ["x \(filter)", "\(filter) x", "x  \(filter)\ty", "\"q\" \(filter) \"r\"", "tag:y \(filter)"] {
            #expect(
                intent(text).filters.contains { $0.expression == alone.expression && $0.sentence == alone.sentence })
        }
    }
}
