// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery
import TextAnalysis
import UserSearch

/// The hits of a search in one state of the store, perhaps with other words than were typed.
struct SearchOutcome {
    let run: SearchRun
    let hits: [RankedHit]
    /// Whether there are no more.
    let areAll: Bool
    /// The words that stand for misspelled ones.
    let replacements: [WordReplacement]
    let correction: SearchCorrection?
}

extension PreparedSearch {
    /// Searches for the words as they were typed. If no item has them all, since one of them occurs nowhere, searches once more
    /// with its correction, unless filters leave nothing of what that brings. A further page goes on with the words of the first.
    ///
    /// - Parameter count: so many hits are wanted.
    func outcome(_ count: Int, _ db: Database) throws -> SearchOutcome {
        if let replacements = request.cursor?.replacements, !replacements.isEmpty,
            let outcome = try outcome(count, replacements, try run(db))
        {
            return outcome
        }
        let run = try run(db)
        let (hits, areAll) = try run.hits(count)
        let typed = SearchOutcome(run: run, hits: hits, areAll: areAll, replacements: [], correction: nil)
        guard request.correctsSpelling, request.cursor == nil, !run.isMigrating, !run.plan.words.isEmpty,
            hits.allSatisfy({ $0.parts.fit == .someWords })
        else { return typed }
        let replacements = try SearchSpelling(run, clock: queryClock).replacements(in: text)
        // Where hits are counted, the decision does not depend on the size of a page.
        let window = run.isRestricted ? max(count, SearchRun.minimumDepth) : count
        guard !replacements.isEmpty, let corrected = try outcome(window, replacements, run) else { return typed }
        // The other words occur. A filter or a phrase may leave out all items that have them.
        if !run.isRestricted || corrected.hits.contains(where: { $0.parts.fit != .someWords }) { return corrected }
        let others = areAll || count == window ? hits : try run.hits(window).hits
        return corrected.hits.count > others.count ? corrected : typed
    }

    /// - Parameter typed: the search for the words as they were typed.
    private func outcome(
        _ count: Int, _ replacements: [WordReplacement], _ typed: SearchRun
    ) throws -> SearchOutcome? {
        guard let search = replacing(replacements),
            let correction = SearchCorrection(of: request.text, replacements)
        else { return nil }
        let run = search.run(like: typed)
        let (hits, areAll) = try run.hits(count)
        return SearchOutcome(run: run, hits: hits, areAll: areAll, replacements: replacements, correction: correction)
    }
}

extension SearchRun {
    /// Whether not every item with a word is a hit.
    fileprivate var isRestricted: Bool { filter != nil || !apps.isEmpty || plan.isStrict }
}

/// Finds the words of a text that occur nowhere, and their corrections.
struct SearchSpelling {
    private let run: SearchRun
    private let vocabulary: StoredVocabulary
    private let stems = WordStems([])
    private let clock: QueryClock
    /// How many filters the typed text has.
    private let filters: Int

    /// - Parameter clock: by which dates in a text are read.
    init(_ run: SearchRun, clock: QueryClock) throws {
        (self.run, self.clock) = (run, clock)
        filters = SearchIntent(run.request.text, clock: clock).filters.count
        vocabulary = StoredVocabulary(try SearchTags(bundle: run.request.bundle, run.db), run.db)
    }

    /// The corrections of the words that occur nowhere, in the order of the text. Words in phrases, words that must not occur and
    /// words that have other signs than letters are left alone; so are words with which the text would be read as a filter.
    func replacements(in text: String) throws -> [WordReplacement] { try corrections(in: text, limit: 1).first ?? [] }

    /// The ways to correct a text, best first: with the best corrections of all its words, and with others of the last one of
    /// these.
    func corrections(in text: String, limit: Int) throws -> [[WordReplacement]] {
        var before: [WordReplacement] = []
        var last: [WordReplacement] = []
        for term in UserQuery(text).terms where !term.isPhrase && !term.isExcluded {
            for word in Self.words(of: term) where before.count + min(last.count, 1) < WordReplacement.maximumCount {
                guard Self.mayBeCorrected(word.folded),
                    let sought = run.plan.words.first(where: { $0.text == word.folded }), try !occurs(sought)
                else { continue }
                let earlier = before + last.prefix(1)
                let corrections = try SpellingCorrection.corrections(of: word.folded, in: vocabulary, limit: limit)
                    .map { WordReplacement(range: word.range, word: $0.word) }
                    .filter { keepsWords(earlier + [$0]) }
                if !corrections.isEmpty { (before, last) = (earlier, corrections) }
            }
        }
        return last.map { before + [$0] }
    }

