// SPDX-License-Identifier: Apache-2.0
import GRDB
import TextAnalysis
import UserSearch

/// Finds the texts that may be among the best results of a search, without reading items. Reads the
/// newest texts of index lists, which are separated by word strength (``FullTextIndex``).
///
/// Each candidate has an estimated score, without the age factor. Lists are read in descending
/// order of their estimates, until enough candidates are better than the next list's estimate.
struct CandidateFinder {
    let plan: SearchPlan
    let words: [QueryWord]
    let tags: SearchTags
    /// The only texts that the filters may allow; `nil` if there is no such list. Other texts in
    /// index lists are skipped.
    private(set) var allowed: Set<Int64>?
    /// `true` if ``allowed`` has only texts of the bundle to search.
    private var isInBundle = false
    let limits: SearchLimits
    let now: Double
    /// The number of candidates requested from each list.
    let depth: Int
    let findsInsideWords: Bool
    let statistics: TextStatistics
    let stems: WordStems
    let items: TextItemReader
    let db: Database

    /// The candidates and their estimates.
    private(set) var found: [Int64: Double] = [:]
    /// `true` if every list was read to its end.
    private(set) var isExhausted = true
    /// The texts among ``found`` that may lack a word, so their items have to be read to count
    /// them.
    private(set) var uncertain: Set<Int64> = []
    /// The texts that have all words, but whose word strengths were not looked up.
    private var unmeasured: Set<Int64> = []
    /// The stems of words that occur in titles and keywords.
    var stemsOfTitles: [String: [String]] = [:]
    /// `true` while texts are collected for counting.
    var isCounting = false

    init(
        _ plan: SearchPlan, _ words: [QueryWord], tags: SearchTags, allowed: Set<Int64>?, _ limits: SearchLimits,
        now: Double, depth: Int, findsInsideWords: Bool, _ statistics: TextStatistics, stems: WordStems,
        _ items: TextItemReader, _ db: Database
    ) {
        (self.plan, self.words, self.tags, self.limits, self.now) = (plan, words, tags, limits, now)
        self.allowed = allowed
        (self.depth, self.findsInsideWords, self.statistics) = (depth, findsInsideWords, statistics)
        (self.stems, self.items, self.db) = (stems, items, db)
    }

    /// Finds the candidates for ranking.
    mutating func find() throws {
        let strict = try strictTexts()
        // Reading some hundreds of texts with all phrases is faster than finding the best.
        if let strict, strict.count <= limits.readItems * SearchRun.patience { return try addTitlesFirst(strict) }
        let only = strict ?? fewAllowed
        if let only, only.count <= limits.readItems { return try add(only, 1) }
        try findBest()
        // If the lists were read to their ends, no other text contains a word.
        guard let only, !isExhausted else { return }
        // The lists are used only to order these texts.
        let estimates = found
        found = [:]
        for text in only { found[text] = estimates[text] ?? 0.3 }
        isExhausted = true
    }

    private mutating func findBest() throws {
        let (missed, sought) = (Self.rarest(missed), Self.rarest(words))
        if words.count > 1 {
            for word in missed + sought where stemsOfTitles[word.text] == nil {
                stemsOfTitles[word.text] = try occurringTitleStems(of: word)
            }
        }
        let whole = words.count > 1 ? sought.filter { !$0.isOpen }.map(title) : []
        let rarest = whole.isEmpty ? nil : whole.joined(separator: " AND ")
        try add(TitleLookup(plan, rarest: rarest, now: now).rows(tags, db), 2.7)
        try findWhole()
        if words.count == 1 {
            if try addedFew(of: words[0]) { return }
            try findSingle(words[0])
        } else {
            try findSeveral(sought, missed: missed)
        }
        if findsInsideWords, plan.part != nil {
            if isSparse { try findInsideWords() } else { isExhausted = false }
        }
    }

    /// Returns all texts that contain the phrases; `nil` if there are no phrases, or too many
    /// texts.
    private mutating func strictTexts() throws -> [Int64]? {
        try plan.strict.flatMap { try all(.texts, "(\($0))", limit: max(depth, limits.together)) }
    }

