// SPDX-License-Identifier: Apache-2.0
import GRDB
import MetadataQuery
import TextAnalysis
import UserSearch

/// The hits of a search for one state of the store, possibly with corrected words.
struct SearchOutcome {
    let run: SearchRun
    let hits: [RankedHit]
    /// `true` if there are no further hits.
    let areAll: Bool
    /// The replacements of misspelled words.
    let replacements: [WordReplacement]
    let correction: SearchCorrection?
}

extension PreparedSearch {
    /// Returns the hits. If filters exclude all items that contain a rare word of the text, words
    /// that occur in nearly all items also make hits.
    ///
    /// - Parameter count: The number of hits wanted.
    func outcome(_ count: Int, _ db: Database) throws -> SearchOutcome {
        let outcome = try spelledOutcome(count, db)
        guard outcome.hits.isEmpty, outcome.run.isRestricted || request.bundle != nil,
            try outcome.run.hasCommonWords
        else { return outcome }
        var run = outcome.run
        run.acceptsCommonWords = true
        let (hits, areAll) = try run.hits(count)
        return SearchOutcome(
            run: run, hits: hits, areAll: areAll, replacements: outcome.replacements, correction: outcome.correction)
    }

    /// Searches for the typed words. If no item contains all of them and one of them occurs
    /// nowhere, searches again with its correction. Keeps the first result if filters exclude
    /// everything that the correction finds. Further pages use the words of the first page.
    private func spelledOutcome(_ count: Int, _ db: Database) throws -> SearchOutcome {
        if let replacements = request.cursor?.replacements, !replacements.isEmpty,
            let outcome = try outcome(count, replacements, try run(db))
        {
            return outcome
        }
        let run = try run(db)
        let (hits, areAll) = try run.hits(count)
        let typed = SearchOutcome(run: run, hits: hits, areAll: areAll, replacements: [], correction: nil)
        guard request.correctsSpelling, request.cursor == nil, !run.isMigrating, !run.plan.words.isEmpty,
            hits.allSatisfy({ !$0.parts.fit.hasAllWords })
        else { return typed }
        // With a model, a word that occurs nowhere still finds items, unless it is misspelled.
        let known = hits.isEmpty ? [] : request.meaning?.knownWords ?? []
        let replacements = try SearchSpelling(run, clock: queryClock, known: known).replacements(in: text)
        // Uses a fixed minimum, so that the decision does not depend on the page size.
        let window = run.isRestricted ? max(count, SearchRun.minimumDepth) : count
        guard !replacements.isEmpty, let corrected = try outcome(window, replacements, run) else { return typed }
        // The corrected words occur, but a filter or a phrase may exclude all items that contain
        // them.
        if !run.isRestricted || corrected.hits.contains(where: { $0.parts.fit.hasAllWords }) { return corrected }
        let others = areAll || count == window ? hits : try run.hits(window).hits
        return corrected.hits.count > others.count ? corrected : typed
    }

    /// - Parameter typed: The search for the typed words.
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
    /// `true` if filters or phrases can exclude items that contain the words.
    fileprivate var isRestricted: Bool {
        filter != nil || !apps.isEmpty || !request.excludedBundles.isEmpty || plan.isStrict
    }

    /// `true` if some words make no hit by themselves, because nearly all items contain them.
    fileprivate var hasCommonWords: Bool {
        get throws { try !isMigrating && !soughtWords().allSatisfy(\.isDistinctive) }
    }
}

/// Finds the words of a text that occur nowhere, and their corrections.
struct SearchSpelling {
    private let run: SearchRun
    private let vocabulary: StoredVocabulary
    private let stems = WordStems([])
    private let clock: QueryClock
    /// The number of filters in the typed text.
    private let filters: Int
    /// The parts of the text that are almost filters; their words are not corrected.
    private let hinted: [Range<Int>]
    /// The folded words that are not corrected.
    private let known: Set<String>

    /// - Parameters:
    ///   - clock: The clock for date phrases in a text.
    ///   - known: The folded words that are correct although they occur nowhere.
    init(_ run: SearchRun, clock: QueryClock, known: Set<String> = []) throws {
        (self.run, self.clock, self.known) = (run, clock, known)
        let intent = SearchIntent(run.request.text, clock: clock)
        (filters, hinted) = (intent.filters.count, intent.hints.map(\.range))
        vocabulary = StoredVocabulary(try SearchTags(bundle: run.request.bundle, run.db), run.db)
    }

    /// Returns the best corrections of the words that occur nowhere, in the order of the text.
    /// Skips known words, question words and function words, words in phrases, excluded words,
    /// words with characters other than letters, words of a part that is nearly a filter
    /// (`kind:mial`), and corrections that would add a filter.
    func replacements(in text: String) throws -> [WordReplacement] { try corrections(in: text, limit: 1).first ?? [] }

    /// Returns several ways to correct a text, best first. Each uses the best corrections of all
    /// words, except that the last corrected word varies.
    func corrections(in text: String, limit: Int) throws -> [[WordReplacement]] {
        var before: [WordReplacement] = []
        var last: [WordReplacement] = []
        for term in UserQuery(text).terms where !term.isPhrase && !term.isExcluded {
            for word in Self.words(of: term) where before.count + min(last.count, 1) < WordReplacement.maximumCount {
                guard Self.mayBeCorrected(word.folded), !known.contains(word.folded),
                    !QuestionWords.contains(word.folded, in: run.statistics.languages),
                    !hinted.contains(where: { $0.overlaps(word.range) }),
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

    /// Returns `true` if the text contains the same number of filters after the replacements, so
    /// that typing the corrected text starts the same search.
    private func keepsWords(_ replacements: [WordReplacement]) -> Bool {
        guard let text = run.request.text.replacing(replacements) else { return false }
        return SearchIntent(text, clock: clock).filters.count == filters
    }

    /// Returns `true` if a word consists of letters and is long enough to be recognized when
    /// misspelled. Nearly every sequence of three letters is one edit away from a word.
    static func mayBeCorrected(_ word: String) -> Bool { word.unicodeScalars.count > 3 && SpellingWords.isKept(word) }

    /// Returns the folded words of a term and their ranges in the whole text; empty if the term has
    /// variant words (O'Reilly).
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

    /// Returns `true` if a searchable text contains a form of the word. For an incomplete word, a
    /// word that begins with it is sufficient, as is a word in a title that contains it.
    private func occurs(_ word: SearchPlan.Word) throws -> Bool {
        // Most words occur exactly as typed, which costs one lookup.
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
        // Too many words contain it to look up each one.
        return true
    }

    private func isFound(_ expression: String, _ table: String) throws -> Bool {
        let tag = table == FullTextIndex.textTable ? vocabulary.tags.textExpression : vocabulary.tags.expression
        return try run.db.countTexts(tag.map { "\(expression) AND \($0)" } ?? expression, in: table, upTo: 1) > 0
    }
}

extension SearchIndex {
    /// Returns the corrections of a word, best first; none if the word occurs.
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

/// The vocabulary for corrections: the words of a store, or of the texts of one bundle.
struct StoredVocabulary: SpellingVocabulary {
    let tags: SearchTags
    private let db: Database

    static let maximumOccurrences = 1_000

    /// Higher for a single bundle, because most words may belong to other bundles.
    var maximumLookups: Int { tags.bundle == nil ? SpellingCorrection.maximumCandidates : 1_024 }

    init(_ tags: SearchTags, _ db: Database) { (self.tags, self.db) = (tags, db) }

    /// Returns the number of texts that contain a word, up to ``maximumOccurrences``.
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
