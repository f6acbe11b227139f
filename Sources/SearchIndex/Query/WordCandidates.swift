// SPDX-License-Identifier: Apache-2.0
import GRDB

/// Finds the texts that may match the words of a pattern (``PatternWords``) in some columns of the
/// full-text tables.
struct WordCandidates {
    enum Answer {
        /// The items that the full-text tables find.
        case found(FullTextLookup)
        /// Too many items: a scan of all items finds matches sooner.
        case tooMany
        /// The tables cannot answer the pattern.
        case unknown
    }

    let db: Database
    let limits: CandidateLimits
    private let statistics: TextStatistics

    /// The length of the shortest prefix that is looked up.
    private static let minimumPrefix = 3

    init(_ db: Database, _ limits: CandidateLimits) throws {
        self.db = db
        self.limits = limits
        statistics = try TextStatistics(db, sample: limits.sample)
    }

    /// The approximate number of texts.
    var texts: Int64 { statistics.texts }

    func find(_ pattern: PatternWords, columns: Set<String>) throws -> Answer {
        let filter = "{\(columns.sorted().joined(separator: " "))} : "
        var search = Search(budget: limits.words)
        for phrase in pattern.phrases { try add(phrase, filter, to: &search) }
        guard search.parts.isEmpty else {
            let all = search.parts.joined(separator: " AND ")
            // Common words may rarely occur together.
            if !search.metRare, try isCommon(all, in: "item_text") { return .tooMany }
            return .found(FullTextLookup(table: "item_text", expression: "(\(all)) OR \(FullTextHints.uncertain)"))
        }
        if search.metCommon { return .tooMany }
        guard let fragment = pattern.fragment, columns.isSubset(of: ["title", "keywords"]) else { return .unknown }
        return try find(inside: fragment)
    }

    private struct Search {
        /// The expressions that all matches satisfy.
        var parts: [String] = []
        /// `true` if a word was too common to be looked up.
        var metCommon = false
        /// `true` if only few texts contain one of the words.
        var metRare = false
        /// The number of words that may still be checked.
        var budget: Int
    }

    // MARK: Words

    /// Adds the parts of a phrase that are worth looking up.
    private func add(_ phrase: PatternWords.Phrase, _ filter: String, to search: inout Search) throws {
        var piece: [String] = []
        var begins = false
        for (place, word) in phrase.words.enumerated() {
            let isFirst = place == 0 && phrase.mayBeginWithinWord
            let isPrefix = place == phrase.words.count - 1 && phrase.isPrefix
            if try isWorthwhile(word, isFirst: isFirst, isPrefix: isPrefix, filter, &search) {
                if piece.isEmpty { begins = isFirst }
                piece.append(word)
                if place == phrase.words.count - 1 {
                    search.parts.append(Self.expression(piece, isPrefix: phrase.isPrefix, begins: begins, filter))
                }
            } else {
                if !piece.isEmpty {
                    search.parts.append(Self.expression(piece, isPrefix: false, begins: begins, filter))
                }
                piece = []
            }
        }
    }

    /// Returns `true` if looking up the texts of a word is worthwhile.
    private func isWorthwhile(
        _ word: String, isFirst: Bool, isPrefix: Bool, _ filter: String, _ search: inout Search
    ) throws -> Bool {
        guard search.budget > 0, !isPrefix || word.utf8.count >= Self.minimumPrefix else { return false }
        search.budget -= 1
        let hint = isFirst ? FullTextHints.inWords(beginningWith: word) : nil
        if isFirst, hint == nil { return false }
        let words = ["\"\(word)\""] + (hint.map { [$0] } ?? [])
        // FTS5 reads all texts of a word, regardless of the columns. It merges the lists of a
        // prefix before it can count, so the frequency in titles is used as an estimate for all
        // texts.
        if try words.contains(where: { try isCommon($0, in: "item_text", limits.skippedShare) })
            || (isPrefix && isCommon(TitleWords.expression(word, isPrefix: true), in: "ranked_word"))
        {
            search.metCommon = true
            return false
        }
        let isRare =
            try !isCommon(filter + words[0], in: "item_text")
            && !(hint.map { try isCommon($0, in: "item_text") } ?? false)
        search.metRare = search.metRare || isRare
        return true
    }

    private static func expression(_ words: [String], isPrefix: Bool, begins: Bool, _ filter: String) -> String {
        func phrase(_ words: some Sequence<String>) -> String {
            filter + "\"" + words.joined(separator: " ") + "\"" + (isPrefix ? "*" : "")
        }
        guard begins, let hint = FullTextHints.inWords(beginningWith: words[0]) else { return phrase(words) }
        let rest = words.count > 1 ? " AND \(phrase(words.dropFirst()))" : ""
        return "(\(phrase(words)) OR (\(hint)\(rest)))"
    }

    // MARK: Parts of words

    private func find(inside fragment: String) throws -> Answer {
        guard fragment.utf8.count >= TermDictionary.minimumLength else { return .unknown }
        if try isCommon(TitleWords.expression(fragment, isPrefix: true), in: "ranked_word") { return .tooMany }
        guard let words = try TermDictionary.allWords(containing: fragment, limit: limits.expansions, db) else {
            return .tooMany
        }
        let alternatives =
            [TitleWords.expression(fragment, isPrefix: true)]
            + words.map { TitleWords.expression($0, isPrefix: false) } + [FullTextHints.uncertainTitles]
        let expression = alternatives.joined(separator: " OR ")
        if try isCommon(expression, in: "ranked_word") { return .tooMany }
        return .found(FullTextLookup(table: "ranked_word", expression: expression))
    }

    // MARK: Frequencies

    /// Returns `true` if the expression matches many of the newest texts.
    private func isCommon(_ expression: String, in table: String, _ share: Int64? = nil) throws -> Bool {
        guard statistics.texts > limits.smallStore else { return false }
        let threshold = Int(max(1, statistics.sampled / (share ?? limits.commonShare)))
        return try db.countTexts(expression, in: table, from: statistics.sampleStart, upTo: threshold) >= threshold
    }
}