    /// Adds some hundreds of texts. Those with all words in titles and keywords come first: of
    /// large texts, only the first are read.
    private mutating func addTitlesFirst(_ texts: [Int64]) throws {
        let wasExhausted = isExhausted
        defer { isExhausted = wasExhausted }
        try findWhole()
        let exact = Self.rarest(words).map { TitleWords.expression($0.text, isPrefix: $0.isOpen) }
        let titles = Set(try list(.ranked, exact.joined(separator: " AND "), limit: limits.together))
        for text in texts { try add([text], titles.contains(text) ? 1.6 : 1.15) }
    }

    /// The texts that the filters may allow; `nil` if there are too many.
    private var fewAllowed: [Int64]? {
        guard let allowed, allowed.count <= limits.together else { return nil }
        return Array(allowed)
    }

    /// Finds the newest texts, regardless of their content.
    mutating func findNewest() throws {
        try add(newest(depth), FreshnessRule.least)
    }

    /// Finds the newest texts using only the table of texts; used while a store is being migrated.
    mutating func findInTexts() throws {
        let expressions = words.map { "\"\($0.text)\"\($0.isOpen ? "*" : "")" }
        try add(list(.texts, expressions.joined(separator: " AND ")), 1)
        if isSparse, words.count > 1 {
            for expression in expressions { try add(list(.texts, expression), 0.5) }
        }
    }

    /// Finds only the texts with all words, for counting.
    mutating func findComplete() throws {
        try add(list(.ranked, words.map { RankedStems.expression($0.stems) }.joined(separator: " AND ")), 1)
        if words.count == 1, words[0].isOpen {
            try add(list(.ranked, TitleWords.expression(words[0].text, isPrefix: true)), 1)
        }
        if let open = words.first(where: \.isOpen) {
            if isSparse {
                try collectBeginnings(of: open, beside: words.filter { !$0.isOpen })
            } else {
                isExhausted = false
            }
        }
        if findsInsideWords, isSparse {
            let complete = Set(found.keys)
            try findInsideWords()
            // Alongside other words, a part of a word is worth less than the word.
            if words.count > 1 { uncertain.formUnion(found.keys.filter { !complete.contains($0) }) }
        }
    }

    /// The factor by which the work limits increase in repeated attempts.
    private var patience: Int { max(1, depth / SearchRun.minimumDepth) }

    /// `true` if fewer candidates were found than wanted.
    private var isSparse: Bool { found.count < depth }

    /// - Throws: `CancellationError`. A list may have a million texts, and nothing else ends this
    ///   loop.
    private mutating func add(_ texts: [Int64], _ estimate: Double) throws {
        for (number, text) in texts.enumerated() {
            if number % Self.textsBetweenChecks == 0 { try Task.checkCancellation() }
            if isAllowed(text) { found[text] = max(estimate, found[text] ?? 0) }
        }
    }

    private static let textsBetweenChecks = 4096

    private func isAllowed(_ text: Int64) -> Bool { allowed?.contains(text) ?? true }

    private func factor(_ text: Int64) -> Double { FreshnessRule.factor(age: TextNumber.age(of: text, now: now)) }

    /// Returns `true` if enough candidates are better than anything that has the given estimate.
    ///
    /// - Parameter sums: The sums of the strengths of words in texts that are not candidates yet.
    private func isEnough(against estimate: Double, with sums: [Int64: Double] = [:]) -> Bool {
        func isBetter(_ text: Int64, _ own: Double) -> Bool {
            own * FreshnessRule.least >= estimate || (own >= estimate && own * factor(text) >= estimate)
        }
        var better = 0
        for (text, own) in found where isBetter(text, own) {
            better += 1
            if better >= depth { return true }
        }
        for (text, sum) in sums where isBetter(text, 0.3 + sum / total) && found[text] == nil {
            better += 1
            if better >= depth { return true }
        }
        return false
    }

    // MARK: Lists

    enum Table {
        case ranked, texts

