// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A word that occurs and may have been meant by one that occurs nowhere.
///
/// A word of three or four letters is tried within one edit, a longer one within two. Edits are insertion, deletion,
/// substitution and transposition of neighbours, in Unicode scalars. The score weighs how often the candidate occurs against
/// what the slip costs (``SlipCost``). A word that occurs has no corrections, and digits are never edited.
public struct SpellingCorrection: Hashable, Sendable {
    /// The word that occurs, folded.
    public let word: String
    /// How many edits lie between.
    public let edits: Int
    /// How often the word occurs.
    public let occurrences: Int
    /// How probable the word is, as a logarithm: only the difference to another correction's score has a meaning.
    public let score: Double

    /// The shortest word that is corrected, in scalars.
    public static let shortestWord = 3
    /// The longest word that is corrected, in scalars.
    public static let longestWord = 32
    /// The most corrections of one word.
    public static let maximumCount = 64

    /// How much less probable an arbitrary edit makes a word, in the logarithm's unit.
    private static let editWeight = 8.0

    /// How many edits are tried for a word of so many scalars.
    static func edits(forLength length: Int) -> Int {
        switch length {
        case shortestWord...4: 1
        case 5...longestWord: 2
        default: 0
        }
    }

    /// The corrections of a folded word, best first; none for a word that occurs.
    ///
    /// - Parameters:
    ///   - word: folded.
    ///   - limit: how many; at most ``maximumCount``.
    /// - Complexity: the vocabulary's scan, and about 0.1 µs for each word it hands out.
    public static func corrections(
        of word: String, in vocabulary: some SpellingVocabulary, limit: Int = 5
    ) -> [SpellingCorrection] {
        let scalars = Array(word.unicodeScalars.prefix(longestWord + 1))
        let most = edits(forLength: scalars.count)
        guard most > 0, limit > 0, let distance = EditDistance(scalars), vocabulary.occurrences(of: word) == 0 else {
            return []
        }
        let digits = scalars.filter(isDigit)
        var best = BestCorrections(limit: min(limit, maximumCount))
        vocabulary.forEachWord(near: SpellingSketch(scalars), within: most) { bytes, occurrences in
            let edits =
                bytes.allSatisfy { $0 < 0x80 }
                ? distance.edits(to: bytes.lazy.map { Unicode.Scalar($0) })
                : distance.edits(to: String(decoding: bytes, as: UTF8.self).unicodeScalars)
            guard (1...most).contains(edits) else { return }
            // No cost is below that of the cheapest slips.
            let prior = log(Double(occurrences) + 1)
            guard best.accepts(prior - editWeight * SlipCost.transposition * Double(edits)) else { return }
            let text = String(decoding: bytes, as: UTF8.self)
            let candidate = Array(text.unicodeScalars)
            guard candidate.filter(isDigit) == digits else { return }
            best.add(
                SpellingCorrection(
                    word: text, edits: edits, occurrences: occurrences,
                    score: prior - editWeight * distance.cost(to: candidate)))
        }
        return best.corrections
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.numericType != nil }
}

/// The best corrections so far, in order.
private struct BestCorrections {
    let limit: Int
    private(set) var corrections: [SpellingCorrection] = []

    init(limit: Int) { self.limit = limit }

    func accepts(_ score: Double) -> Bool {
        guard corrections.count == limit, let last = corrections.last else { return true }
        return score >= last.score
    }

    mutating func add(_ correction: SpellingCorrection) {
        let place = corrections.firstIndex { Self.isBefore(correction, $0) } ?? corrections.count
        guard place < limit else { return }
        corrections.insert(correction, at: place)
        if corrections.count > limit { corrections.removeLast() }
    }

    /// Equal scores in the order of the words, so that a result does not depend on the order of the vocabulary.
    private static func isBefore(_ left: SpellingCorrection, _ right: SpellingCorrection) -> Bool {
        left.score == right.score ? left.word < right.word : left.score > right.score
    }
}
