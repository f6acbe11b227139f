// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Testing

@testable import MetadataQuery

@Suite("Comparing numbers, dates, arrays and other values")
struct ValueEvaluationTests {
    @Test(
        "Numbers, truth values and dates",
        arguments: [
            (
                .integer(5),
                ["a == 5", "a == \"5\"", "a == 5.0", "a >= 5", "a < 5.5", "InRange(a,5,9)", "InRange(a,1,5)"]
            ),
            (.double(2.5), ["a == 2.5", "a > 2", "a <= 2.5", "a != 2", "InRange(a,\"2\",3)"]),
            (.boolean(true), ["a == 1", "a != 0", "a > 0", "a == '1'"]),
            (.boolean(false), ["a == 0", "a != 1", "a == \"*\""]),
            (.date(100.5), ["a == 100.5", "a < 101", "InRange(a,100,101)", "a == *", "a < $time.now"]),
            (.integer(.max), ["a == 9223372036854775807", "a < 9223372036854775808", "a > 9223372036854774784.0"]),
            (.integer(.min), ["a == -9223372036854775808", "a >= -9223372036854775809", "a < -9.2e18"]),
            (.double(.infinity), ["a > 1e308", "a > 9223372036854775807"]),
            (.double(.nan), ["a != 1", "a == *"]),
            (.double(-0.0), ["a == 0"]),
        ] as [(AttributeValue, [String])])
    func numbersHold(value: AttributeValue, queries: [String]) throws {
        for query in queries { #expect(try holds(query, item(["a": value])), "\(query)") }
    }

    @Test(
        "Numbers that do not compare",
        arguments: [
            (.integer(5), ["a == 6", "a == '5*'", "a == five", "a > 5", "InRange(a,6,4)", "a != 5"]),
            (.integer(.max), ["a == 9223372036854775808", "a == 9.223372036854775807e18"]),
            (.double(.nan), ["a == 1", "a < 1", "a >= 1", "InRange(a,-1e300,1e300)"]),
            (.string("5"), ["a > 4", "a < 6", "InRange(a,1,9)", "a == 5.0"]),
            (.boolean(true), ["a == true", "a < $time.now", "InRange(a,$time.now(-9999999999),$time.now)"]),
            (.data([1]), ["a == 1", "a != *", "a > 0"]),
            (.url("https://example.org/"), ["a == 'https://example.org'", "a > 1"]),
        ] as [(AttributeValue, [String])])
    func numbersDoNotHold(value: AttributeValue, queries: [String]) throws {
        for query in queries { #expect(try !holds(query, item(["a": value])), "\(query)") }
    }

    @Test("An array matches if any element does, and != only if none is equal")
    func arrays() throws {
        let record = item(["a": .array([.string("Travel"), .string("City"), .integer(7)])])
        for query in ["a == 'City'", "a == 'tr*'c", "a > 5", "a != 'Town'", "InRange(a,7,8)"] {
            #expect(try holds(query, record), "\(query)")
        }
        for query in ["a == 'TravelCity'", "a != 'City'", "a > 7"] { #expect(try !holds(query, record), "\(query)") }
    }

    @Test("A missing attribute matches no positive predicate and every negative one")
    func missing() throws {
        let empty: [AttributeValue?] = [nil, .null, .array([]), .array([.null]), .dictionary([:])]
        for value in empty {
            let record = item(value.map { ["a": $0] } ?? [:])
            for query in ["a == 'x'", "a == ''", "a == *", "a < 5", "a >= 5", "InRange(a,0,9)", "a == $time.today"] {
                #expect(try !holds(query, record), "\(query)")
                #expect(try holds("!" + query, record), "\(query)")
            }
            for query in ["a != 'x'", "a != *", "a != 5"] { #expect(try holds(query, record), "\(query)") }
        }
        #expect(try holds("a == ''", item(["a": .string("")])))
        #expect(try holds("a == *", item(["a": .data([])])))
    }

    @Test("People are found by name and handle, localised texts in each language, mail headers by value")
    func structuredTexts() throws {
        let person = PersonValue(displayName: "André Dahl", handles: ["dahl@example.org"], handleIdentifier: "emails")
        let record = item([
            "authors": .array([.person(person)]), "title": .localizedString(["nb": "Kart", "en": "Map"]),
            "emailHeaders": .dictionary(["X-Tag": .array([.string("blue")])]),
        ])
        for query in [
            "authors == 'andre dahl'cd", "authors == 'dahl@*'", "title == 'Kart'", "title == 'map'c",
            "emailHeaders == 'blue'", "** == 'dahl*'w", "** == 'kart'c",
        ] {
            #expect(try holds(query, record), "\(query)")
        }
        #expect(try !holds("title == 'Kart Map'", record))
        #expect(try !holds("** == 'blue'", record))
        #expect(try !holds("title != 'Map'", record))
    }

    @Test("** and * test the attributes that are searchable by default, one after the other")
    func anyAttribute() throws {
        let record = item([
            "title": .string("Oslo"), "textContent": .string("fjord"), "identifier": .string("secret"),
            "com_example_note": .string("hidden"),
        ])
        #expect(try holds("** == 'fjord'", record))
        #expect(try holds("* == 'Oslo'", record))
        #expect(try !holds("** == 'secret'", record))
        #expect(try !holds("** == 'oslo fjord'ct", record))
        #expect(try !holds("** != 'Oslo'", record))
        #expect(try holds("** != 'Bergen'", record))
        #expect(try !holds("** == 'hidden'", record))
        var context = QueryContext(clock: QueryClock(now: testNow))
        context.isSearchableByDefault = { $0 == "com_example_note" }
        #expect(try holds("** == 'hidden'", record, context: context))
        #expect(try !holds("** == 'Oslo'", record, context: context))
        #expect(try !holds("** == *", item(["identifier": .string("x")])))
    }

    @Test("A type matches itself, and its supertypes in the type tree only")
    func types() throws {
        let context = QueryContext(
            clock: QueryClock(now: testNow),
            conforms: { $0 == "com.example.list" && ["com.example.list", "public.text"].contains($1) })
        let record = item([
            "contentType": .string("com.example.list"),
            "contentTypeTree": .array([.string("com.example.list"), .string("com.example.parent")]),
        ])
        for query in [
            "contentType == 'com.example.list'", "contentTypeTree == 'public.text'",
            "contentTypeTree = 'com.example.parent'", "contentTypeTree == 'com.example.*'", "contentTypeTree == *",
            "contentTypeTree != 'public.image'", "kMDItemContentTypeTree == 'COM.example.Parent'c",
        ] {
            #expect(try holds(query, record, context: context), "\(query)")
        }
        for query in ["contentType == 'public.text'", "contentTypeTree != 'public.text'"] {
            #expect(try !holds(query, record, context: context), "\(query)")
        }
        let plain = item(["contentType": .string("Event")])
        #expect(try holds("contentTypeTree == 'Event'", plain, context: context))
        #expect(try !holds("contentTypeTree == 'public.item'", item([:]), context: context))
    }

    @Test("Identifier and domain are the item's")
    func identifiers() throws {
        var record = item(["domainIdentifier": .string("attribute")])
        #expect(try holds("uniqueIdentifier == 'note-1'", record))
        #expect(try holds("domainIdentifier == 'ssi.*'", record))
        record.domainIdentifier = nil
        #expect(try holds("domainIdentifier == 'attribute'", record))
    }

    @Test("Lists without operands and texts with an order, which only manual trees have, are harmless")
    func handMade() throws {
        let context = QueryContext(clock: QueryClock(now: testNow))
        #expect(QueryExpression.and([]).matches(item([:]), context: context))
        #expect(!QueryExpression.or([]).matches(item([:]), context: context))
        for text in [QueryExpression.and([]), .or([])] {
            let parsed = try QueryExpression(parsing: text.description)
            #expect(parsed.matches(item([:]), context: context) == text.matches(item([:]), context: context))
        }
        let ordered = QueryExpression.comparison(
            Comparison(attribute: .named("title"), operation: .less, value: .text(TextPattern(literal: "b"))))
        #expect(!ordered.matches(title("a"), context: context))
    }
}