        var name: String {
            switch self {
            case .ranked: FullTextIndex.rankedTable
            case .texts: FullTextIndex.textTable
            }
        }
    }

    /// The number of texts in a list that are checked against the allowed texts: as a multiple of
    /// the number wanted, and at most.
    private static let (checkedTexts, mostCheckedTexts): (Int64, Int64) = (64, 1 << 16)

    /// Returns the newest texts that match an expression, among the allowed texts.
    mutating func list(_ table: Table, _ expression: String, limit: Int? = nil) throws -> [Int64] {
        let limit = limit ?? depth
        let checked =
            allowed == nil
            ? Int64(limit) : max(Int64(limit), min(Int64(limit) * Self.checkedTexts, Self.mostCheckedTexts))
        var seen: Int64 = 0
        let tag = isInBundle ? nil : table == .texts ? tags.textExpression : tags.expression
        let whole = tag.map { "(\(expression)) AND \($0)" } ?? expression
        var texts: [Int64] = []
        try ReadStatement(
            db, sql: "SELECT rowid FROM \(table.name) WHERE \(table.name) MATCH ? ORDER BY rowid DESC LIMIT ?"
        ).forEachRow {
            try $0.bind(whole, at: 1)
            try $0.bind(checked, at: 2)
        } _: { row in
            seen += 1
            if let text = row.integer(at: 0), isAllowed(text) { texts.append(text) }
            return texts.count < limit
        }
        if seen >= checked || texts.count >= limit { isExhausted = false }
        return texts
    }

    /// Returns all texts that match an expression, among the allowed texts; `nil` if there are
    /// more.
    private mutating func all(_ table: Table, _ expression: String, limit: Int) throws -> [Int64]? {
        let wasExhausted = isExhausted
        defer { isExhausted = wasExhausted }
        isExhausted = true
        let texts = try list(table, expression, limit: limit)
        return isExhausted ? texts : nil
    }

    // MARK: One word

    /// Looks up all texts of a bundle that contain a word. Adds them if they are few; otherwise,
    /// the other lists do not have to be compared with the long list of the bundle.
    ///
    /// - Returns: `true` if the texts were added.
    private mutating func addedFew(of word: QueryWord) throws -> Bool {
        guard tags.expression != nil, !word.isOpen else { return false }
        // Titles in other languages than those of the stems have the word itself.
        let expression =
            "(\(RankedStems.expression(word.stems)) OR \(TitleWords.expression(word.text, isPrefix: false)))"
        guard let texts = try all(.ranked, expression, limit: limits.postings) else { return false }
        if texts.count <= limits.readItems {
            try addTitlesFirst(texts)
            return true
        }
        // Without the bundle, a list is read only as far as some texts of other bundles.
        let most = texts.count * Self.othersInLists
        guard try db.countTexts(expression, in: FullTextIndex.rankedTable, upTo: most + 1) <= most else { return false }
        (allowed, isInBundle) = (Set(texts), true)
        return false
    }

    /// The largest number of texts of all bundles for each text of the bundle, at which lists of
    /// all bundles are read.
    private static let othersInLists = 8

    private mutating func findSingle(_ word: QueryWord) throws {
        var lists: [(estimate: Double, expression: String)] = []
        let forms = try forms(of: word)
        let occurs =
            try word.isOpen
            && db.countTexts(RankedStems.expression(word.stems), in: FullTextIndex.rankedTable, upTo: 1) > 0
        for place in TitlePlace.allCases {
            lists.append((place.evidence + 0.7, TitleWords.expression(word.text, at: place, isPrefix: false)))
            if !forms.isEmpty {
                let all = forms.map { TitleWords.expression($0, at: place, isPrefix: false) }
                lists.append((place.evidence + 0.6, all.joined(separator: " OR ")))
            }
            guard word.isOpen else { continue }
            let beginning = TitleWords.expression(word.text, at: place, isPrefix: true)
            lists.append((place.evidence + 0.3, beginning))
            // The word itself, or another form of it, may also occur elsewhere in the item.
            if occurs {
                lists.append((place.evidence + 0.65, "\(beginning) AND \(RankedStems.expression(word.stems))"))
            }
        }
        for level in RankedStems.levels {
            lists.append(
                (
                    0.3 + 0.6 * RankedStems.strength(ofLevel: level),
                    RankedStems.expression(word.stems, level: level)
                ))
        }
        lists.sort { $0.estimate > $1.estimate }
        for list in lists {
            guard !isEnough(against: list.estimate) else {
                isExhausted = false
                return
            }
            try add(self.list(.ranked, list.expression), list.estimate)
        }
        guard word.isOpen else { return }
        if isSparse { try findBeginnings(of: word, beside: []) } else { isExhausted = false }
    }

