// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import TextAnalysis

@Suite("Searched words")
struct TextAnalyzerTests {
    /// Returns the words of a text, with variants in parentheses.
    static func analyzed(_ text: String) -> [String] {
        var words: [String] = []
        var text = text
        text.withUTF8 { bytes in
            TextAnalyzer.forEachWord(in: bytes, variants: true) { word in
                let text = String(decoding: word.bytes, as: UTF8.self)
                words.append(word.isVariant ? "(\(text))" : text)
                return true
            }
        }
        return words
    }

    @Test(
        "Variants of a word",
        arguments: [
            ("Tim O'Reilly said", ["tim", "o", "reilly", "(oreilly)", "said"]), ("don’t", ["don", "t", "(dont)"]),
            ("rock'n'roll", ["rock", "n", "roll", "(rocknroll)"]), ("L’ÉCOLE", ["l", "ecole", "(lecole)"]),
            ("'quoted' text", ["quoted", "text"]), ("dogs' a", ["dogs", "a"]), ("d '' e", ["d", "e"]),
            ("Node v12.18.3", ["node", "v12", "(12)", "18", "3"]), ("v", ["v"]), ("vv12", ["vv12"]),
            ("C++ and g++", ["c", "(c++)", "and", "g", "(g++)"]), ("C# F#m", ["c", "(c#)", "f", "m"]),
            ("a++b", ["a", "b"]),
            ("c+", ["c"]), ("C++17", ["c", "(c++)", "17"]), ("python3.11", ["python3", "(3)", "11"]),
            ("python3 11", ["python3", "11"]), ("c+++", ["c", "(c++)"]), ("issue#12", ["issue", "12"]),
            ("東京's", ["東", "京", "s", "(京s)"]),
        ] as [(String, [String])])
    func variants(text: String, words: [String]) { #expect(Self.analyzed(text) == words) }

    @Test(
        "A typed word is searched in the form that finds it",
        arguments: [
            ("o'reilly", ["oreilly"]), ("oreilly", ["oreilly"]), ("v12.18.3", ["12", "18", "3"]), ("v8", ["v8"]),
            ("c++", ["c++"]), ("c++17", ["c++", "17"]), ("python3.11", ["python3", "11"]),
            ("rock'n'roll", ["rocknroll"]),
            ("tim o'reilly", ["tim", "o", "reilly"]), ("user_name", ["user", "name"]),
            ("anna@example.com", ["anna", "example", "com"]),
        ] as [(String, [String])])
    func typed(text: String, words: [String]) { #expect(TextAnalyzer.searchWords(of: text) == words) }

    @Test("Each word has its range in the text, and the ranges are in order", arguments: [1, 2, 3, 4] as [UInt64])
    func ranges(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            let text = random.textOfAllScripts(words: random.below(6))
            var start = 0
            Array(text.utf8).withUnsafeBufferPointer { bytes in
                TextAnalyzer.forEachWord(in: bytes, variants: true) { word in
                    #expect(!word.range.isEmpty && word.range.upperBound <= bytes.count)
                    if !word.isVariant {
                        #expect(word.range.lowerBound >= start)
                        start = word.range.lowerBound
                    }
                    // The characters that follow decide whether it is a version number.
                    guard !word.isVariant else { return true }
                    let part = String(decoding: UnsafeBufferPointer(rebasing: bytes[word.range]), as: UTF8.self)
                    let words = TextAnalyzer.words(of: part)
                    let form = String(decoding: word.bytes, as: UTF8.self)
                    #expect(words.contains(form), "\(form) in \(part) of \(text)")
                    return true
                }
            }
        }
    }

    @Test("Wide and narrow forms are folded to plain ones")
    func widths() {
        for value in (0x21...UInt32(0x7E)) {
            guard let plain = Unicode.Scalar(value), let wide = Unicode.Scalar(value + 0xFEE0) else { continue }
            #expect(
                TextAnalyzer.words(of: String(Character(wide))) == TextAnalyzer.words(of: String(Character(plain))))
        }
        #expect(TextAnalyzer.words(of: "ﾊﾞﾝｺｸ") == TextAnalyzer.words(of: "バンコク"))
    }

    @Test("Any bytes are divided, and each word is UTF-8 and not too long", arguments: [5, 6, 7] as [UInt64])
    func anyBytes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<3_000 {
            let bytes = (0..<random.below(200)).map { _ in
                random.below(2) == 0 ? UInt8(random.below(256)) : random.pick(Array("'+#v1aé’".utf8))
            }
            bytes.withUnsafeBufferPointer { text in
                var words = 0
                TextAnalyzer.forEachWord(in: text, variants: true) { word in
                    if !word.isVariant { words += 1 }
                    #expect(!word.bytes.isEmpty && word.bytes.count <= TextAnalyzer.maximumWordBytes + 2)
                    #expect(word.replaced <= words && word.range.upperBound <= text.count)
                    #expect(
                        !String(decoding: word.bytes, as: UTF8.self).contains("\u{FFFD}")
                            || text.contains { $0 >= 0x80 })
                    return true
                }
            }
        }
    }

    @Test("A walk that skips words finds the others as a whole walk does", arguments: [8, 9, 10, 11] as [UInt64])
    func skipping(seed: UInt64) {
        struct Found: Equatable {
            var bytes: [UInt8]
            var (range, replaced, position): (Range<Int>, Int, Int)
        }
        var random = SplitMix64(seed: seed)
        for _ in 0..<4_000 {
            let bytes: [UInt8] =
                random.below(2) == 0
                ? Array(random.textOfAllScripts(words: random.below(8)).utf8)
                : (0..<random.below(60)).map { _ in random.pick(Array("'+#v1a2bC .`’é京-".utf8)) }
            var wanted = (0..<256).map { _ in random.below(3) == 0 }
            // If a digit is wanted, no word is skipped.
            if random.below(4) != 0 { wanted.replaceSubrange(0x30...0x39, with: repeatElement(false, count: 10)) }
            var (all, found): ([Found], [Found]) = ([], [])
            var count = 0
            bytes.withUnsafeBufferPointer { text in
                TextAnalyzer.forEachWord(in: text, variants: true) { word in
                    if !word.isVariant { count += 1 }
                    all.append(
                        Found(
                            bytes: Array(word.bytes), range: word.range, replaced: word.replaced, position: count - 1))
                    return true
                }
                let read = wanted.withUnsafeBufferPointer { wanted in
                    TextAnalyzer.forEachWord(in: text, beginningWith: wanted) { word, position in
                        found.append(
                            Found(
                                bytes: Array(word.bytes), range: word.range, replaced: word.replaced,
                                position: position))
                        return true
                    }
                }
                #expect(read == count, "\(bytes)")
            }
            #expect(
                found.filter { wanted[Int($0.bytes[0])] } == all.filter { wanted[Int($0.bytes[0])] }, "\(bytes)")
        }
    }

    @Test("A walk ends when its body requests it")
    func ends() {
        var words = 0
        var text = "one two o'three four"
        text.withUTF8 { bytes in
            TextAnalyzer.forEachWord(in: bytes, variants: true) { _ in
                words += 1
                return words < 3
            }
        }
        #expect(words == 3)
    }
}
