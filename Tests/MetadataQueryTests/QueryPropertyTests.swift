// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import MetadataQuery

@Suite("Properties of queries")
struct QueryPropertyTests {
    static let context = QueryContext(
        clock: QueryClock(now: testNow), isSearchableByDefault: { $0 != "com_example_key" })

    @Test("Parsing the text of a tree gives the same tree", arguments: [1, 2, 3, 4] as [UInt64])
    func roundTrip(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let limits = QueryLimits(
            maximumBytes: 1 << 20, maximumDepth: 64, maximumTerms: 10_000, maximumValueLength: 4_096)
        for _ in 0..<500 {
            let expression = RandomQueries.expression(&random)
            let text = expression.description
            let parsed = try QueryExpression(parsing: text, limits: limits)
            #expect(parsed == expression, "\(text)")
            #expect(parsed.description == text)
        }
    }

    @Test("The text of a tree nests no deeper than its source")
    func depth() throws {
        for text in ["!!!a == 1", "!(a == 1)", "a == 1 || b == 1 && c == 1", "!(!(a == 1 && b == 1) || c == 1)"] {
            var limits = QueryLimits.standard
            limits.maximumDepth = 0
            while (try? QueryExpression(parsing: text, limits: limits)) == nil { limits.maximumDepth += 1 }
            let printed = try QueryExpression(parsing: text).description
            #expect(throws: Never.self) { try QueryExpression(parsing: printed, limits: limits) }
        }
    }

    @Test("Boolean laws hold, and != is the negation of ==", arguments: [11, 12, 13, 14] as [UInt64])
    func laws(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var matched = 0
        for _ in 0..<1_500 {
            let record = RandomQueries.record(&random)
            let one = RandomQueries.expression(&random, depth: 4)
            let two = RandomQueries.expression(&random, depth: 4)
            func holds(_ expression: QueryExpression) -> Bool { expression.matches(record, context: Self.context) }
            let (first, second) = (holds(one), holds(two))
            matched += first ? 1 : 0
            #expect(holds(.not(one)) == !first, "\(one)")
            #expect(holds(.and([one, two])) == (first && second))
            #expect(holds(.or([one, two])) == (first || second))
            if case .comparison(var comparison) = one, !comparison.operation.isOrdering {
                comparison.operation = comparison.operation == .equal ? .notEqual : .equal
                #expect(holds(.comparison(comparison)) == !first, "\(one)")
            }
        }
        // Both outcomes must be frequent; otherwise the laws would prove little.
        #expect((300...1_200).contains(matched))
    }

    @Test("Weaker conditions never match less: wildcards, c and d", arguments: [21, 22, 23] as [UInt64])
    func monotony(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var matched = 0
        for _ in 0..<4_000 {
            let record = title(random.pick(RandomQueries.texts) + random.pick(RandomQueries.texts))
            let pattern = RandomQueries.pattern(&random)
            // `?` matches after folding, when ß is two characters.
            if pattern.elements.contains(.anyCharacter), record.text("title")?.contains("ß") == true { continue }
            var comparison = Comparison(attribute: .named("title"), operation: .equal, value: .text(pattern))
            guard QueryExpression.comparison(comparison).matches(record, context: Self.context) else { continue }
            matched += 1
            comparison.options = [.caseInsensitive]
            #expect(QueryExpression.comparison(comparison).matches(record, context: Self.context))
            comparison.options = [.caseInsensitive, .diacriticInsensitive]
            #expect(QueryExpression.comparison(comparison).matches(record, context: Self.context), "\(comparison)")
            comparison.options = []
            comparison.value = .text(TextPattern([.anyText] + pattern.elements + [.anyText]))
            #expect(QueryExpression.comparison(comparison).matches(record, context: Self.context), "\(comparison)")
            guard !pattern.elements.isEmpty else { continue }
            comparison.options = [.wordBased]
            comparison.value = .text(pattern)
            #expect(QueryExpression.comparison(comparison).matches(record, context: Self.context), "\(comparison)")
        }
        #expect(matched > 200)
    }

    /// The obvious matcher with backtracking, as a reference.
    static func slow(_ pattern: ArraySlice<TextPattern.Element>, _ text: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        switch first {
        case .literal(let literal):
            let scalars = Array(literal.unicodeScalars)
            return text.starts(with: scalars) && slow(rest, text.dropFirst(scalars.count))
        case .anyCharacter: return !text.isEmpty && slow(rest, text.dropFirst())
        case .anyText: return slow(rest, text) || (!text.isEmpty && slow(pattern, text.dropFirst()))
        }
    }

    @Test("Wildcards match like the reference matcher", arguments: [31, 32, 33, 34] as [UInt64])
    func wildcards(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var matched = 0
        for _ in 0..<5_000 {
            let pattern = TextPattern(
                (0..<random.below(6)).map { _ in
                    [.literal("a"), .literal("b"), .literal("ab"), .anyText, .anyCharacter][random.below(5)]
                })
            let text = String((0..<random.below(9)).map { _ in random.pick(["a", "b"] as [Character]) })
            let matcher = TextMatcher(pattern, options: [])
            let expected = Self.slow(pattern.elements[...], Array(text.unicodeScalars)[...])
            #expect(matcher.matches(ComparableText(text, options: [], limit: 100)) == expected, "\(pattern) \(text)")
            matched += expected ? 1 : 0
        }
        #expect(matched > 500)
    }

    @Test("Pieces longer than a machine word are found", arguments: [63, 64, 65, 128, 200])
    func longPieces(length: Int) {
        var random = SplitMix64(seed: UInt64(length))
        let piece = String((0..<length).map { _ in random.pick(["a", "b", "c"] as [Character]) })
        let before = String(repeating: "ab", count: 40) + String(piece.dropLast())
        for (text, expected) in [(before + piece + "xyz", true), (before + "xyz", false)] {
            let pattern = TextPattern([.anyText, .anyCharacter, .literal(piece), .anyCharacter, .anyText])
            let comparable = ComparableText(text, options: [], limit: .max)
            #expect(TextMatcher(pattern, options: []).matches(comparable) == expected)
        }
    }

    @Test("Patterns that provoke backtracking take no longer than others")
    func noBacktracking() {
        // With backtracking, this match would practically never finish.
        let text = ComparableText(String(repeating: "a", count: 20_000), options: [], limit: .max)
        let elements = (0..<400).flatMap { _ in [TextPattern.Element.anyText, .literal("aaaa"), .anyCharacter] }
        let pattern = TextPattern(elements + [.literal("b")])
        #expect(!TextMatcher(pattern, options: []).matches(text))
        #expect(TextMatcher(TextPattern(elements), options: []).matches(text))
        #expect(!TextMatcher(TextPattern([.anyText] + pattern.elements + [.anyText]), options: []).matches(text))
    }
}
