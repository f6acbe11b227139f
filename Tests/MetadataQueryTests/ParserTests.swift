// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import MetadataQuery

@Suite("Parsing queries")
struct ParserTests {
    static func comparison(_ text: String) throws -> Comparison {
        guard case .comparison(let comparison) = try QueryExpression(parsing: text) else {
            throw ParseMismatch(text: text)
        }
        return comparison
    }

    struct ParseMismatch: Error { let text: String }

    @Test(
        "Each form is printed in canonical form",
        arguments: [
            (#"title == "Oslo""#, #"title == "Oslo""#),
            (#"title='Oslo'"#, #"title == "Oslo""#),
            (#"title = "Oslo"cw"#, #"title == "Oslo"cw"#),
            (#"title == "Oslo"wc"#, #"title == "Oslo"cw"#),
            (#"**="abc*"cwdt"#, #"** == "abc*"cwdt"#),
            (#"** == "*abc*"c"#, #"** == "*abc*"c"#),
            (#"* = "search*"cdw"#, #"** == "search*"cwd"#),
            ("* = search* cdw", #"** == "search*"cwd"#),
            ("title == foo c && kind == bar", #"title == "foo"c && kind == "bar""#),
            ("title == *", #"title == "*""#),
            (#"title != "*""#, #"title != "*""#),
            (#"title ==[c] '*X*'"#, #"title == "*X*"c"#),
            (#"title == [cd] "x"w"#, #"title == "x"cwd"#),
            (#"attr == "1""#, #"attr == "1""#),
            ("rating>=4.5", "rating >= 4.5"),
            ("rating == -1e3", "rating == -1e3"),
            ("postalCode ==[c] 0150", "postalCode ==[c] 0150"),
            (#"kMDItemTextContent == "x"cd"#, #"textContent == "x"cd"#),
            (#"_kMDItemLaunchString="x*"cwdt"#, #"_kMDItemLaunchString == "x*"cwdt"#),
            (#"URL == "x" && GPSDOP < 3"#, #"url == "x" && gpsdop < 3"#),
            ("InRange(dueDate,$time.today(-10),$time.today)", "InRange(dueDate, $time.today(-10), $time.today)"),
            ("inrange( rating , 1 , '5' )", "InRange(rating, 1, 5)"),
            ("a == 1 || b == 2 && c == 3", "a == 1 || b == 2 && c == 3"),
            ("(a == 1 || b == 2) && c == 3", "(a == 1 || b == 2) && c == 3"),
            ("a == 1 || (b == 2 && c == 3)", "a == 1 || b == 2 && c == 3"),
            ("((a == 1))", "a == 1"),
            ("!a == 1", "!a == 1"),
            ("! ( a == 1 && !b == 2 )", "!(a == 1 && !b == 2)"),
            (#"title == "a\"b\\c\*d\?e\'f""#, #"title == "a\"b\\c\*d\?e'f""#),
            (#"title == 'it\'s'"#, #"title == "it's""#),
            (#"title == "a**b?c""#, #"title == "a*b?c""#),
            (#"title == a\*b\ c"#, #"title == "a\*b c""#),
            (#"title == \5"#, #"title == "5""#),
            ("d > $time.now(+3600)", "d > $time.now(3600)"),
            ("d > $time.today(-7d)", "d > $time.today(-7)"),
            ("d > $time.today(-2M)", "d > $time.today(-2M)"),
            ("d > $time.today()", "d > $time.today"),
            ("d == $time.yesterday", "d == $time.yesterday"),
            ("d == $time.this_week(1) || d == $time.last_week", "d == $time.this_week(1) || d == $time.last_week"),
            ("d < $time.this_month(-1) && d < $time.this_year", "d < $time.this_month(-1) && d < $time.this_year"),
            ("d < $time.iso('2024-05-01T10:00:00Z')", "d < $time.iso(2024-05-01T10:00:00Z)"),
            ("d < $time.iso( 2024-05-01 )", "d < $time.iso(2024-05-01)"),
            ("com_company_app_key == 'é'", #"com_company_app_key == "é""#),
        ])
    func canonicalForm(text: String, printed: String) throws {
        let expression = try QueryExpression(parsing: text)
        #expect(expression.description == printed)
        #expect(try QueryExpression(parsing: printed) == expression)
    }

    @Test("&& binds tighter than ||, and parentheses group")
    func precedence() throws {
        let one = try QueryExpression(parsing: "a == 1")
        let two = try QueryExpression(parsing: "b == 2")
        let three = try QueryExpression(parsing: "c == 3")
        #expect(try QueryExpression(parsing: "a == 1 || b == 2 && c == 3") == .or([one, .and([two, three])]))
        #expect(try QueryExpression(parsing: "(a == 1 || b == 2) && c == 3") == .and([.or([one, two]), three]))
        #expect(try QueryExpression(parsing: "!a == 1 && b == 2") == .and([.not(one), two]))
        #expect(try QueryExpression(parsing: "(a == 1 && b == 2) && c == 3") == .and([.and([one, two]), three]))
    }

    @Test("Wildcards differ from escaped characters")
    func wildcards() throws {
        let pattern = try Self.comparison(#"a == "\**x?\?""#).value
        #expect(
            pattern == .text(TextPattern([.literal("*"), .anyText, .literal("x"), .anyCharacter, .literal("?")])))
        #expect(TextPattern([.literal("a"), .anyText]).prefix == "a")
        #expect(TextPattern([.anyText, .literal("a")]).suffix == "a")
        #expect(try Self.comparison("a == '**'").isPresenceTest)
        #expect(try Self.comparison("a < 5").isPresenceTest == false)
        #expect(TextPattern([.literal("a"), .literal(""), .literal("b")]).literal == "ab")
    }

    @Test("Numbers keep all digits of 64 bits and their spelling")
    func numbers() throws {
        #expect(NumberLiteral("9223372036854775807")?.value == .integer(.max))
        #expect(NumberLiteral("9223372036854775808")?.value == .double(0x1p63))
        #expect(NumberLiteral("-.5")?.value == .double(-0.5))
        #expect(NumberLiteral("+7")?.value == .integer(7))
        for text in ["", "-", ".", "1e", "0x10", "inf", "nan", "1 ", "1e999", "١", "--1", "1.2.3"] {
            #expect(NumberLiteral(text) == nil, "\(text)")
        }
        #expect(try Self.comparison("a == 1e999").value == .text(TextPattern(literal: "1e999")))
    }

    @Test("Escaped text of the user is taken literally")
    func escaping() throws {
        for text in [#"a"b\c*d?e'f"#, "", "\\", "💡\n"] {
            let query = "title == \"\(TextPattern.escaped(text))\""
            #expect(try Self.comparison(query).value == .text(TextPattern(literal: text)))
        }
    }

    @Test("kMDItem names and the spellings of Objective-C become property names")
    func names() {
        #expect(AttributeNames.propertyName(for: "kMDItemAuthors") == "authorNames")
        #expect(AttributeNames.propertyName(for: "kMDItemContentTypeTree") == "contentTypeTree")
        #expect(AttributeNames.propertyName(for: "kMDItemDurationSeconds") == "duration")
        #expect(AttributeNames.propertyName(for: "HTMLContentData") == "htmlContentData")
        #expect(AttributeNames.propertyName(for: "kMDItemUnheardOf") == "kMDItemUnheardOf")
        #expect(AttributeNames.propertyName(for: "title") == "title")
        #expect(AttributeNames.metadataKeys.count == 139)
        #expect(AttributeNames.metadataKeys.values.allSatisfy(AttributeNames.isValid))
        for name in ["", "a b", "a\"", "a*", String(repeating: "a", count: 257)] {
            #expect(!AttributeNames.isValid(name), "\(name)")
        }
    }
}
