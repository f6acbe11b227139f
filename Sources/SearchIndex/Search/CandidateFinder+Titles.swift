// SPDX-License-Identifier: Apache-2.0
import GRDB
import UserSearch

/// Titles and keywords with several words.
extension CandidateFinder {
    /// The titles and keywords that contain some words.
    struct TitleList {
        var evidence: Double
        /// `true` if there are at least as many as wanted.
        var isLong: Bool
        /// The sums of the strengths of the words, weighted by rarity.
        var sums: [Int64: Double]
    }

    /// Returns the titles and keywords that contain the given words, in any form: the newest, and
    /// if there are many, those in which a word is strongest.
    mutating func titles(with words: [QueryWord], evidence: Double) throws -> TitleList {
        let limit = max(depth, limits.together)
        let newest = try list(.ranked, words.map(title).joined(separator: " AND "), limit: limit)
        let missed = missed
        let measured = newest.count < depth ? [] : words.filter { missed.contains($0) && !$0.isShort }
        var strengths: [QueryWord: [Int64: Double]] = [:]
        if newest.count >= limit, !words.contains(where: \.isOpen) {
            for word in measured.sorted(by: { $0.rarity > $1.rarity }).prefix(Self.strongestWords) {
                strengths[word] = try strongestTitles(of: word, beside: words.filter { $0 != word })
            }
        }
        var sums: [Int64: Double] = [:]
        for text in newest { sums[text] = 0 }
        for known in strengths.values { for text in known.keys { sums[text] = 0 } }
        for word in words {
            let usual = word.isOpen ? Self.strengthOfBeginnings : Self.strengthInTitles
            guard measured.contains(word) else {
                for text in sums.keys { sums[text, default: 0] += word.rarity * usual }
                continue
            }
            let (levels, rest) = try levels(of: titleStems(of: word), inTitles: true)
            let known = strengths[word] ?? [:]
            var own: [Int64: Double] = [:]
            for level in levels {
                for text in level.texts where sums[text] != nil && own[text] == nil { own[text] = level.strength }
            }
            // A word that is only the beginning of another counts less than some whole words.
            let least = word.isOpen ? usual : rest
            for text in sums.keys { sums[text, default: 0] += word.rarity * (known[text] ?? own[text] ?? least) }
        }
        return TitleList(evidence: evidence, isLong: newest.count >= depth, sums: sums)
    }

    /// The number of words for which the strongest of many titles are looked up.
    private static let strongestWords = 2
    /// The assumed strengths of common words in titles, and of words of which only the beginning
    /// was typed.
    private static let (strengthInTitles, strengthOfBeginnings) = (0.8, 0.6)

    /// Returns the titles and keywords with other words in which a word is strongest, and its
    /// strengths. Each level needs a query, so fine levels are read only of the level that has more
    /// texts than wanted.
    private mutating func strongestTitles(
        of word: QueryWord, beside others: [QueryWord]
    ) throws -> [Int64: Double] {
        let (stems, rest) = (titleStems(of: word), others.map { " AND " + title($0) }.joined())
        var strengths: [Int64: Double] = [:]
        for case let level? in RankedStems.levels where strengths.count < depth {
            let texts = try list(.ranked, RankedStems.titleExpression(stems, level: level) + rest)
            guard texts.count >= depth else {
                for text in texts where strengths[text] == nil {
                    strengths[text] = RankedStems.strength(ofLevel: level)
                }
                continue
            }
            for fine in RankedStems.fineLevels(of: level) where strengths.count < depth {
                for text in try list(.ranked, RankedStems.titleExpression(stems, fineLevel: fine) + rest) {
                    strengths[text] = strengths[text] ?? WordStrength.middle(ofFineLevel: fine)
                }
            }
        }
        return strengths
    }

    /// Returns the expression for titles that begin with the first word and contain the others. A
    /// full prefix match would make FTS5 merge the lists of all words that begin with the last
    /// word.
    func titleStart(_ sought: [QueryWord]) throws -> String {
        let first = words[0]
        let starts = TitlePlace.allCases.filter(\.isStart)
            .map { TitleWords.expression(first.text, at: $0, isPrefix: first.isOpen) }
        let others = sought.filter { $0 != first }.map { " AND " + TitleWords.expression($0.text, isPrefix: $0.isOpen) }
        return "(" + starts.joined(separator: " OR ") + ")" + others.joined()
    }

    /// Returns the expression for titles and keywords that contain a word in any form.
    func title(_ word: QueryWord) -> String {
        let forms = RankedStems.titleExpression(titleStems(of: word))
        return word.isOpen ? "(\(forms) OR \(TitleWords.expression(word.text, isPrefix: true)))" : forms
    }

    /// Returns the stems of a word that occur in titles, in all languages of the index: items may
    /// have other stems for the same word.
    func titleStems(of word: QueryWord) -> [String] { stemsOfTitles[word.text] ?? word.stems }

    func occurringTitleStems(of word: QueryWord) throws -> [String] {
        let others = Set(statistics.otherLanguages.map { stems.stem(word.text, in: $0) })
        let all = word.stems + others.subtracting(word.stems).sorted()
        let occurring = try all.filter {
            try db.countTexts(RankedStems.titleExpression([$0]), in: FullTextIndex.rankedTable, upTo: 1) > 0
        }
        return occurring.isEmpty ? [word.stems[0]] : occurring
    }
}
