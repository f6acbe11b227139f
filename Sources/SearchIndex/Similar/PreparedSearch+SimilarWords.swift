// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TextAnalysis
import UserSearch

extension PreparedSearch {
    /// Returns the items that contain the rare words of a text.
    ///
    /// - Parameters:
    ///   - item: The number of the item that the text belongs to. It is excluded.
    ///   - basis: The basis to report in the answer.
    func itemsWithWords(
        of text: EmbeddedText, otherThan item: Int64, _ limit: Int, basis: SimilarBasis, _ db: Database
    ) throws -> SimilarPage {
        let words = try CharacteristicWords(of: text, try run(db)).words
        // The trailing space marks the last word as complete.
        guard !words.isEmpty, let search = searching(for: words.joined(separator: " ") + " ") else {
            return SimilarPage(hits: [], basis: basis)
        }
        let run = try search.run(db)
        let ranked = try run.hits(limit + 1).hits.filter { $0.item != item && $0.parts.words >= Self.leastStrength }
        return SimilarPage(
            hits: try ranked.prefix(limit).compactMap { try run.read($0).map(projected) }, basis: basis, words: words)
    }

    /// The minimum strength of the words in an item, 0 to 1 (``ScoreParts/words``). A single common
    /// word out of several does not make an item similar.
    private static let leastStrength = 0.1
}

/// The words that distinguish a text from other texts in the store: words that are frequent in the
/// text or occur in its title, and are rare in the store. Function words are left out.
struct CharacteristicWords {
    /// The words, most characteristic first.
    let words: [String]

    /// The largest number of words, and the largest number of different words of a text to look up
    /// in the store.
    private static let (maximumWords, maximumLookups) = (12, 200)
    /// The number of different words after which the rest of a text is ignored.
    private static let maximumRead = 4000
    /// The weight of words in the title.
    private static let titleFactor = 2.0

    private struct Word {
        var text: String
        var count = 0
        var isInTitle = false

        var weight: Double { (1 + log(Double(count))) * (isInTitle ? CharacteristicWords.titleFactor : 1) }
    }

    init(of text: EmbeddedText, _ run: SearchRun) throws {
        guard !run.isMigrating else {
            words = []
            return
        }
        let (stems, languages) = (WordStems([]), run.statistics.languages)
        let spoken = languages + [LanguageGuess.language(of: text.text)].compactMap { $0 }
        var (places, found): ([[String]: Int], [Word]) = ([:], [])
        var forms: [[String]] = []
        for (part, isTitle) in [(text.title, true), (text.text, false)] {
            var part = part
            part.withUTF8 { bytes in
                TextAnalyzer.forEachWord(in: bytes, variants: false) { word in
                    let text = String(decoding: word.bytes, as: UTF8.self)
                    guard text.unicodeScalars.contains(where: \.properties.isAlphabetic) else { return true }
                    guard !QuestionWords.contains(text, in: spoken) else { return true }
                    let form = Set(languages.map { stems.stem(text, in: $0) }).sorted()
                    let place = places[form] ?? found.count
                    if place == found.count {
                        guard place < Self.maximumRead else { return false }
                        places[form] = place
                        forms.append(form)
                        found.append(Word(text: text, isInTitle: isTitle))
                    }
                    found[place].count += 1
                    return true
                }
            }
        }
        let order = found.indices.sorted { (found[$1].weight, $0) < (found[$0].weight, $1) }
        var weighed: [(word: String, weight: Double)] = []
        for place in order.prefix(Self.maximumLookups) {
            let occurrences = try run.occurrences(of: QueryWord(found[place].text, stems: forms[place]))
            // The item itself contains the word.
            guard occurrences > 1 else { continue }
            let rarity = QueryWord.rarity(occurrences: occurrences, texts: Double(run.statistics.texts))
            guard rarity > QueryWord.leastRarity else { continue }
            weighed.append((found[place].text, found[place].weight * rarity))
        }
        // Sorting is stable, so words with equal weights stay in text order.
        words = weighed.sorted { $1.weight < $0.weight }.prefix(Self.maximumWords).map(\.word)
    }
}
