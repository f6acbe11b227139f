// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import SearchIndex
import TestSupport
import UserSearch

/// Measures corrections of misspelled words in searches of a store with this machine's manual
/// pages: their accuracy, and their latency with 500,000 words.
struct SpellingBenchmarks {
    let folder: String
    let seed: UInt64
    /// The number of misspelled words for each figure.
    private static let samples = 2_000
    private static let wordsOfItem = 500
    private static let itemsOfBatch = 500

    func run() async throws -> [Measurement] {
        let words = try Self.words()
        guard words.count > 5_000 else {
            throw BenchmarkError("This machine has manual pages with \(words.count) words only. Install more of them.")
        }
        let known = Set(words.map(\.word))
        let path = "\(folder)/spelling-\(seed)"
        try? FileManager.default.removeItem(atPath: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let index = try SearchIndex(directory: path, access: .readWrite)
        try await Self.fillWithManuals(index)
        var measurements: [Measurement] = []
        for edits in 1...2 {
            for isByOccurrences in [true, false] {
                var random = SplitMix64(seed: seed)
                let typed = Misspelling.samples(
                    Self.samples, of: words, known: known, edits: edits, byOccurrences: isByOccurrences, &random)
                measurements += try await quality(
                    of: typed, in: index,
                    name: (edits == 1 ? "one edit" : "two edits") + " of words drawn "
                        + (isByOccurrences ? "as often as they occur" : "evenly"))
            }
        }
        var replaced = 0
        for word in words where try await !index.corrections(of: word.word, limit: 1).isEmpty { replaced += 1 }
        measurements.append(
            Measurement(
                name: "words that occur and are replaced, of \(words.count)", value: Double(replaced), unit: "words",
                row: .spellingReplaced))
        measurements += try await time(index, words, known)
        try await index.close()
        return measurements
    }

    /// Searches for each word alone. A misspelled word is not counted if it occurs in the pages,
    /// since an author made the same error.
    private func quality(
        of typed: [Misspelling], in index: SearchIndex, name: String
    ) async throws -> [Measurement] {
        var (count, first, firstFive) = (0, 0, 0)
        for misspelling in typed {
            var request = SearchRequest(misspelling.typed + " ")
            request.limit = 1
            request.includesPending = false
            let page = try await index.search(request)
            guard page.hits.isEmpty || page.correction != nil else { continue }
            count += 1
            if page.correction?.text == misspelling.meant + " " { first += 1 }
            let corrections = try await index.corrections(of: misspelling.typed, limit: 5)
            if corrections.contains(where: { $0.word == misspelling.meant }) { firstFive += 1 }
        }
        return [
            Measurement(
                name: "right first, \(name)", value: Double(first) / Double(count), unit: "", row: .spellingFirst),
            Measurement(
                name: "in the first five, \(name)", value: Double(firstFive) / Double(count), unit: "",
                row: .spellingFirstFive),
        ]
    }

    private func time(
        _ index: SearchIndex, _ words: [(word: String, occurrences: Int)], _ known: Set<String>
    ) async throws -> [Measurement] {
        var random = SplitMix64(seed: seed)
        let typed = Misspelling.samples(500, of: words, known: known, edits: 2, byOccurrences: true, &random)
        // Words with inserted letters, similar to rare names and identifiers.
        var all = known
        var added: [String] = []
        while all.count < 500_000 {
            var scalars = Array(random.pick(words).word.unicodeScalars)
            for _ in 0...random.below(3) {
                scalars.insert(random.pick(Misspelling.letters), at: random.below(scalars.count + 1))
            }
            let word = Misspelling.word(scalars)
            if all.insert(word).inserted { added.append(word) }
        }
        var texts: [String] = []
        for start in stride(from: 0, to: added.count, by: Self.wordsOfItem) {
            texts.append(added[start..<min(start + Self.wordsOfItem, added.count)].joined(separator: " "))
        }
        try await Self.donate(texts, named: "words", to: index)
        var milliseconds: [(search: Double, correction: Double)] = []
        for misspelling in typed {
            var request = SearchRequest(misspelling.typed + " ")
            request.limit = 10
            request.includesPending = false
            let search = try await ProcessCost.measure { blackHole(try await index.search(request)) }
            let correction = try await ProcessCost.measure {
                blackHole(try await index.corrections(of: misspelling.typed, limit: 5))
            }
            milliseconds.append((search.wall * 1e3, correction.wall * 1e3))
        }
        let searches = Percentiles(milliseconds.map(\.search))
        let corrections = Percentiles(milliseconds.map(\.correction))
        return [
            Measurement(
                name: "five corrections among \(all.count) words, p50", value: corrections.p50, unit: "ms",
                row: .spellingTime),
            Measurement(
                name: "five corrections among \(all.count) words, p95", value: corrections.p95, unit: "ms",
                row: .spellingTime),
            Measurement(
                name: "a search with a misspelled word among \(all.count) words, p50", value: searches.p50, unit: "ms"),
            Measurement(
                name: "a search with a misspelled word among \(all.count) words, p95", value: searches.p95, unit: "ms"),
        ]
    }

    /// Adds one item for about every thousand words in the manual pages.
    private static func fillWithManuals(_ index: SearchIndex) async throws {
        var texts: [String] = []
        try TextSources.forEachDocument(of: .manual) { markup, data in
            var text: [UInt8] = []
            for paragraph in PlainText.paragraphs(of: Array(data), markup) {
                text += paragraph + [UInt8(ascii: "\n")]
                guard text.count > 6_000 else { continue }
                texts.append(String(decoding: text, as: UTF8.self))
                text.removeAll()
            }
            texts.append(String(decoding: text, as: UTF8.self))
        }
        try await donate(texts, named: "page", to: index)
    }

    private static func donate(_ texts: [String], named name: String, to index: SearchIndex) async throws {
        for start in stride(from: 0, to: texts.count, by: itemsOfBatch) {
            let items = try (start..<min(start + itemsOfBatch, texts.count)).map { number in
                var record = ItemRecord(uniqueIdentifier: "\(name) \(number)")
                record.attributes["textContent"] = .string(texts[number])
                return try EncodedItem(record)
            }
            try await index.index(items, in: IndexScope(bundle: "com.example.benchmark"))
        }
        try await index.settle()
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    /// Returns the words with at least three letters in the manual pages, most frequent first.
    private static func words() throws -> [(word: String, occurrences: Int)] {
        var counts: [String: Int] = [:]
        try TextSources.forEachDocument(of: .manual) { markup, data in
            for paragraph in PlainText.paragraphs(of: Array(data), markup) {
                // The same words as in the store: only letters, not adjacent to digits or other
                // characters.
                for word in paragraph.split(whereSeparator: {
                    !Self.isLetter($0) && !(0x30...0x39).contains($0) && $0 < 0x80
                })
                where word.count > 2 && word.allSatisfy(Self.isLetter) {
                    counts[String(decoding: word.map { $0 | 0x20 }, as: UTF8.self), default: 0] += 1
                }
            }
        }
        // A word that occurs only once may be an error by the page's author.
        return counts.filter { $0.value > 1 }.map { (word: $0.key, occurrences: $0.value) }
            .sorted { $0.occurrences == $1.occurrences ? $0.word < $1.word : $0.occurrences > $1.occurrences }
    }
}

/// A word with random edits, generated as in Norvig's spelling test.
struct Misspelling {
    let typed: String
    let meant: String

    static let letters = Array("abcdefghijklmnopqrstuvwxyz".unicodeScalars)

    /// Returns misspelled words that do not occur in the pages, with at least four letters, or five
    /// for two edits.
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
            // Corrections need at least three letters for one edit, and five for two edits.
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
    /// Returns the first index of an ascending array for which the predicate holds.
    fileprivate func partitioningIndex(_ predicate: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
