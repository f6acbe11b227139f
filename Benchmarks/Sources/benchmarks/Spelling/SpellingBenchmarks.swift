// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import UserSearch

/// Corrections of misspelled words of this machine's manual pages: how often right, and how long they take among 500,000 words.
struct SpellingBenchmarks {
    let seed: UInt64
    /// Words misspelled for each figure.
    private static let samples = 2_000

    func run() throws -> [Measurement] {
        let words = try Self.words()
        guard words.count > 5_000 else {
            throw BenchmarkError("This machine has manual pages with \(words.count) words only. Install more of them.")
        }
        let known = Set(words.map(\.word))
        let dictionary = SpellingDictionary(words.lazy.map { ($0.word, $0.occurrences) })
        var measurements: [Measurement] = []
        for edits in 1...2 {
            for isByOccurrences in [true, false] {
                var random = SplitMix64(seed: seed)
                let typed = Misspelling.samples(
                    Self.samples, of: words, known: known, edits: edits, byOccurrences: isByOccurrences, &random)
                measurements += quality(
                    of: typed, in: dictionary,
                    name: (edits == 1 ? "one edit" : "two edits") + " of words drawn "
                        + (isByOccurrences ? "as often as they occur" : "evenly"))
            }
        }
        let replaced = words.count { !SpellingCorrection.corrections(of: $0.word, in: dictionary, limit: 1).isEmpty }
        measurements.append(
            Measurement(
                name: "words that occur and are replaced, of \(words.count)", value: Double(replaced), unit: "words",
                row: .spellingReplaced))
        return measurements + time(words, known)
    }

    private func quality(of typed: [Misspelling], in dictionary: SpellingDictionary, name: String) -> [Measurement] {
        var (first, firstFive) = (0, 0)
        for misspelling in typed {
            let corrections = SpellingCorrection.corrections(of: misspelling.typed, in: dictionary)
            if corrections.first?.word == misspelling.meant { first += 1 }
            if corrections.contains(where: { $0.word == misspelling.meant }) { firstFive += 1 }
        }
        let count = Double(typed.count)
        return [
            Measurement(name: "right first, \(name)", value: Double(first) / count, unit: "", row: .spellingFirst),
            Measurement(
                name: "in the first five, \(name)", value: Double(firstFive) / count, unit: "", row: .spellingFirstFive),
        ]
    }

    private func time(_ words: [(word: String, occurrences: Int)], _ known: Set<String>) -> [Measurement] {
        var random = SplitMix64(seed: seed)
        let typed = Misspelling.samples(500, of: words, known: known, edits: 2, byOccurrences: true, &random)
        // Words with letters put in, as rare names and identifiers are.
        var all = known
        var filled = words
        while filled.count < SpellingDictionary.maximumWords {
            var scalars = Array(random.pick(words).word.unicodeScalars)
            for _ in 0...random.below(3) {
                scalars.insert(random.pick(Misspelling.letters), at: random.below(scalars.count + 1))
            }
            let word = Misspelling.word(scalars)
            if all.insert(word).inserted { filled.append((word, 1)) }
        }
        let dictionary = SpellingDictionary(filled.lazy.map { ($0.word, $0.occurrences) })
        let milliseconds = typed.map { misspelling in
            let elapsed = ContinuousClock().measure {
                blackHole(SpellingCorrection.corrections(of: misspelling.typed, in: dictionary))
            }
            return Double(elapsed.components.attoseconds) / 1e15 + Double(elapsed.components.seconds) * 1e3
        }.sorted()
        return [
            Measurement(
                name: "a correction among \(dictionary.count) words, p50", value: milliseconds[milliseconds.count / 2],
                unit: "ms", row: .spellingTime),
            Measurement(
                name: "a correction among \(dictionary.count) words, p95",
                value: milliseconds[milliseconds.count * 95 / 100], unit: "ms", row: .spellingTime),
        ]
    }

    /// The words of three letters and more in the manual pages, the commonest first.
    private static func words() throws -> [(word: String, occurrences: Int)] {
        var counts: [String: Int] = [:]
        try TextSources.forEachDocument(of: .manual) { markup, data in
            for paragraph in PlainText.paragraphs(of: Array(data), markup) {
                for word in paragraph.split(whereSeparator: { !(0x61...0x7A).contains($0 | 0x20) }) where word.count > 2
                {
                    counts[String(decoding: word.map { $0 | 0x20 }, as: UTF8.self), default: 0] += 1
                }
            }
        }
        // A word that occurs once is as likely to be a slip of the page's author.
        return counts.filter { $0.value > 1 }.map { (word: $0.key, occurrences: $0.value) }
            .sorted { $0.occurrences == $1.occurrences ? $0.word < $1.word : $0.occurrences > $1.occurrences }
    }
}

/// A word with random edits in it, the way Norvig's bench for spelling makes them.
struct Misspelling {
    let typed: String
    let meant: String

    static let letters = Array("abcdefghijklmnopqrstuvwxyz".unicodeScalars)

    /// Misspelled words that do not occur, of four letters and more, with two edits of five and more.
    static func samples(
        _ count: Int, of words: [(word: String, occurrences: Int)], known: Set<String>, edits: Int, byOccurrences: Bool,
        _ random: inout SplitMix64
    ) -> [Misspelling] {
        let pool = words.filter { (3 + edits...SpellingCorrection.longestWord - 2).contains($0.word.utf8.count) }
        var sums: [Int] = []
        for word in pool { sums.append((sums.last ?? 0) + (byOccurrences ? word.occurrences : 1)) }
        var samples: [Misspelling] = []
        while samples.count < count {
            let drawn = random.below(sums.last ?? 1)
            let meant = pool[sums.partitioningIndex { $0 > drawn }].word
            var scalars = Array(meant.unicodeScalars)
            for _ in 0..<edits { edit(&scalars, &random) }
            let typed = word(scalars)
            // With one edit, words of three letters may come of it; with two, those of five are the shortest that are tried.
            guard !known.contains(typed), scalars.count >= (edits == 1 ? 3 : 5) else { continue }
            samples.append(Misspelling(typed: typed, meant: meant))
        }
        return samples
    }

    static func word(_ scalars: [Unicode.Scalar]) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    private static func edit(_ scalars: inout [Unicode.Scalar], _ random: inout SplitMix64) {
        switch random.below(4) {
        case 0: scalars.remove(at: random.below(scalars.count))
        case 1: scalars.insert(random.pick(letters), at: random.below(scalars.count + 1))
        case 2: scalars[random.below(scalars.count)] = random.pick(letters)
        default:
            let place = random.below(scalars.count - 1)
            scalars.swapAt(place, place + 1)
        }
    }
}

extension [Int] {
    /// The first place of an ascending array for which the predicate holds.
    fileprivate func partitioningIndex(_ predicate: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