    /// Whether a text has no other filters once its words are replaced. A user who types it then searches for the same.
    private func keepsWords(_ replacements: [WordReplacement]) -> Bool {
        guard let text = run.request.text.replacing(replacements) else { return false }
        return SearchIntent(text, clock: clock).filters.count == filters
    }

    /// Whether a word is long enough to be recognised although it is misspelled, and of letters alone. Nearly every three
    /// letters are one edit away from a word.
    static func mayBeCorrected(_ word: String) -> Bool { word.unicodeScalars.count > 3 && SpellingWords.isKept(word) }

    /// The folded words of a term and their ranges in the whole text; none for a term with variants of words (O'Reilly).
    private static func words(of term: UserQuery.Term) -> [(folded: String, range: Range<Int>)] {
        var words: [(String, Range<Int>)] = []
        var hasVariants = false
        let start = term.textRange.lowerBound
        var text = term.text
        text.withUTF8 { bytes in
            TextAnalyzer.forEachWord(in: bytes, variants: true) { word in
                hasVariants = hasVariants || word.isVariant
                let range = (start + word.range.lowerBound)..<(start + word.range.upperBound)
                words.append((String(decoding: word.bytes, as: UTF8.self), range))
                return !hasVariants
            }
        }
        return hasVariants ? [] : words
    }

    /// Whether any text that may be found has a form of a word, a word that begins so if it may go on, or a title with a word that
    /// it is inside of.
    private func occurs(_ word: SearchPlan.Word) throws -> Bool {
        // Most words occur as they are, which is one lookup.
        if try isFound("\"\(word.text)\"", FullTextIndex.textTable) { return true }
        let forms = Set(run.statistics.languages.map { stems.stem(word.text, in: $0) }).sorted()
        if try isFound(RankedStems.expression(forms), FullTextIndex.rankedTable) { return true }
        guard word.isOpen else { return false }
        if try isFound(TitleWords.expression(word.text, isPrefix: true), FullTextIndex.rankedTable) { return true }
        if try isFound("\"\(word.text)\"*", FullTextIndex.textTable) { return true }
        return try isInside(word.text)
    }

    private func isInside(_ part: String) throws -> Bool {
        guard run.request.findsInsideWords, run.plan.part == part,
            part.unicodeScalars.count >= TermDictionary.minimumLength
        else { return false }
        var place: Int64 = 0
        for _ in 0..<run.request.limits.wordLookups {
            let (words, end) = try TermDictionary.words(containing: part, after: place, run.db)
            let alternatives = words.map { TitleWords.expression($0, isPrefix: false) }.joined(separator: " OR ")
            if !words.isEmpty, try isFound("(\(alternatives))", FullTextIndex.rankedTable) { return true }
            guard let end else { return false }
            place = end
        }
        // There are too many to look at each.
        return true
    }

    private func isFound(_ expression: String, _ table: String) throws -> Bool {
        let tag = table == FullTextIndex.textTable ? vocabulary.tags.textExpression : vocabulary.tags.expression
        return try run.db.countTexts(tag.map { "\(expression) AND \($0)" } ?? expression, in: table, upTo: 1) > 0
    }
}

extension SearchIndex {
    /// The corrections of a word, best first; none for a word that occurs.
    package func corrections(
        of word: String, bundle: String? = nil, limit: Int
    ) async throws(IndexQueryError) -> [SpellingCorrection] {
        try await query("Correcting a word", includingPending: false) { db in
            let vocabulary = StoredVocabulary(try SearchTags(bundle: bundle, db), db)
            guard let folded = TextAnalyzer.words(of: word).first else { return [] }
            return try SpellingCorrection.corrections(of: folded, in: vocabulary, limit: limit)
        }
    }
}

/// The words of a store, or of the texts of one bundle, that words are corrected to.
struct StoredVocabulary: SpellingVocabulary {
    let tags: SearchTags
    private let db: Database

    static let maximumOccurrences = 1_000

    /// Most words may be of other bundles.
    var maximumLookups: Int { tags.bundle == nil ? SpellingCorrection.maximumCandidates : 1_024 }

    init(_ tags: SearchTags, _ db: Database) { (self.tags, self.db) = (tags, db) }

    /// The number of texts that have a word.
    func occurrences(of word: String) throws -> Int {
        let expression = "\"\(word)\"" + (tags.textExpression.map { " AND \($0)" } ?? "")
        return try db.countTexts(expression, in: FullTextIndex.textTable, upTo: Self.maximumOccurrences)
    }

    func forEachWord(
        near sketch: SpellingSketch, within edits: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws {
        try SpellingWords.forEachWord(near: sketch, within: edits, db, body)
    }
}
