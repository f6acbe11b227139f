// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TextAnalysis
import UserSearch

extension PreparedSearch {
    /// Returns the items that have the rare words of a text.
    ///
    /// - Parameters:
    ///   - item: The number of the item with the text, which is left out.
    ///   - basis: The basis of the answer.
    func itemsWithWords(
        of text: EmbeddedText, otherThan item: Int64, _ limit: Int, basis: SimilarBasis, _ db: Database
    ) throws -> SimilarPage {
        let words = try CharacteristicWords(of: text, try run(db)).words
        // The space completes the last word.
        guard !words.isEmpty, let search = searching(for: words.joined(separator: " ") + " ") else {
            return SimilarPage(hits: [], basis: basis)
        }
        let run = try search.run(db)
        let ranked = try run.hits(limit + 1).hits.filter { $0.item != item && $0.parts.words >= Self.leastStrength }
        return SimilarPage(
            hits: try ranked.prefix(limit).compactMap { try run.read($0).map(projected) }, basis: basis, words: words)
    }

    /// The least strength of the words in an item, 0 to 1 (``ScoreParts/words``). One common word
    /// of several makes no similar item.
    private static let leastStrength = 0.1
}

/// The words that distinguish a text from others of the store: those that are frequent in the text
/// or in its title, and rare in the store.
struct CharacteristicWords {
    /// The words, the most characteristic first.
    let words: [String]

    /// The largest number of words, and of different words of a text that are looked up in the
    /// store.
    private static let (maximumWords, maximumLookups) = (12, 200)
    /// The number of different words after which a text is read no further.
    private static let maximumRead = 4000
    /// The factor of words of the title.
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
        var (places, found): ([[String]: Int], [Word]) = ([:], [])
        var forms: [[String]] = []
        for (part, isTitle) in [(text.title, true), (text.text, false)] {
            var part = part
            part.withUTF8 { bytes in
                TextAnalyzer.forEachWord(in: bytes, variants: false) { word in
                    let text = String(decoding: word.bytes, as: UTF8.self)
                    guard text.unicodeScalars.contains(where: \.properties.isAlphabetic) else { return true }
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
            // The item itself has the word.
            guard occurrences > 1 else { continue }
            let rarity = QueryWord.rarity(occurrences: occurrences, texts: Double(run.statistics.texts))
            guard rarity > QueryWord.leastRarity else { continue }
            weighed.append((found[place].text, found[place].weight * rarity))
        }
        // Sorting is stable, so equal words stay in the order of the text.
        words = weighed.sorted { $1.weight < $0.weight }.prefix(Self.maximumWords).map(\.word)
    }
}
