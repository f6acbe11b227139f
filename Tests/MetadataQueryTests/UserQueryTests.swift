// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TextAnalysis

@testable import MetadataQuery

@Suite("Typed text")
struct UserQueryTests {
    /// Returns a short form of the query: `-` excluded, `"…"` phrase, `…` at the end for a prefix,
    /// words joined by `+`.
    static func short(_ text: String) -> [String] {
        UserQuery(text).terms.map { term in
            let words = term.words.joined(separator: "+")
            return (term.isExcluded ? "-" : "") + (term.isPhrase ? "\"\(words)\"" : words) + (term.isPrefix ? "…" : "")
        }
    }

    @Test(
        "Words, phrases, exclusions and the word being typed",
        arguments: [
            ("", []), ("   ", []), ("oslo", ["oslo…"]), ("oslo ", ["oslo"]), ("visit os", ["visit", "os…"]),
            ("\"visit oslo\" map", ["\"visit+oslo\"", "map…"]), ("\"visit oslo\"", ["\"visit+oslo\""]),
            ("\"visit os", ["\"visit+os\"…"]), ("oslo -fjord", ["oslo", "-fjord"]),
            ("-\"old map\" a ", ["-\"old+map\"", "a"]),
            ("e-mail", ["e+mail…"]), ("- a ", ["a"]), ("--a ", ["-a"]), ("-", []), ("\"\"", []), ("\"", []),
            ("& + a", ["a…"]),
            ("c++", ["c"]), ("foo,", ["foo"]), ("5\" screen ", ["5", "screen"]),
            ("“smart quotes” x", ["\"smart+quotes\"", "x…"]),
            ("„so“ «et» ", ["\"so\"", "\"et\""]), ("東京 駅", ["東+京", "駅…"]), ("a\u{3000}b\tc\n", ["a", "b", "c"]),
            ("🎉", ["🎉…"]), ("don't", ["don+t…"]), ("\"a\"b", ["\"a\"", "b…"]),
        ] as [(String, [String])])
    func terms(text: String, expected: [String]) {
        #expect(Self.short(text) == expected)
    }

    @Test("Each term has its range in bytes")
    func ranges() throws {
        let terms = UserQuery("é -\"x y\" zø").terms
        #expect(terms.map(\.range) == [0..<2, 3..<9, 10..<13])
        #expect(terms.map(\.textRange) == [0..<2, 5..<8, 10..<13])
        #expect(terms.map(\.text) == ["é", "x y", "zø"])
    }

    @Test("Limits truncate, and are reported")
    func limits() throws {
        let many = UserQuery(String(repeating: "a ", count: 65))
        #expect(many.terms.count == UserQuery.maximumTerms && many.isTruncated)
        #expect(!UserQuery(String(repeating: "a ", count: 64)).isTruncated)
        let words = UserQuery("\"" + String(repeating: "a ", count: 300) + "\"")
        #expect(words.terms[0].words.count == UserQuery.maximumWords && words.isTruncated)
        for shift in 0..<4 {
            let long = UserQuery(String(repeating: "x", count: shift) + String(repeating: "🎉", count: 1_100))
            #expect(long.isTruncated && long.terms[0].words.count == UserQuery.maximumWords)
            #expect(try #require(long.terms.last).range.upperBound <= UserQuery.maximumBytes)
        }
        #expect(!UserQuery(String(repeating: "x", count: 4_096)).isTruncated)
        #expect(UserQuery(String(repeating: "x", count: 4_097)).isTruncated)
    }

    @Test("Any text is a user query, and its ranges contain its terms", arguments: [1, 2, 3] as [UInt64])
    func anyText(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<1_500 {
            var text = ""
            for _ in 0..<random.below(10) {
                let piece = [" ", "-", "\"", "”", "oslo", "é", "\u{301}"]
                text += random.below(3) == 0 ? random.text(length: random.below(12)) : random.pick(piece)
            }
            let bytes = Array(text.utf8)
            var end = 0
            for term in UserQuery(text).terms {
                #expect(term.range.lowerBound >= end && term.range.upperBound <= bytes.count)
                #expect(Array(term.text.utf8) == Array(bytes[term.textRange]))
                #expect(term.textRange.clamped(to: term.range) == term.textRange)
                #expect(!term.words.isEmpty && !(term.isPrefix && term.isExcluded))
                end = term.range.upperBound
            }
        }
    }
}
