// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import TestSupport
import Testing
import TextAnalysis

@testable import SearchIndex

@Suite("Keys of texts in the attribute index")
struct AttributeKeyTests {
    /// The laws that make a lookup by key find every match, for every scalar that a key may
    /// contain.
    @Test("Folding case or diacritics first changes no key")
    func foldingInSteps() {
        // Without ideographs, Korean syllables, and planes that have neither case nor marks.
        for value in (1 as UInt32)...0x1FFFF
        where !(0x3400...0x9FFF).contains(value) && !(0xAC00...0xF8FF).contains(value)
            && !(0x17000...0x1CFFF).contains(value) && !(0x12000...0x167FF).contains(value)
        {
            guard let scalar = Unicode.Scalar(value), !AttributeKey.isUnpredictable(scalar) else { continue }
            let text = String(Character(scalar))
            let key = AttributeKey.folded(text)
            let withoutCase = TextFolding.folded(text, case: true, diacritics: false)
            let withoutDiacritics = TextFolding.folded(text, case: false, diacritics: true)
            guard AttributeKey.folded(withoutCase) == key, AttributeKey.folded(withoutDiacritics) == key else {
                Issue.record("U+\(String(value, radix: 16))")
                continue
            }
            // Marks must remain marks. Otherwise their order in a text would depend on the folding.
            if scalar.properties.canonicalCombiningClass != .notReordered {
                let marks = withoutCase.unicodeScalars.map(\.properties.canonicalCombiningClass)
                #expect(!marks.contains(.notReordered), "U+\(String(value, radix: 16))")
            }
        }
    }

    @Test("The key of a long text is the start of the folded text", arguments: [1, 2, 3] as [UInt64])
    func cutting(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var cut = 0
        for _ in 0..<3_000 {
            let text = QueryRandomItems.text(&random) + QueryRandomItems.text(&random)
            guard let key = AttributeKey.key(of: text) else { continue }
            let folded = AttributeKey.folded(text)
            let isCut = folded.count > AttributeKey.length
            let expected = isCut ? Array(folded.prefix(16)) + ["\u{10FFFF}"] : folded
            #expect(Array(key.unicodeScalars) == expected, "seed \(seed): \(text)")
            cut += isCut ? 1 : 0
        }
        #expect(cut > 100)
    }

    @Test("Texts that give no information have no key")
    func noKeys() {
        #expect(AttributeKey.key(of: "a\0b") == nil)
        #expect(AttributeKey.key(of: "ᾳ") == nil)
        #expect(AttributeKey.key(of: "a" + String(repeating: "\u{301}", count: 5_000) + "b") == nil)
        #expect(AttributeKey.key(of: "") == "")
        #expect(AttributeKey.key(of: "ÉCOLE") == "ecole")
        #expect(AttributeKey.key(of: String(repeating: "A", count: 64)) == String(repeating: "a", count: 64))
        #expect(
            AttributeKey.key(of: String(repeating: "A", count: 65)) == String(repeating: "a", count: 16) + "\u{10FFFF}")
    }

    @Test(
        "Keys that begin with a value are within its bounds",
        arguments: [
            ("Os", "Oslo"), ("", ""), ("서", "석"), ("\u{10FFFE}", "\u{10FFFE}b"), ("\u{D7FF}", "\u{D7FF}x"),
            ("日", "日本"),
        ])
    func bounds(start: String, text: String) throws {
        let part = try #require(AttributeKey.Part(start, isStart: true))
        let key = Array(try #require(AttributeKey.key(of: text)).utf8)
        #expect(!key.lexicographicallyPrecedes(Array(part.lowerBound.utf8)))
        if let upper = part.upperBound { #expect(key.lexicographicallyPrecedes(Array(upper.utf8))) }
    }

    @Test("Bounds exclude later keys")
    func upperBound() throws {
        #expect(AttributeKey.Part("Os", isStart: true)?.upperBound == "ot")
        #expect(AttributeKey.Part("a\u{10FFFE}", isStart: true)?.upperBound == "b")
        #expect(AttributeKey.Part("\u{10FFFE}", isStart: true)?.upperBound == nil)
    }
}
