// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import UserSearch

/// A vocabulary in memory that compares a word with every entry.
private struct Vocabulary: SpellingVocabulary {
    static let maximumOccurrences = 1_000
    let words: [String: Int]

    init(_ words: [(String, Int)]) { self.words = Dictionary(words) { $0 + $1 } }

    func occurrences(of word: String) throws(Never) -> Int { words[word] ?? 0 }

    func forEachWord(
        near sketch: SpellingSketch, within edits: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(Never) {
        for word in words.keys where mayBeWithin(edits, sketch, SpellingSketch(word.unicodeScalars)) {
            Array(word.utf8).withUnsafeBufferPointer(body)
        }
    }
}

private func mayBeWithin(_ edits: Int, _ left: SpellingSketch, _ right: SpellingSketch) -> Bool {
    abs(left.length - right.length) <= edits && SpellingSketch.mayBeWithin(edits, left.letters, right.letters)
}

@Suite("Spelling")
struct SpellingTests {
    private static let dictionary = Vocabulary([
        ("connection", 40), ("collection", 12), ("receive", 30), ("house", 50), ("mouse", 45), ("cat", 9), ("car", 90),
        ("bookkeeper", 3), ("utf8", 7), ("utf16", 9), ("москва", 5), ("the", 1_000), ("separate", 8), ("ls", 80),
    ])

    private static func words(_ word: String) -> [String] {
        SpellingCorrection.corrections(of: word, in: dictionary).map(\.word)
    }

    @Test(
        "Typing errors are corrected",
        arguments: [
            ("conection", "connection"), ("conenction", "connection"), ("recieve", "receive"), ("hosue", "house"),
            ("bokkeeper", "bookkeeper"), ("мосвка", "москва"), ("hte", "the"), ("seperate", "separate"), ("teh", "the"),
            ("onnection", "connection"), ("konnection", "connection"), ("connectoins", "connection"),
        ])
    func slips(typed: String, meant: String) { #expect(Self.words(typed).first == meant) }

    @Test("A word that occurs is never replaced", arguments: ["cat", "car", "mouse", "utf8", "ls", "москва"])
    func occurring(word: String) { #expect(Self.words(word).isEmpty) }

    @Test("Short words have one edit, the shortest and the longest none, and digits stay")
    func limits() {
        #expect(Self.words("cax") == ["car", "cat"])
        #expect(Self.words("xat") == ["cat"])
        #expect(Self.words("xay").isEmpty)
        #expect(Self.words("moex").isEmpty)
        #expect(Self.words("sl").isEmpty)
        #expect(Self.words("uft8") == ["utf8"])
        #expect(Self.words("utf9").isEmpty)
        #expect(Self.words(String(repeating: "a", count: 33)).isEmpty)
        #expect(Self.words("").isEmpty)
    }

    @Test("Near and frequent candidates come first, ties in the order of the words")
    func order() {
        #expect(Self.words("colection") == ["collection", "connection"])
        #expect(Self.words("colnection") == ["connection", "collection"])
        #expect(Self.words("couse") == ["house", "mouse"])
        let tied = [("abcda", 1), ("abcdb", 1)]
        for words in [tied, tied.reversed()] {
            let corrections = SpellingCorrection.corrections(of: "abcdz", in: Vocabulary(words))
            #expect(corrections.map(\.word) == ["abcda", "abcdb"] || corrections[0].score > corrections[1].score)
        }
    }

    @Test(
        "A word that shares fewer letters than the edits is not a correction",
        arguments: [
            ("zzqqzz", "zzzz", false), ("zzz", "zzzz", false), ("ababqq", "abab", false), ("aabb", "abbb", true),
        ])
    func nonsense(typed: String, other: String, isNear: Bool) {
        let corrections = SpellingCorrection.corrections(of: typed, in: Vocabulary([(other, 100)]))
        #expect(corrections.map(\.word) == (isNear ? [other] : []))
    }

    @Test("No more items than requested are returned")
    func count() {
        let many = Vocabulary((0..<500).map { ("abcd" + String($0, radix: 36), $0 + 1) })
        #expect(SpellingCorrection.corrections(of: "abcd", in: many, limit: 3).count == 3)
        #expect(SpellingCorrection.corrections(of: "abcdq", in: many, limit: 0).isEmpty)
        let all = SpellingCorrection.corrections(of: "abcdqq", in: many, limit: 10_000)
        #expect(all.count == SpellingCorrection.maximumCount)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.score >= $1.score })
    }

    @Test("The result equals a comparison with every word", arguments: [1, 2, 3, 4] as [UInt64])
    func againstEveryWord(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let letters = Array("abcдé字1".unicodeScalars)
        func word() -> String {
            var word = String.UnicodeScalarView()
            for _ in 0..<(2 + random.below(7)) { word.append(random.pick(letters)) }
            return String(word)
        }
        let words = Array(Set((0..<300).map { _ in word() })).sorted().map { ($0, 1 + random.below(1_000)) }
        let dictionary = Vocabulary(words)
        for _ in 0..<100 {
            let typed = word()
            let scalars = Array(typed.unicodeScalars)
            let most = SpellingCorrection.edits(forLength: scalars.count)
            let occurs = words.contains { $0.0 == typed }
            let expected = words.filter { candidate, _ in
                let other = Array(candidate.unicodeScalars)
                let digits = { (scalars: [Unicode.Scalar]) in scalars.filter { $0.properties.numericType != nil } }
                let edits = Self.plainDistance(scalars, other)
                return !occurs && edits <= most && digits(scalars) == digits(other)
                    && Set(scalars).intersection(other).count > edits
            }
            let found = SpellingCorrection.corrections(of: typed, in: dictionary, limit: 64)
            if expected.count <= 64 { #expect(Set(found.map(\.word)) == Set(expected.map(\.0))) }
            for correction in found {
                #expect(correction.edits == Self.plainDistance(scalars, Array(correction.word.unicodeScalars)))
            }
        }
    }

    /// A reference implementation of the optimal string alignment distance.
    private static func plainDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var table = [[Int]](repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
        for row in 0...left.count { table[row][0] = row }
        for column in 0...right.count { table[0][column] = column }
        for row in 0..<left.count {
            for column in 0..<right.count {
                var best = min(
                    table[row][column] + (left[row] == right[column] ? 0 : 1), table[row][column + 1] + 1,
                    table[row + 1][column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, table[row - 1][column - 1] + 1)
                }
                table[row + 1][column + 1] = best
            }
        }
        return table[left.count][right.count]
    }

    @Test("The sketch never rules out a word within its edits", arguments: [5, 6] as [UInt64])
    func sketches(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<3_000 {
            let word = Array(random.text(length: 2 + random.below(12)).unicodeScalars)
            guard word.count > 1 else { continue }
            var edited = word
            let edits = 1 + random.below(2)
            for _ in 0..<edits where edited.count > 1 {
                let place = random.below(edited.count - 1)
                switch random.below(4) {
                case 0: edited.remove(at: place)
                case 1: edited.insert(random.pick(word), at: place)
                case 2: edited[place] = random.pick(word)
                default: edited.swapAt(place, place + 1)
                }
            }
            #expect(mayBeWithin(edits, SpellingSketch(word), SpellingSketch(edited)))
        }
    }
}