    /// Returns the other forms of a word that occur in titles and keywords.
    private func forms(of word: QueryWord) throws -> [String] {
        try TermDictionary.forms(of: word.text, stems: word.stems, in: statistics.languages, by: stems, db)
    }

    // MARK: Several words

    private mutating func findSeveral(_ sought: [QueryWord], missed: [QueryWord]) throws {
        if let strict = plan.strict { try add(list(.texts, strict), 1) }
        let titles = try titles(with: sought, evidence: 0.6)
        try add(titles)
        if plan.isPlain, titles.isLong {
            try add(list(.ranked, titleStart(sought), limit: max(depth, limits.titleStarts)), 1.7)
        }
        if words.count > Self.combinedWords {
            let rarest = sought.map { RankedStems.expression($0.stems) }.joined(separator: " AND ")
            try add(list(.ranked, rarest), 0.3 + sought.reduce(0) { $0 + $1.rarity } / total * 0.8)
            try findSome()
        } else if titles.isLong {
            // If many titles have all words, other texts rarely rank among the best.
            isExhausted = false
        } else {
            var known = Set(titles.sums.keys)
            if missed.count < words.count {
                // Titles that lack only common words.
                let coverage = missed.reduce(0) { $0 + $1.rarity } / total
                let others = try self.titles(
                    with: missed, evidence: max(0.3, 0.6 * Relevance.evidence(ofCoverage: coverage)))
                try add(others)
                known.formUnion(others.sums.keys)
            }
            var sums = try strongest(missed)
            // Items with all words still rank first.
            if missed.count < words.count { sums.merge(try strongest(words)) { max($0, $1) } }
            for (text, sum) in sums where !known.contains(text) { try add([text], 0.3 + sum / total) }
            if let open = words.first(where: \.isOpen) {
                let others = missed.filter { !$0.isOpen }
                try findBeginnings(of: open, beside: others.isEmpty ? words.filter { !$0.isOpen } : others)
            }
            // A filter may exclude all candidates found so far. Of three words, a title with two of
            // them may be better than most texts with all of them.
            if isSparse || words.count > 2 { try findSome() } else { isExhausted = false }
        }
    }

    /// The largest number of words that are looked up together. Of more words, the rarest are.
    private static let combinedWords = 4

    private static func rarest(_ words: [QueryWord]) -> [QueryWord] {
        guard words.count > combinedWords else { return words }
        let rarest = words.sorted { $0.rarity > $1.rarity }.prefix(combinedWords)
        return words.filter(rarest.contains)
    }

    private mutating func add(_ titles: TitleList) throws {
        for (text, sum) in titles.sums { try add([text], titles.evidence + sum / total) }
    }

    /// Returns the texts in which a word is strongest, by level, strongest first, within a limit.
    ///
    /// - Parameters:
    ///   - stems: The stems of the word.
    ///   - inTitles: `true` to read only titles and keywords.
    /// - Returns: The levels that were read to their ends, and the strength of the next level.
    mutating func levels(
        of stems: [String], inTitles: Bool = false
    ) throws -> (levels: [(number: Int, strength: Double, texts: [Int64])], rest: Double) {
        let wasExhausted = isExhausted
        defer { isExhausted = wasExhausted }
        var left = limits.levelTexts
        var levels: [(number: Int, strength: Double, texts: [Int64])] = []
        for case let level? in RankedStems.levels {
            let strength = RankedStems.strength(ofLevel: level)
            let expression =
                inTitles
                ? RankedStems.titleExpression(stems, level: level) : RankedStems.expression(stems, level: level)
            isExhausted = true
            let texts = try list(.ranked, expression, limit: left)
            guard isExhausted else { return (levels, strength) }
            levels.append((level, strength, texts))
            left -= texts.count
        }
        return (levels, RankedStems.strength(ofLevel: nil))
    }

