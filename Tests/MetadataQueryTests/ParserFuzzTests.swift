// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import MetadataQuery

@Suite("Hostile queries")
struct ParserFuzzTests {
    /// Parses a text. An accepted text is printed and parsed again, and every error position lies
    /// within the text.
    static func check(_ text: String) -> Bool {
        do {
            let expression = try QueryExpression(parsing: text)
            var limits = QueryLimits.standard
            limits.maximumBytes = .max
            let again = try? QueryExpression(parsing: expression.description, limits: limits)
            #expect(again == expression, "\(text)")
            _ = expression.matches(title("Oslo"), context: QueryPropertyTests.context)
            return true
        } catch {
            #expect(error.position.utf8Offset <= text.utf8.count, "\(text)")
            #expect(error.description.utf8.count < 400)
            return false
        }
    }

    @Test("Random bytes", arguments: [1, 2, 3, 4] as [UInt64])
    func randomBytes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var accepted = 0
        for _ in 0..<2_000 {
            let bytes = (0..<random.below(60)).map { _ in UInt8(random.below(256)) }
            if Self.check(String(decoding: bytes, as: UTF8.self)) { accepted += 1 }
        }
        #expect(accepted < 2_000)
    }

    @Test("Random sequences of tokens", arguments: [5, 6, 7, 8] as [UInt64])
    func randomTokens(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let tokens = [
            "title", "==", "=", "!=", "<", "\"Oslo\"", "'x*'", "cd", "5", "*", "**", "(", ")", "&&", "||", "!", " ",
            "InRange(",
            ",", "$time.today", "$time.now(-5)", "$time.iso(", "[c]", "\\", "\"", "?", "\n", "é",
        ]
        var accepted = 0
        for _ in 0..<3_000 {
            var text = ""
            for _ in 0..<random.below(9) { text += random.pick(tokens) }
            if Self.check(text) { accepted += 1 }
            // An attribute, an operator and a random text, since more of these are valid queries.
            if Self.check("title" + random.pick(["==", "<", "!="]) + text) { accepted += 1 }
        }
        #expect(accepted > 100)
    }

    @Test("Valid queries with changed, removed and doubled scalars", arguments: [9, 10, 11, 12] as [UInt64])
    func mutations(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let replacements = Array("\"'\\*?()[]!&|=<>,$. acdwt0\u{0}\u{301}🙂\n".unicodeScalars)
        var accepted = 0
        for _ in 0..<1_500 {
            var scalars = Array(RandomQueries.expression(&random, depth: 3).description.unicodeScalars)
            for _ in 0..<(1 + random.below(3)) where !scalars.isEmpty {
                let place = random.below(scalars.count)
                switch random.below(4) {
                case 0: scalars[place] = random.pick(replacements)
                case 1: scalars.remove(at: place)
                case 2: scalars.insert(random.pick(replacements), at: place)
                default: scalars.removeSubrange(place...)
                }
            }
            if Self.check(String(String.UnicodeScalarView(scalars))) { accepted += 1 }
        }
        #expect((200...1_400).contains(accepted))
    }

    @Test("The longest queries of one kind are answered without a crash")
    func longest() {
        let limit = QueryLimits.standard.maximumBytes
        for unit in [
            "(", "!", "!(", "a", "*", "\\", "\"", "'", "a==1&&", "a==1||", "(a==1||", "a==", " ", "🙂", "\u{301}", "$",
        ] {
            let text = String(repeating: unit, count: limit / unit.utf8.count)
            #expect(!Self.check(text), "\(unit)")
            #expect(!Self.check("title == \"" + text), "\(unit)")
        }
        #expect(!Self.check(String(repeating: "a", count: limit + 1)))
    }

    @Test("The largest query within the limits is accepted")
    func largest() throws {
        let deep = String(repeating: "(", count: 32) + String(repeating: "!", count: 32) + "a==1"
        #expect(Self.check(deep + String(repeating: ")", count: 32)))
        #expect(Self.check(Array(repeating: "a==1", count: 1_024).joined(separator: "&&")))
        let value = String(repeating: "\\*", count: 4_096)
        #expect(Self.check(Array(repeating: "a=='\(value)'", count: 7).joined(separator: "||")))
    }

    @Test("Work grows with the length of the query, not with its square")
    func linear() throws {
        // Returns this thread's processor time, which does not depend on the machine's load.
        func spent() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        func cost(_ count: Int) throws -> Double {
            let text = "a == \"" + String(repeating: "x* ", count: count) + "\""
            let limits = QueryLimits(
                maximumBytes: .max, maximumDepth: 4, maximumTerms: 4, maximumValueLength: .max)
            return try (0..<5).map { _ in
                let begin = spent()
                _ = try QueryExpression(parsing: text, limits: limits)
                return spent() - begin
            }.min() ?? 0
        }
        // The text is four times as long. Quadratic cost would mean sixteen times the work.
        let ratio = try cost(80_000) / cost(20_000)
        #expect(ratio < 12, "\(ratio)")
    }
}
