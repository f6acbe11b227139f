// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Testing

@testable import MetadataQuery

/// 2024-05-15 (a Wednesday) 12:00 UTC.
let testNow = 737_467_200.0

func item(_ attributes: [String: AttributeValue]) -> ItemRecord {
    ItemRecord(uniqueIdentifier: "note-1", domainIdentifier: "ssi.domain.a", attributes: attributes)
}

func holds(
    _ query: String, _ record: ItemRecord, context: QueryContext = QueryContext(clock: QueryClock(now: testNow))
) throws -> Bool {
    try QueryExpression(parsing: query).matches(record, context: context)
}

func title(_ text: String) -> ItemRecord { item(["title": .string(text)]) }

@Suite("Comparing texts")
struct TextEvaluationTests {
    @Test(
        "Examples of the documentation",
        arguments: [
            (#"title == "Oslo""#, ["Oslo"], ["oslo", "Visit Oslo", ""]),
            (#"title == "Oslo"c"#, ["Oslo", "OSLO"], ["Visit Oslo"]),
            (#"title == "Oslo"wc"#, ["oslo-map.png", "Visit Oslo", "Oslo"], ["Oslofjord"]),
            (#"title == "View"w"#, ["TableViewCell", "View of Bergen"], ["NSView", "Review", "Viewing"]),
            (#"title == "André"cd"#, ["andre", "André", "ANDRE\u{301}"], ["Andrea"]),
            (#"title == "os*"c"#, ["Oslo", "os"], ["Kosovo", "Visit Oslo"]),
            (#"title == "*os*"c"#, ["Kosovo", "Oslo", "os"], ["Bergen"]),
            (#"title == "*""#, ["Oslo", ""], []),
            (#"title != "*""#, [], ["Oslo"]),
        ] as [(String, [String], [String])])
    func examples(query: String, matching: [String], others: [String]) throws {
        for text in matching { #expect(try holds(query, title(text)), "\(text)") }
        for text in others { #expect(try !holds(query, title(text)), "\(text)") }
    }

    @Test(
        "Decisions where the documentation is silent",
        arguments: [
            // Without w, wildcards apply to the whole value.
            (#"title == "*slo""#, ["Oslo", "slo", "Visit Oslo"], ["Oslo fjord"]),
            (#"title == "O*o""#, ["Oslo", "Oo", "Ooo"], ["O", "slo"]),
            (#"title == "?slo""#, ["Oslo", "øslo"], ["slo", "OOslo"]),
            (#"title == "a?c*e""#, ["abce", "aacde", "abc xe"], ["ace", "abcd"]),
            (#"title == "*?""#, ["a", "ab"], [""]),
            (#"title == "ab*ba""#, ["abba", "ab ba"], ["aba"]),
            // With w, a wildcard removes the word boundary at its end.
            (#"title == "os*"cw"#, ["Visit Oslofjord", "os"], ["Kosovo"]),
            (#"title == "*lo"cw"#, ["Visit Oslo now"], ["Oslofjord"]),
            (#"title == "*sl*"cw"#, ["Visit Oslo"], ["Bergen"]),
            (#"title == "of*gen"cw"#, ["View of old Bergen city"], ["View of Bergens"]),
            // w: a phrase in order. A transition from lower to upper case is a boundary even if
            // case is ignored.
            (#"title == "cell"cw"#, ["TableViewCell", "cell"], ["tableviewcell", "cells"]),
            (#"title == "view of"cw"#, ["A View of Bergen"], ["of view", "View  of"]),
            (#"title == "map"w"#, ["oslo_map", "oslo-map.png", "the map's"], ["map2", "maps"]),
            (#"title == "東京"w"#, ["東京都", "in 東京"], ["東-京"]),
            // t: words in any order, each a whole word.
            (#"title == "bergen view"tc"#, ["View of Bergen", "Bergen, a view"], ["Bergen", "Views of Bergen"]),
            (#"title == "visit os*"cwdt"#, ["Ósló: visit", "visit Oslofjord"], ["Visiting Oslo", "visit Kosovo"]),
            (#"title == "view"tc"#, ["table view"], ["TableViewCell"]),
            (#"title == "view"twc"#, ["table view", "TableViewCell"], ["Review"]),
            (#"title == "a - b"t"#, ["b, a"], ["a"]),
            (#"title == "---"t"#, [], ["---", "a --- b"]),
            (#"title == ""t"#, [""], ["a"]),
            // Folding.
            (#"title == "strasse"c"#, ["Straße", "STRASSE", "STRAẞE"], ["strase"]),
            (#"title == "ΟΔΟΣ"c"#, ["οδος", "οδοσ"], ["oδος"]),
            (#"title == "e\#u{301}""#, ["é"], ["e", "É"]),
            (#"title == "e*"d"#, ["élan", "elan"], ["Elan"]),
            (#"title == "o"cd"#, ["Ö", "ọ̈", "ø"], ["œ"]),
            (#"title == "か"d"#, ["か"], ["が"]),
            // Emptiness, escapes, and unquoted words.
            (#"title = """#, [""], [" ", "a"]),
            (#"title == "\*""#, ["*"], ["", "a"]),
            (#"title == "a\?""#, ["a?"], ["ab"]),
            ("title == os* c", ["Oslo"], ["Kosovo"]),
            ("title == *", ["Oslo"], []),
            ("title ==[c] '*X*'", ["axe"], ["a"]),
            // An unquoted number is compared with a text as it is written.
            ("title == 0150", ["0150"], ["150"]),
            (#"title != "Re:*"c"#, ["Hello", ""], ["RE: Hello"]),
        ] as [(String, [String], [String])])
    func decisions(query: String, matching: [String], others: [String]) throws {
        for text in matching { #expect(try holds(query, title(text)), "\(text)") }
        for text in others { #expect(try !holds(query, title(text)), "\(text)") }
    }

    @Test(
        "Forms met in real code",
        arguments: [
            #"title == "*oslo*"cd || textContent == "*oslo*"cd || keywords == "*oslo*"cd || authorNames == "*oslo*"cd"#,
            #"title == '*oslo*'c || contentDescription == '*oslo*'c"#,
            #"( title == "*slo"cd ) && kind == "articles""#,
            #"contentType == 'public.jpeg' && ( title == "Oslo"c || title == "Bergen"c )"#,
            "title == *",
            #"title == "*""#,
            "domainIdentifier == 'ssi.domain.a'",
            #"domainIdentifier == "ssi.domain.*""#,
            #"contentTypeTree="public.image""#,
            "title ==[c] '*OSLO*'",
            #"com_example_custom == "*X*"cd"#,
            "InRange(completionDate, $time.today(-10), $time.today)",
            "completionDate < $time.iso('2024-05-14T00:00:00Z')",
            #"title == "oslo"wc"#,
            #"**="os*"cwdt"#,
            #"** == "*sl*"c"#,
            #"* = "visit*"cdw"#,
            "* = visit* cdw",
            #"keywords == "trav*"cwdt"#,
            #"kMDItemTitle="os*"cwdt"#,
            #"rating == "4""#,
            #"uniqueIdentifier == "note-1""#,
            #"(contentType == "public.jpeg") && (subject != "Re:*")"#,
        ])
    func realCode(query: String) throws {
        let record = item([
            "title": .string("Oslo"), "textContent": .string("Visit the capital"), "kind": .string("articles"),
            "contentType": .string("public.jpeg"), "keywords": .array([.string("city"), .string("Travel")]),
            "com_example_custom": .string("axe"), "completionDate": .date(testNow - 3 * 86_400), "rating": .integer(4),
        ])
        let context = QueryContext(
            clock: QueryClock(now: testNow), conforms: { $0 == "public.jpeg" && $1 == "public.image" })
        #expect(try holds(query, record, context: context))
        let other = ItemRecord(uniqueIdentifier: "other", attributes: ["subject": .string("Re: no")])
        #expect(try !holds(query, other, context: context))
    }

    @Test("Text beyond the limit is ignored, and a longer text equals nothing and has no end")
    func textLimit() throws {
        var context = QueryContext(clock: QueryClock(now: testNow))
        context.maximumTextLength = 5
        let record = title("abcdefgh")
        #expect(try holds(#"title == "abc*""#, record, context: context))
        #expect(try holds(#"title == "*e*""#, record, context: context))
        for query in ["*f*", "abcde", "*e", "a*e"] {
            #expect(try !holds("title == \"\(query)\"", record, context: context))
        }
        #expect(try !holds(#"title == "abcde"w"#, record, context: context))
        #expect(try holds(#"title == "abcde""#, title("abcde"), context: context))
    }

    @Test("A value that folds to nothing matches only values that fold to nothing")
    func onlyDiacritics() throws {
        #expect(try holds("title == \"\u{301}\"d", title("")))
        #expect(try !holds("title == \"\u{301}\"d", title("a")))
        #expect(try !holds("title == \"\u{301}\"dw", title("a")))
        #expect(try !holds("title == \"\u{301}\"dt", title("a")))
    }
}