    /// Finds items with a whole title or keyword that equals the typed text, the strongest first.
    private mutating func findWhole() throws {
        guard plan.isPlain, let rarest = words.max(by: { $0.rarity < $1.rarity }) else { return }
        let typed = TextAnalyzer.searchWords(of: plan.text)
        // All words occur equally often in the title or keyword.
        let weight = words.count == 1 ? 0.6 : 1
        for (field, evidence) in [(TextField.title, 2.2), (.keywords, 1.2)] {
            guard let term = RankedWords.term(ofWhole: field, words: typed) else { return }
            try addStrongest("\"\(term)\"", of: rarest) { evidence + weight * $0 }
        }
    }

    /// Adds the texts of a list of titles or keywords. If there may be more than wanted, adds those
    /// in which a word is strongest.
    private mutating func addStrongest(
        _ expression: String, of word: QueryWord, _ estimate: (_ strength: Double) -> Double
    ) throws {
        let newest = try list(.ranked, expression)
        guard newest.count >= depth else { return try add(newest, estimate(1)) }
        let (strengths, rest) = try strongest(of: expression, by: word)
        for (text, strength) in strengths { try add([text], estimate(strength)) }
        // The newest texts may be weak, but newer than the strongest.
        try add(newest.filter { strengths[$0] == nil }, estimate(rest))
    }

    /// Returns the texts of a list of titles or keywords in which a word is strongest.
    ///
    /// Each level needs a query, so fine levels are read only of the level that has more texts than
    /// wanted.
    ///
    /// - Returns: The strengths, and about the largest strength of the other texts.
    private mutating func strongest(
        of expression: String, by word: QueryWord
    ) throws -> (strengths: [Int64: Double], rest: Double) {
        var (strengths, rest): ([Int64: Double], Double) = ([:], 1)
        for case let level? in RankedStems.levels where strengths.count < depth {
            let texts = try list(.ranked, "\(expression) AND \(RankedStems.expression(word.stems, level: level))")
            rest = RankedStems.strength(ofLevel: level)
            guard texts.count >= depth else {
                for text in texts { strengths[text] = rest }
                continue
            }
            for fine in RankedStems.fineLevels(of: level) where strengths.count < depth {
                rest = WordStrength.middle(ofFineLevel: fine)
                let stems = RankedStems.titleExpression(word.stems, fineLevel: fine)
                for text in try list(.ranked, "\(expression) AND \(stems)") { strengths[text] = rest }
            }
        }
        return (strengths, rest)
    }

    /// The words that a text needs in order to rank among the best: those that occur in less than a
    /// quarter of all texts, or all words if there are none.
    var missed: [QueryWord] {
        let missed = words.filter { $0.rarity > QueryWord.missedRarity }
        return missed.isEmpty ? words : missed
    }

    var total: Double { max(.leastNormalMagnitude, words.reduce(0) { $0 + $1.rarity }) }

    /// Returns the texts that contain all of the given words, with the sum of the words' strengths
    /// weighted by rarity.
    private mutating func strongest(_ words: [QueryWord]) throws -> [Int64: Double] {
        if words.count == 1 { return try strongest(words[0]) }
        var sums: [Int64: Double] = [:]
        let all = words.map { RankedStems.expression($0.stems) }.joined(separator: " AND ")
        let limit = max(depth, limits.together)
        let together = try list(.ranked, all, limit: limit)
        if together.count <= depth {
            let usual = words.reduce(0) { $0 + $1.rarity } * 0.5
            for text in together { sums[text] = usual }
            unmeasured.formUnion(together)
        } else if together.count < limit {
            for text in together { sums[text] = 0 }
            for word in words {
                let (levels, rest) = try levels(of: word.stems)
                var own: [Int64: Double] = [:]
                for level in levels {
                    for text in level.texts where sums[text] != nil && own[text] == nil { own[text] = level.strength }
                }
                for text in together { sums[text, default: 0] += word.rarity * (own[text] ?? rest) }
            }
        } else {
            try addPairs(of: words, to: &sums)
        }
        return sums
    }

