// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import Testing
import TextAnalysis

@testable import SearchIndex

@Suite("Searching plain letters in folded texts")
struct QueryFoldingTests {
    private static let scalars = (1...0x10FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)

    /// Returns the possible forms of a scalar under any modifiers.
    private static func foldings(_ scalar: Unicode.Scalar) -> [[Unicode.Scalar]] {
        [(false, false), (true, false), (false, true), (true, true)].map { foldsCase, foldsDiacritics in
            Array(
                TextFolding.folded(String(scalar), case: foldsCase, diacritics: foldsDiacritics).unicodeScalars)
        }
    }

    @Test("The first bytes of a scalar determine its folded form")
    func bytes() {
        var known = 0
        for scalar in Self.scalars {
            let bytes = Array(String(scalar).utf8)
            let (folded, length) = bytes.withUnsafeBytes { FoldedByte.next(in: $0, at: 0) }
            guard folded != .unknown else { continue }
            known += 1
            let foldings = Self.foldings(scalar)
            var isRight = length == bytes.count && foldings.allSatisfy { !$0.isEmpty }
            for scalars in foldings {
                for result in scalars where result.isASCII && FoldedByte.isLetter(UInt8(result.value)) {
                    isRight = isRight && folded == .letter(UInt8(result.value)) && scalars.count <= 2
                }
                // The scalars that follow a letter must not be letters, and must not be removed.
                isRight = isRight && scalars.filter { $0.isASCII && FoldedByte.isLetter(UInt8($0.value)) }.count <= 1
            }
            #expect(isRight, "U+\(String(scalar.value, radix: 16)): \(folded), \(foldings)")
        }
        #expect(known > 30_000)
    }

    @Test("The words of a text equal the words of the folded text, except for scalars that divide them")
    func divided() {
        var dividing = 0
        for scalar in Self.scalars where !scalar.isASCII && !AttributeKey.isUnpredictable(scalar) {
            guard !CharacterKind.divides(scalar) else {
                dividing += 1
                continue
            }
            let text = "a" + String(scalar) + "b"
            let words = TextAnalyzer.words(of: text)
            for (foldsCase, foldsDiacritics) in [(true, false), (false, true), (true, true)] {
                let folded = TextFolding.folded(text, case: foldsCase, diacritics: foldsDiacritics)
                #expect(TextAnalyzer.words(of: folded) == words, "U+\(String(scalar.value, radix: 16))")
            }
        }
        #expect((10..<1000).contains(dividing))
    }

    @Test(
        "Needles are found in texts whose folded form contains them",
        arguments: [
            ("view", "a long text of plain letters with a TableVIEWCell", true), ("view", "a viéw", true),
            ("view", "vi-ew and vi ew, vie w, iew", false), ("view", "vi日ew, vi–ew, выview", true),
            ("cafe", "CAFÉ", true), ("cafo", "CAFØ", true), ("cafe", "CAFØ", false), ("file", "ﬁle", true),
            ("1a", "0123456789abcdef1b11A", true),
            ("0", "\u{10}", true), ("view", "", false), ("view", "vie", false), ("zz", "日本語のz z", false),
        ])
    func needles(needle: String, text: String, isExpected: Bool) throws {
        let needle = try #require(ByteNeedle(needle))
        // At each offset in a block.
        for shift in 0..<20 {
            let text = String(repeating: ".", count: shift) + text
            #expect(Array(text.utf8).withUnsafeBytes { needle.mayOccur(in: $0) } == isExpected)
        }
    }

    @Test("Empty needles, and needles that are not plain, are rejected", arguments: ["", "É", "A", "a b", "日"])
    func noNeedles(text: String) { #expect(ByteNeedle(text) == nil) }

    @Test(
        "Tags mark the beginnings within words",
        arguments: [
            ("TableViewCell", ["vie", "cel"]), ("tableView", ["vie"]), ("NSView TABLE table view", []), ("aB aBc", []),
            ("éView", ["vie"]), ("e\u{301}Vi\u{301}ew", ["vie"]), ("日本View", ["vie"]), ("aX1y2", ["x1y"]),
            ("xYZ-w", []),
            ("a1Bcd", []), ("aɐBcd", ["bcd"]),
        ])
    func hints(text: String, beginnings: [String]) {
        var hints = FullTextHints()
        hints.add(text)
        #expect(hints.scalars.unicodeScalars.count == beginnings.count)
        for beginning in beginnings {
            let expression = FullTextHints.inWords(beginningWith: beginning) ?? ""
            #expect(hints.scalars.unicodeScalars.contains { expression.unicodeScalars.contains($0) }, "\(beginning)")
        }
    }

    @Test(
        "Tags mark texts that the tables do not store unchanged",
        arguments: [
            ("plain", false, false), ("日本語 café", false, false), ("a\u{345}", true, true), ("ᾳ", true, true),
            ("x\u{F0000}", true, true), ("nul\0one\u{1}", false, false),
            (String(repeating: "x", count: 49), false, true),
            (String(repeating: "é", count: 49), false, true), (String(repeating: "x", count: 48), false, false),
        ])
    func uncertain(text: String, inText: Bool, inTitle: Bool) {
        var hints = FullTextHints()
        hints.add(text)
        #expect(hints.scalars.isEmpty != inText)
        hints = FullTextHints()
        hints.addUncertainties(of: text)
        #expect(hints.scalars.isEmpty != inTitle)
        for scalar in hints.scalars.unicodeScalars { #expect(FullTextHints.uncertain.unicodeScalars.contains(scalar)) }
    }
}
