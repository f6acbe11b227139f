// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An existing word that may have been intended instead of a word that occurs nowhere.
///
/// A word of three or four letters is corrected within one edit, a longer word within two. Edits
/// are insertions, deletions, substitutions and transpositions of neighbouring Unicode scalars. The
/// score weighs the candidate's frequency against the cost of the typing error (``EditCost``).
///
/// A word that occurs has no corrections, and digits are never edited. The two words must share
/// more distinct letters than there are edits: `zzqqzz` is not a correction of `zzzz`.
public struct SpellingCorrection: Hashable, Sendable {
    /// The folded existing word.
    public let word: String
    /// The number of edits.
    public let edits: Int
    /// The number of occurrences of the word.
    public let occurrences: Int
    /// The logarithm of the word's probability; only differences between scores are meaningful.
    public let score: Double

    /// The length of the shortest word that is corrected, in scalars.
    public static let shortestWord = 3
    /// The length of the longest word that is corrected, in scalars.
    public static let longestWord = 32
    /// The largest number of corrections of one word.
    public static let maximumCount = 64
    /// The largest number of candidates whose occurrences are looked up.
    public static let maximumCandidates = 96

    /// The decrease in log probability for an edit of cost 1.
    private static let editWeight = 8.0

    /// Returns the number of edits allowed for a word length.
    static func edits(forLength length: Int) -> Int {
        switch length {
        case shortestWord...4: 1
        case 5...longestWord: 2
        default: 0
        }
    }

    /// Returns the corrections of a folded word, best first; none for a word that occurs.
    ///
    /// Occurrences are counted for the candidates with the cheapest typing errors: at most
    /// ``maximumCandidates``, and only those that may still be among the best. Words that do not
    /// occur are not included in this number, up to ``SpellingVocabulary/maximumLookups``.
    ///
    /// - Parameters:
    ///   - word: The folded word.
    ///   - limit: The number of corrections, at most ``maximumCount``.
    /// - Throws: The errors of the vocabulary.
    /// - Complexity: The vocabulary's scan, plus about 0.1 µs for each word that it returns.
    public static func corrections<Vocabulary: SpellingVocabulary>(
        of word: String, in vocabulary: Vocabulary, limit: Int = 5
    ) throws(Vocabulary.Failure) -> [SpellingCorrection] {
        let limit = min(limit, maximumCount)
        let candidates = limit > 0 ? try candidates(of: word, in: vocabulary) : []
        guard !candidates.isEmpty, try vocabulary.occurrences(of: word) == 0 else { return [] }
        var best: [SpellingCorrection] = []
        var counted = 0
        for candidate in candidates where counted < maximumCandidates {
            let most = log(Double(Vocabulary.maximumOccurrences) + 1) - editWeight * candidate.cost
            if best.count == limit, let last = best.last, most < last.score { break }
            let occurrences = try vocabulary.occurrences(of: candidate.word)
            guard occurrences > 0 else { continue }
            counted += 1
            let correction = SpellingCorrection(
                word: candidate.word, edits: candidate.edits, occurrences: occurrences,
                score: log(Double(occurrences) + 1) - editWeight * candidate.cost)
            let place = best.firstIndex { isBefore(correction, $0) } ?? best.count
            best.insert(correction, at: place)
            if best.count > limit { best.removeLast() }
        }
        return best
    }

    /// Returns the words within the allowed edits, cheapest errors first.
    private static func candidates<Vocabulary: SpellingVocabulary>(
        of word: String, in vocabulary: Vocabulary
    ) throws(Vocabulary.Failure) -> [Candidate] {
        let scalars = Array(word.unicodeScalars.prefix(longestWord + 1))
        let most = edits(forLength: scalars.count)
        guard most > 0, let distance = EditDistance(scalars) else { return [] }
        let digits = scalars.filter(isDigit)
        let letters = Set(scalars)
        var best = BestCandidates(limit: max(maximumCandidates, vocabulary.maximumLookups))
        try vocabulary.forEachWord(near: SpellingSketch(scalars), within: most) { bytes in
            let edits =
                bytes.allSatisfy { $0 < 0x80 }
                ? distance.edits(to: bytes.lazy.map { Unicode.Scalar($0) })
                : distance.edits(to: String(decoding: bytes, as: UTF8.self).unicodeScalars)
            // No candidate costs less than its number of cheapest edits.
            guard (1...most).contains(edits), best.accepts(EditCost.transposition * Double(edits)) else { return }
            let text = String(decoding: bytes, as: UTF8.self)
            let candidate = Array(text.unicodeScalars)
            guard candidate.filter(isDigit) == digits, letters.intersection(candidate).count > edits else { return }
            best.add(Candidate(word: text, edits: edits, cost: distance.cost(to: candidate)))
        }
        return best.inOrder
    }

    /// Orders equal scores by word, so that the result does not depend on the order of the
    /// vocabulary.
    private static func isBefore(_ left: SpellingCorrection, _ right: SpellingCorrection) -> Bool {
        left.score == right.score ? left.word < right.word : left.score > right.score
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.numericType != nil }
}

/// A word within the allowed edits of another word.
private struct Candidate {
    let word: String
    let edits: Int
    let cost: Double

    static func isBefore(_ left: Candidate, _ right: Candidate) -> Bool {
        left.cost == right.cost ? left.word < right.word : left.cost < right.cost
    }
}

/// The cheapest candidates so far.
private struct BestCandidates {
    let limit: Int
    private var candidates: [Candidate] = []
    /// The highest cost that is still accepted once there are enough candidates.
    private var highest = Double.infinity

    init(limit: Int) { self.limit = limit }

    var inOrder: [Candidate] { Array(candidates.sorted(by: Candidate.isBefore).prefix(limit)) }

    func accepts(_ cost: Double) -> Bool { cost <= highest }

    mutating func add(_ candidate: Candidate) {
        guard accepts(candidate.cost) else { return }
        candidates.append(candidate)
        // Sorts rarely, because sorting costs as much as comparing words.
        guard candidates.count >= 2 * limit else { return }
        candidates = inOrder
        highest = candidates.last?.cost ?? .infinity
    }
}