    /// Returns the newest texts at each strength level of a word.
    private mutating func strongest(_ word: QueryWord) throws -> [Int64: Double] {
        var sums: [Int64: Double] = [:]
        for level in RankedStems.levels {
            let strength = word.rarity * RankedStems.strength(ofLevel: level)
            for text in try list(.ranked, RankedStems.expression(word.stems, level: level)) {
                sums[text] = max(strength, sums[text] ?? 0)
            }
        }
        return sums
    }

    /// Adds the texts in which the two rarest words are strongest, restricted to texts that contain
    /// the other words, until enough candidates are better.
    private mutating func addPairs(of words: [QueryWord], to sums: inout [Int64: Double]) throws {
        let order = words.sorted { $0.rarity > $1.rarity }
        let (one, other) = (order[0], order[1])
        let rest = order.dropFirst(2).map { " AND " + RankedStems.expression($0.stems) }.joined()
        let others = order.dropFirst(2).reduce(0) { $0 + $1.rarity } * 0.4
        // The strongest texts of two words are compared here, which needs two queries for each
        // level instead of one for each pair of levels.
        let known = order.count == 2 ? try addTogether(one, other, to: &sums) : []
        var pairs: [(strength: Double, Int?, Int?)] = []
        for first in RankedStems.levels {
            for second in RankedStems.levels where !known.contains([first, second]) {
                let strength =
                    one.rarity * RankedStems.strength(ofLevel: first)
                    + other.rarity * RankedStems.strength(ofLevel: second)
                pairs.append((strength + others, first, second))
            }
        }
        for (strength, first, second) in pairs.sorted(by: { $0.strength > $1.strength }) {
            if isEnough(against: 0.3 + strength / total, with: sums) { break }
            let expression =
                RankedStems.expression(one.stems, level: first) + " AND "
                + RankedStems.expression(other.stems, level: second) + rest
            for text in try list(.ranked, expression) { sums[text] = max(strength, sums[text] ?? 0) }
        }
    }

    /// Adds the texts among the strongest of both words.
    ///
    /// - Returns: The pairs of levels whose texts were all added.
    private mutating func addTogether(
        _ one: QueryWord, _ other: QueryWord, to sums: inout [Int64: Double]
    ) throws -> Set<[Int?]> {
        let ones = try levels(of: one.stems).levels
        let others = try levels(of: other.stems).levels
        var known = TextSums()
        for level in ones { for text in level.texts { known.add(one.rarity * level.strength, to: text, of: 1) } }
        for level in others {
            for text in level.texts {
                guard let first = known[text] else { continue }
                sums[text] = max(first + other.rarity * level.strength, sums[text] ?? 0)
            }
        }
        return Set(ones.flatMap { first in others.map { [first.number, $0.number] } })
    }

    // MARK: Some of the words

    private var distinctive: [QueryWord] { words.filter(\.isDistinctive) }

    /// Finds the texts with any of the words, for counting.
    mutating func findAny() throws {
        for word in distinctive {
            try add(list(.ranked, RankedStems.expression(word.stems)), 1)
            if word.isOpen { try collectBeginnings(of: word, beside: []) }
        }
        if findsInsideWords, isSparse { try findInsideWords() }
    }

