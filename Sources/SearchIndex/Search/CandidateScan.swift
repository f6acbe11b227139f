// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord

/// One question to FTS5, answered with the newest matches first.
struct CandidateScan: Sendable {
    /// A text that matches, and its score.
    struct Match: Sendable {
        var row: Int64
        var score: Double
        /// Whether something other than FTS5 found it, so that it may not match.
        var isUncertain = false
        /// What it is looked at for before better scores.
        var title = TitleLookup.Kind.other

        /// Calls `body` with the record of the item, which is valid in there alone; with `nil` if it is gone.
        func withRecord<Value>(_ db: Database, _ body: (Data?) throws -> Value) throws -> Value {
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT item.record FROM text_row CROSS JOIN item ON item.id = text_row.item
                        WHERE text_row.id = ?
                        """), arguments: [row])
            return try rows.next()?.withUnsafeData(atIndex: 0, body) ?? body(nil)
        }
    }

    private let table: String
    private let weights: [Double]
    /// The expression; `nil` finds every text.
    private let expression: String?
    /// What must occur in the matches beside the expression, and whether in title or keywords.
    let unchecked: WordSequence?
    let checksTitle: Bool
    /// Where in the dictionary the words end that were asked for; `nil` if no more follow.
    private(set) var wordsEnd: Int64?
    let tags: SearchTags
    private let limits: SearchLimits

    private static let title = (FullTextIndex.titleTable, FullTextScore.titleWeights)
    private static let text = (FullTextIndex.textTable, FullTextScore.textWeights)

    private init(
        _ table: (String, [Double]), _ expression: String?, tags: SearchTags, _ limits: SearchLimits,
        unchecked: WordSequence? = nil, checksTitle: Bool = false
    ) {
        (self.table, weights) = table
        self.expression = expression
        self.unchecked = unchecked
        self.checksTitle = checksTitle
        self.tags = tags
        self.limits = limits
    }

    /// The items with all words in title and keywords.
    static func titleWords(
        _ plan: SearchPlan, tags: SearchTags, bound: Int64, _ limits: SearchLimits, _ db: Database
    ) throws -> CandidateScan? {
        // A single letter has no list of its own: those would be a fifth of the table.
        if !plan.hasExclusions, plan.endsInLetter, let letter = plan.prefix,
            try isCommon(letter, bound: bound, limits, db)
        {
            return CandidateScan(
                title, plan.titleWords(tags: tags.expressions, lastPhrase: false), tags: tags, limits,
                unchecked: plan.open, checksTitle: true)
        }
        return plan.titleWords(tags: tags.expressions).map {
            CandidateScan(plan.hasExclusions ? text : title, $0, tags: tags, limits)
        }
    }

    /// The items whose title begins with the text.
    static func titleStarts(
        _ plan: SearchPlan, tags: SearchTags, _ limits: SearchLimits, isFinished: Bool = false
    ) -> CandidateScan? {
        plan.titleStart(tags: tags.expressions, isFinished: isFinished).map {
            CandidateScan(title, $0, tags: tags, limits)
        }
    }

    /// The items with all words, anywhere.
    static func allWords(
        _ plan: SearchPlan, tags: SearchTags, bound: Int64, _ limits: SearchLimits, _ db: Database
    ) throws -> CandidateScan? {
        if let prefix = plan.prefix, bound > limits.smallStore {
            let rest = plan.allWords(tags: tags.expressions, lastPhrase: false)
            // FTS5 cannot exclude from everything.
            if rest != nil || !plan.hasExclusions,
                try isRare(rest, bound: bound, limits, db) || isCommon(prefix, bound: bound, limits, db)
            {
                return CandidateScan(text, rest, tags: tags, limits, unchecked: plan.open)
            }
        }
        return plan.allWords(tags: tags.expressions).map { CandidateScan(text, $0, tags: tags, limits) }
    }

    /// The items with the last word inside of a word of title and keywords; of many such words, those with some.
    ///
    /// - Parameter place: where in the dictionary the words of the scan before ended; 0 for the first.
    static func insideWords(
        _ plan: SearchPlan, tags: SearchTags, after place: Int64, bound: Int64, _ limits: SearchLimits, _ db: Database
    ) throws -> CandidateScan? {
        guard let part = plan.part else { return nil }
        var others: (expression: String, count: Int)?
        if place == 0, let expression = plan.titleWords(tags: tags.expressions, lastPhrase: false) {
            let count = try matches(of: expression, in: title.0, bound: bound, upTo: max(1, limits.fewCandidates), db)
            guard count > 0 else { return nil }
            others = (expression, count)
        }
        let (words, end) = try TermDictionary.words(containing: part, after: place, db)
        guard !words.isEmpty else { return nil }
        // Each word is looked up in every segment, whatever the others find.
        if let others, others.count < min(limits.fewCandidates, words.count * limits.candidatesPerWord) {
            return CandidateScan(
                title, others.expression, tags: tags, limits, unchecked: WordSequence(inside: part), checksTitle: true)
        }
        var scan = CandidateScan(title, plan.titleWords(tags: tags.expressions, lastOneOf: words), tags: tags, limits)
        scan.wordsEnd = end
        return scan
    }

    /// Whether so few items have the other words that looking at each is quicker than anything else.
    private static func isRare(
        _ rest: String?, bound: Int64, _ limits: SearchLimits, _ db: Database
    ) throws -> Bool {
        guard let rest else { return false }
        return try matches(of: rest, in: text.0, bound: bound, upTo: limits.fewCandidates, db) < limits.fewCandidates
    }

    /// How many texts match; counts no further than `limit`.
    private static func matches(
        of expression: String, in table: String, bound: Int64, upTo limit: Int, _ db: Database
    ) throws -> Int {
        try Int.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT count(*) FROM (
                        SELECT 1 FROM \(table) WHERE \(table) MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?)
                    """), arguments: [expression, bound, limit]) ?? 0
    }

    /// Whether so many words begin so that putting their lists together takes longer than looking at candidates: one of a
    /// hundred titles has one.
    private static func isCommon(_ prefix: String, bound: Int64, _ limits: SearchLimits, _ db: Database) throws -> Bool
    {
        guard bound > limits.smallStore else { return false }
        if prefix.unicodeScalars.count == 1 { return try isCommonLetter(prefix, bound: bound, limits, db) }
        let sample = min(limits.sample, bound)
        let threshold = sample / 100
        let count = try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT count(*) FROM (
                        SELECT 1 FROM title_text WHERE title_text MATCH ? AND rowid > ? AND rowid <= ?
                        ORDER BY rowid DESC LIMIT ?)
                    """), arguments: ["\"\(prefix)\"*", bound - sample, bound, threshold])
        return count ?? 0 >= threshold
    }

    /// The same for a single letter, by looking at the newest titles: to ask FTS5 would take as long as the search.
    private static func isCommonLetter(
        _ letter: String, bound: Int64, _ limits: SearchLimits, _ db: Database
    ) throws -> Bool {
        let words = WordSequence([letter], isPrefix: true)
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT item.record FROM text_row CROSS JOIN item ON item.id = text_row.item
                    WHERE text_row.id <= ? ORDER BY text_row.id DESC LIMIT ?
                    """), arguments: [bound, limits.letterSample])
        let threshold = max(1, limits.letterSample / 32)
        var count = 0
        while count < threshold, let row = try rows.next() {
            guard try row.withUnsafeData(atIndex: 0, { $0.map(words.mayOccur(inRecord:)) }) == true,
                let record = try? ItemRecord(decoding: row.decode(Data.self, atIndex: 0))
            else { continue }
            if words.occursInTitle(of: SearchableText(record, bundle: 0)) { count += 1 }
        }
        return count >= threshold
    }

    // MARK: Windows

    /// The newest matches at or before a row.
    ///
    /// - Parameter isScored: Whether the matches have scores, which take longer than finding them.
    /// - Returns: At most `count` matches, newest first, and where the next window begins; 0 at the end.
    func window(
        from start: Int64, count: Int, isScored: Bool = true, _ db: Database
    ) throws -> (matches: [Match], end: Int64) {
        let rows: RowCursor
        if let expression {
            let weights = weights.map { "\($0)" }.joined(separator: ", ")
            let score = isScored ? "\(FullTextScore.function)(\(table), \(weights))" : "\(FullTextScore.unknown)"
            rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT rowid, \(score) FROM \(table)
                        WHERE \(table) MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ?
                        """), arguments: [expression, start, count])
        } else {
            rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: "SELECT id, \(FullTextScore.unknown) FROM text_row WHERE id <= ? ORDER BY id DESC LIMIT ?"),
                arguments: [start, count])
        }
        var matches: [Match] = []
        while let row = try rows.next() { matches.append(Match(row: row[0], score: row[1])) }
        return (matches, matches.count == count ? (matches.last?.row ?? 1) - 1 : 0)
    }
}
