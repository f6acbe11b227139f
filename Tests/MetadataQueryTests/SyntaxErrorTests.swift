// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import MetadataQuery

@Suite("Errors of syntax")
struct SyntaxErrorTests {
    static func error(_ text: String, limits: QueryLimits = .standard) -> QuerySyntaxError? {
        do {
            _ = try QueryExpression(parsing: text, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "The reason, the position and the found text are reported",
        arguments: [
            ("", .unexpected, 0, "the end of the query"),
            ("   ", .unexpected, 3, "the end of the query"),
            ("title", .unexpected, 5, "the end of the query"),
            ("hello world", .unexpected, 6, "“world”"),
            ("title ==", .unexpected, 8, "the end of the query"),
            ("title == && a == 1", .unexpected, 9, "“&&”"),
            ("title == \"x", .unterminatedText, 9, "“\"”"),
            ("title == \"x\\\"", .unterminatedText, 9, "“\"”"),
            ("title == \"x\\", .unterminatedText, 12, "the end of the query"),
            ("title == \"x\"q", .unknownModifier, 12, "“q”"),
            ("title == \"x\" cd", .unexpected, 13, "“cd”"),
            ("title ==[x] 'a'", .unknownModifier, 9, "“x”"),
            ("title == \"é\" )", .unexpected, 14, "“)”"),
            ("(a == 1", .unexpected, 7, "the end of the query"),
            ("a == 1 & b == 2", .unexpected, 7, "“&”"),
            ("a == 1 AND b == 2", .unexpected, 7, "“AND”"),
            ("NOT a == 1", .unexpected, 4, "“a”"),
            ("a CONTAINS 'b'", .unexpected, 2, "“CONTAINS”"),
            ("a < \"b\"", .textHasNoOrder, 4, "“\"”"),
            ("InRange(a,x,2)", .textHasNoOrder, 10, "“x”"),
            ("InRange(a,1)", .unexpected, 11, "“)”"),
            ("InRange a == 1", .unexpected, 8, "“a”"),
            ("Between(a,1,2)", .unexpected, 0, "“Between”"),
            ("a == $time.tomorrow", .unknownTimeFunction, 5, "“$time.tomorrow”"),
            ("a == $time.todayish", .unknownTimeFunction, 5, "“$time.todayish”"),
            ("a == $now", .unknownTimeFunction, 5, "“$now”"),
            ("a == $time.today (1)", .unexpected, 17, "“(”"),
            ("a == $time.today(x)", .invalidTimeArgument, 17, "“x”"),
            ("a == $time.today(1q)", .invalidTimeArgument, 17, "“1q”"),
            ("a == $time.today(--1)", .invalidTimeArgument, 17, "“--1”"),
            ("a == $time.today(99999999999999999999)", .invalidTimeArgument, 17, "“99999999999999999999”"),
            ("a == $time.today(9999999)", .invalidTimeArgument, 17, "“9999999”"),
            ("a == $time.yesterday(1)", .invalidTimeArgument, 20, "“(”"),
            ("a == $time.iso(2024-13-01)", .invalidDate, 15, "“2024-13-01”"),
            ("a == $time.iso(2023-02-29)", .invalidDate, 15, "“2023-02-29”"),
            ("a == $time.iso('2024-01-01)", .unterminatedText, 15, "“'”"),
            ("***=1", .unexpected, 2, "“*”"),
            ("a\u{0}b == 1", .unexpected, 1, "the character U+0"),
        ] as [(String, QuerySyntaxError.Reason, Int, String)])
    func named(text: String, reason: QuerySyntaxError.Reason, offset: Int, found: String) throws {
        let error = try #require(Self.error(text))
        #expect(error.reason == reason)
        #expect(error.position.utf8Offset == offset)
        #expect(error.found == found)
        #expect(!error.expected.isEmpty)
    }

    @Test("Line and column are counted in scalars, the offset in bytes")
    func position() throws {
        let error = try #require(Self.error("title == \"ø\" &&\n  größe ? 5"))
        #expect(error.position == .init(utf8Offset: 27, line: 2, column: 9))
        #expect(error.description == "Line 2, column 9: found “?”, expected an operator (== != < <= > >=).")
    }

    @Test("Long words are shortened in the message")
    func shortened() throws {
        let error = try #require(Self.error("a == 1 " + String(repeating: "x", count: 500)))
        #expect(error.found == "“" + String(repeating: "x", count: 24) + "…”")
    }

    @Test("Limits are enforced")
    func limits() throws {
        let small = QueryLimits(maximumBytes: 60, maximumDepth: 3, maximumTerms: 2, maximumValueLength: 5)
        #expect(Self.error(String(repeating: " ", count: 61), limits: small)?.reason == .limitExceeded)
        #expect(Self.error("(((a == 1)))", limits: small) == nil)
        #expect(Self.error("((((a == 1))))", limits: small)?.position.utf8Offset == 3)
        #expect(Self.error("!!!!a == 1", limits: small)?.reason == .limitExceeded)
        #expect(Self.error("a == 1 || b == 1", limits: small) == nil)
        #expect(Self.error("a == 1 || b == 1 || c == 1", limits: small)?.position.utf8Offset == 20)
        #expect(Self.error("a == '12345'", limits: small) == nil)
        #expect(Self.error("a == '123456'", limits: small)?.reason == .limitExceeded)
        #expect(Self.error("a == 123*56", limits: small)?.reason == .limitExceeded)
        #expect(Self.error(String(repeating: "a", count: 257) + " == 1")?.reason == .limitExceeded)
    }
}