    /// Finds the best texts that contain some of the words. Reads the lists of the rarest words
    /// first, within a budget.
    private mutating func findSome() throws {
        var budget = limits.postings * patience
        var sums = TextSums()
        let order = distinctive.sorted { $0.rarity > $1.rarity }
        for (number, word) in order.enumerated() {
            // No word takes all, so that several words are compared.
            let least = budget - min(budget, 2 * budget / (order.count - number))
            for level in RankedStems.levels {
                guard budget > least else {
                    isExhausted = false
                    break
                }
                let texts = try list(.ranked, RankedStems.expression(word.stems, level: level), limit: budget - least)
                budget -= texts.count
                let strength = word.rarity * RankedStems.strength(ofLevel: level)
                for text in texts { sums.add(strength, weight: word.rarity, to: text, of: number + 1) }
            }
        }
        if budget <= 0 { isExhausted = false }
        if sums.count > depth { isExhausted = false }
        let total = total
        let best = sums.best(
            depth, value: { $0 / total + Self.usualEvidence * Relevance.evidence(ofCoverage: $1 / total) },
            factor: factor)
        for (text, estimate) in best where found[text] == nil { found[text] = estimate }
        for text in unmeasured { if let sum = sums[text] { found[text] = max(0.3 + sum / total, found[text] ?? 0) } }
        guard let open = words.first(where: \.isOpen) else { return }
        if isSparse { try findBeginnings(of: open, beside: []) } else { isExhausted = false }
    }

    /// The usual evidence for a text with all words, which is larger if they are in its title.
    private static let usualEvidence = 0.45

    // MARK: Beginnings of words

    /// Finds the texts that contain a word beginning with `word`, and the other words. Titles and
    /// keywords come first. Other texts are read only if too few candidates are better.
    private mutating func findBeginnings(of word: QueryWord, beside others: [QueryWord]) throws {
        var best: [Int64: Double] = [:]
        if !others.isEmpty {
            let usual = others.reduce(0) { $0 + $1.rarity } * 0.5
            let forms = others.map { RankedStems.expression($0.stems) }.joined(separator: " AND ")
            let titles = TitleWords.expression(word.text, isPrefix: true)
            try add(list(.ranked, "\(titles) AND \(forms)"), 0.3 + (usual + word.rarity * 0.6) / total)
            if isEnough(against: 0.3 + (usual * 1.9 + word.rarity * 0.25) / total) {
                isExhausted = false
                return
            }
            best = try strongest(others)
            let (total, beginning) = (total, word.rarity * 0.25)
            let order = best.map { (text: $0.key, score: (0.3 + ($0.value + beginning) / total) * factor($0.key)) }
                .sorted { ($1.score, $1.text) < ($0.score, $0.text) }
            let looked: [Int64] = order.prefix(limits.fewCandidates * patience).map(\.text)
            if order.count > looked.count { isExhausted = false }
            try addBeginnings(of: word, among: looked) { 0.3 + ((best[$0] ?? 0) + beginning) / total }
            // The other words are weaker in all remaining texts.
            guard isSparse else {
                isExhausted = false
                return
            }
        }
        let rest = others.map { "\"\($0.text)\"" }.joined(separator: " AND ")
        let isLooked =
            try statistics.texts > limits.smallStore
            && ((!rest.isEmpty && isRare(rest)) || isCommonBeginning(word.text, statistics))
        guard isLooked else {
            let expression = "\"\(word.text)\"*" + (rest.isEmpty ? "" : " AND \(rest)")
            try add(list(.texts, expression), others.isEmpty ? 0.4 : 0.6)
            return
        }
        let count = limits.candidates * patience
        let candidates = rest.isEmpty ? try newest(count) : try list(.texts, rest, limit: count)
        try addBeginnings(of: word, among: candidates) { _ in others.isEmpty ? 0.4 : 0.6 }
    }

    /// The largest number of texts with a matching beginning that are compared with the texts of
    /// other words.
    private static let comparedBeginnings = 1 << 18

