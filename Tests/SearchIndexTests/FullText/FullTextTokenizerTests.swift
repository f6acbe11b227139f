// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import TestSupport
import Testing

import TextAnalysis

@testable import SearchIndex

extension FullTextTokenizer {
    /// Returns the words of a text in the index, each followed by its variants.
    static func words(of text: String) -> [String] {
        var words: [String] = []
        forEachWord(in: text) { word in
            words.append(String(decoding: word.bytes, as: UTF8.self))
            return true
        }
        return words
    }
}

@Suite("The words of the full-text index")
struct FullTextTokenizerTests {
    @Test("They equal the words of metadata queries, folded", arguments: 1...20 as ClosedRange<UInt64>)
    func agreement(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            let text = random.text(length: random.below(60))
            // These two characters have a special meaning.
            guard !text.unicodeScalars.contains(where: { FullTextTag.isTag($0) || $0.value == 1 }) else { continue }
            // The words of such a text differ from the words of its parts.
            guard
                !text.unicodeScalars.contains(where: {
                    AttributeKey.isUnpredictable($0) || "\u{E33}\u{EB3}".unicodeScalars.contains($0)
                })
            else { continue }
            #expect(TextAnalyzer.words(of: text) == Self.dividedAndFolded(text), "\(Array(text.unicodeScalars))")
        }
    }

    /// Divides a text before folding, as queries do, and also where folding turns one word into
    /// several.
    private static func dividedAndFolded(_ text: String) -> [String] {
        var boundary = WordBoundary(splitsCaseChanges: false)
        let elements = text.unicodeScalars.map {
            TextElement(scalar: $0, startsWord: boundary.isBoundary(before: $0))
        }
        boundary = WordBoundary(splitsCaseChanges: false)
        var words: [String] = []
        var isOpen = false
        for element in TextFolding.folded(elements, case: true, diacritics: true) {
            if boundary.isBoundary(before: element.scalar) || element.startsWord {
                isOpen = CharacterKind(element.scalar) != .separator
                if isOpen { words.append("") }
            }
            if isOpen { words[words.count - 1].unicodeScalars.append(element.scalar) }
        }
        return words
    }

    @Test("Runs of letters are words, and so is each character of a script without spaces")
    func examples() {
        #expect(FullTextTokenizer.words(of: "Foo_bar-42 it's") == ["foo", "bar", "42", "it", "s", "its"])
        #expect(FullTextTokenizer.words(of: "Crème BRÛLÉE, Straße") == ["creme", "brulee", "strasse"])
        #expect(FullTextTokenizer.words(of: "東京tower🎉") == ["東", "京", "tower", "🎉"])
        #expect(FullTextTokenizer.words(of: " \u{0} — …") == [])
    }

    @Test("The beginning of an endless word is a word, in whole letters", arguments: ["a", "é", "x\u{301}", "я"])
    func longWord(letter: String) throws {
        let words = FullTextTokenizer.words(of: String(repeating: letter, count: 5000))
        let word = try #require(words.first)
        #expect(words.count == 1 && word.utf8.count <= TextAnalyzer.maximumWordBytes)
        #expect(!word.unicodeScalars.contains("\u{FFFD}"))
    }

    @Test("Tag scalars are no words of a text, and a text of tags has only tags")
    func tags() {
        #expect(FullTextTokenizer.words(of: "a\u{F0001}b \u{100002}") == [])
        let words = FullTextTokenizer.words(of: FullTextTag(bundle: 7).text)
        #expect(words.count == 1 && words.allSatisfy { $0.unicodeScalars.allSatisfy(FullTextTag.isTag) })
    }

    @Test("Adjacent words are found at their position, even by the beginning of the last word")
    func sequences() {
        func occurs(_ words: [String], _ isPrefix: Bool, _ text: String) -> Bool {
            WordSequence(words, isPrefix: isPrefix).occurs(in: text)
        }
        #expect(occurs(["no"], true, "Release Notes") && !occurs(["no"], false, "Release Notes"))
        #expect(
            occurs(["release", "no"], true, "the release notes") && !occurs(["release", "no"], true, "no release"))
        #expect(occurs(["a", "a", "b"], false, "a a a b") && !occurs(["a", "a", "b"], false, "a b a b"))
        #expect(occurs(["京"], true, "東京タワー") && occurs(["東", "京"], false, "在東京"))
    }

    @Test("Sequences are found exactly where FTS5 finds them", arguments: 1...4 as ClosedRange<UInt64>)
    func sequencesAsInFTS5(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try Store()
        let words = ["a", "ab", "abc", "b", "東", "京", "é", "o'b", "v12", "c++"]
        var texts: [String: String] = [:]
        for number in 0..<60 {
            let text = (0..<random.below(8)).map { _ in random.pick(words) }.joined(separator: random.pick([" ", "-"]))
            texts["\(number)"] = text
            try await store.put(item("\(number)", text: text))
        }
        for _ in 0..<60 {
            let phrase = (0..<(1 + random.below(3))).map { _ in random.pick(words) }
            let isPrefix = random.below(2) == 0
            let query = "\"" + phrase.joined(separator: " ") + (isPrefix ? "" : "\"")
            let sequence = WordSequence(TextAnalyzer.searchWords(of: phrase.joined(separator: " ")), isPrefix: isPrefix)
            let expected = texts.filter { sequence.occurs(in: $0.value) }.keys.sorted()
            #expect(try await store.found(query).sorted() == expected, "seed \(seed): \(query)")
            for (identifier, text) in texts where sequence.occurs(in: text) {
                let record = try item(identifier, text: text).encoded()
                #expect(sequence.mayOccur(inRecord: record), "seed \(seed): \(query)")
            }
        }
    }

    @Test("The quick check rejects texts without the words in any script, and none with them")
    func quickLook() throws {
        func mayOccur(_ sequence: WordSequence, _ text: String) throws -> Bool {
            sequence.mayOccur(inRecord: try item("one", title: text).encoded())
        }
        let pack = WordSequence(["pac"], isPrefix: true)
        let rejected = [
            "résumé — “naïve”", "Пакет", "東京 aпac", "unpacked opac", "été", "pa ck", "p—ac", "épac", "p",
            "the unpacked opac of a campaign 1pac pa c and some more", "sixteen letters.épac and sixteen more",
        ]
        for text in rejected {
            #expect(try !mayOccur(pack, text), "\(text)")
        }
        let accepted = [
            "Päckchen", "„pack“", "東pack", "pa\u{301}c", "a-pac", "PACK", "sixteen letters.pac and sixteen more",
            "an empty (Pac) in a block", "at the end of a block, p'ac", "fifteen letter-päc over the end of one",
        ]
        for text in accepted {
            #expect(try mayOccur(pack, text), "\(text)")
        }
        let inside = WordSequence(inside: "pac")
        #expect(try mayOccur(inside, "unpacked") && mayOccur(inside, "öpäc") && !mayOccur(inside, "pa c"))
        #expect(inside.occurs(in: "a compact") && !inside.occurs(in: "pact pac") && !inside.occurs(in: "pa c"))
        #expect(inside.occurs(in: "pacpac") && inside.occurs(in: "opac") && inside.occurs(in: "CÖMPÄCT"))
    }

    @Test("A word that occurs passes the check, with any letters", arguments: 1...4 as ClosedRange<UInt64>)
    func quickLookAtAll(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let pieces: [Unicode.Scalar] = [
            "a", "B", "1", " ", "-", "é", "ä", "ß", "ŉ", "İ", "ı", "—", "’", "²", "ª", "\u{AD}", "\u{200D}", "\u{301}",
            "\u{338}", "Ａ", "ﬁ", "京", "ア", "한", "ж", "K", "ǆ", "🎉", "\u{1F3FB}",
        ]
        let plain: [Unicode.Scalar] = ["a", "B", "c", "1", " ", "-", "'", "_", "\u{11}"]
        var met = 0
        for _ in 0..<400 {
            var scalars = String.UnicodeScalarView()
            // Long texts have blocks of ASCII between other characters.
            let isLong = random.below(3) == 0
            for _ in 0..<random.below(isLong ? 90 : 12) {
                scalars.append(random.pick(isLong && random.below(30) > 0 ? plain : pieces))
            }
            let text = String(scalars)
            let record = try item("one", title: text).encoded()
            let words = TextAnalyzer.words(of: text)
            guard !words.isEmpty else { continue }
            let start = random.below(words.count)
            let part = Array(words[start..<(start + 1 + random.below(words.count - start))])
            var cut = part
            cut[cut.count - 1] = String(part[part.count - 1].unicodeScalars.prefix(1))
            for sequence in [WordSequence(part, isPrefix: false), WordSequence(cut, isPrefix: true)]
            where sequence.occurs(in: text) {
                met += 1
                #expect(sequence.mayOccur(inRecord: record), "seed \(seed): \(text.unicodeScalars.map(\.value))")
            }
            guard let inner = part.last?.unicodeScalars.dropFirst(), !inner.isEmpty else { continue }
            let skipped = inner.dropFirst(random.below(inner.count))
            let inside = WordSequence(inside: String(skipped.prefix(1 + random.below(skipped.count))))
            #expect(
                inside.occurs(in: text) && inside.mayOccur(inRecord: record),
                "seed \(seed): \(text.unicodeScalars.map(\.value))")
        }
        #expect(met > 300)
    }
}