    /// Collects, for counting, the texts that contain a word beginning with `word`, and the other
    /// words. Reads texts only for a beginning for which FTS5 would have to merge very many lists.
    private mutating func collectBeginnings(of word: QueryWord, beside others: [QueryWord]) throws {
        let forms = others.map { RankedStems.expression($0.stems) }.joined(separator: " AND ")
        // Every text has words that begin with most letters, so even a small store has long lists.
        let isLarge = statistics.texts > limits.smallStore || word.text.unicodeScalars.count == 1
        if try isLarge && isCommonBeginning(word.text, statistics) {
            if !others.isEmpty {
                try add(list(.ranked, TitleWords.expression(word.text, isPrefix: true) + " AND " + forms), 1)
            }
            guard isSparse else {
                isExhausted = false
                return
            }
            let candidates =
                others.isEmpty
                ? try newest(limits.countedReads) : try list(.ranked, forms, limit: limits.countedReads)
            try addBeginnings(of: word, among: candidates) { _ in 1 }
        } else {
            let beginning = "\"\(word.text)\"*"
            guard !others.isEmpty else { return try add(list(.texts, beginning), 1) }
            let texts = Set(try list(.texts, beginning, limit: Self.comparedBeginnings))
            try add(list(.ranked, forms, limit: Self.comparedBeginnings).filter(texts.contains), 1)
        }
    }

    /// Adds the texts of a list that may contain a word beginning with `word`. Stops after reading
    /// enough bytes for a count.
    private mutating func addBeginnings(
        of word: QueryWord, among candidates: [Int64], estimate: (Int64) -> Double
    ) throws {
        let sequence = WordSequence([word.text], isPrefix: true)
        var (count, bytes) = (0, 0)
        for text in candidates where found[text] == nil {
            guard count < depth, !isCounting || bytes < limits.countedBytes else {
                isExhausted = false
                break
            }
            let mayOccur = try items.withItem(ofText: text) { item in
                bytes += item.record.count
                return sequence.mayOccur(inRecord: item.record)
            }
            guard mayOccur == true else { continue }
            count += 1
            try add([text], estimate(text))
            if isCounting { uncertain.insert(text) }
        }
    }

    private mutating func newest(_ count: Int) throws -> [Int64] {
        if let allowed {
            if allowed.count > count { isExhausted = false }
            return Array(allowed.sorted(by: >).prefix(count))
        }
        let texts = try Int64.fetchAll(
            db.cachedStatement(sql: "SELECT id FROM text_row ORDER BY id DESC LIMIT ?"), arguments: [count])
        if texts.count >= count { isExhausted = false }
        return texts
    }

    /// Returns `true` if so few texts contain the other words that reading each of them is fastest.
    private func isRare(_ rest: String) throws -> Bool {
        try db.countTexts(rest, in: FullTextIndex.textTable, upTo: limits.fewCandidates) < limits.fewCandidates
    }

    /// Returns `true` if merging the lists of all words with a prefix takes longer than reading
    /// texts. This is the case if one in a hundred titles has such a word.
    private func isCommonBeginning(_ word: String, _ statistics: TextStatistics) throws -> Bool {
        guard SearchPlan.mayGoOn(word) else { return false }
        if word.unicodeScalars.count == 1 { return true }
        let threshold = Int(max(1, statistics.sampled / 100))
        let count = try db.countTexts(
            TitleWords.expression(word, isPrefix: true), in: FullTextIndex.rankedTable, from: statistics.sampleStart,
            upTo: threshold)
        return count >= threshold
    }

    // MARK: Parts of words

    /// Finds the texts that contain the other words, and whose title or keywords have a word
    /// containing the last word.
    private mutating func findInsideWords() throws {
        guard let part = plan.part, part.unicodeScalars.count >= TermDictionary.minimumLength else { return }
        let others = words.filter { !$0.isOpen }
            .map { RankedStems.expression($0.stems) + " AND " }.joined()
        var place: Int64 = 0
        for _ in 0..<limits.wordLookups {
            let (parts, end) = try TermDictionary.words(containing: part, after: place, db)
            if !parts.isEmpty {
                let alternatives = parts.map { TitleWords.expression($0, isPrefix: false) }.joined(separator: " OR ")
                try add(list(.ranked, "\(others)(\(alternatives))"), 0.2)
            }
            guard let end else { return }
            place = end
            guard isSparse else {
                isExhausted = false
                return
            }
        }
    }
}
