// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery
import TextAnalysis
import UserSearch

/// A hit that was ranked, without its item.
struct RankedHit: Sendable {
    /// The number of its text, and that of its item.
    var text: Int64
    var item: Int64
    var bundle: Int64
    var parts: ScoreParts
    /// What it is sorted by, after its app's own order (``BundleOrder``).
    var score: Double
    var importance: Double
}

/// The greatest of some scores.
private struct BestScores {
    private let count: Int
    /// In ascending order.
    private var scores: [Double] = []

    init(_ count: Int) { self.count = count }

    /// The least of as many scores as are wanted; no score is less while there are fewer.
    var least: Double { scores.count < count ? -.infinity : scores.first ?? -.infinity }

    mutating func add(_ score: Double) {
        guard score > least else { return }
        scores.insert(score, at: scores.firstIndex { $0 >= score } ?? scores.count)
        if scores.count > count { scores.removeFirst() }
    }
}

/// One search in one state of the store: candidates from the index (``CandidateFinder``), of which the best are read and ranked
/// (`Relevance`), until there are as many hits as are wanted.
struct SearchRun {
    var plan: SearchPlan
    let request: SearchRequest
    let filter: QueryEvaluator?
    /// The present by which items are ranked: that of the first page.
    let now: Double
    /// The present by which items have expired.
    let present: Double
    /// Whether there is nothing but the table of texts, of the previous format.
    let isMigrating: Bool
    /// Filters on the app of an item.
    let apps: [SearchIntent.Filter]
    /// What was learned from earlier searches.
    let learned: LearnedSearch
    let statistics: TextStatistics
    let items: TextItemReader
    let db: Database

    /// So many candidates are wanted from each list, at least.
    static let minimumDepth = 64
    private static let maximumDepth = 1 << 20

    /// The best hits.
    ///
    /// - Parameter count: so many are wanted; there may be more or, at the end, fewer.
    /// - Returns: The hits in their order, and whether these are all.
    func hits(_ count: Int) throws -> (hits: [RankedHit], areAll: Bool) {
        let tags = try SearchTags(bundle: request.bundle, db)
        let words = try soughtWords()
        let relevance = try relevance(words)
        let chosen = isMigrating ? [] : try learned.texts(having: words, db)
        var depth = max(Self.minimumDepth, count)
        var known = KnownTexts()
        while true {
            var finder = CandidateFinder(
                plan, words, tags: tags, request.limits, now: now, depth: depth,
                findsInsideWords: request.findsInsideWords, languages: statistics.languages, items, db)
            try find(with: &finder)
            let (hits, areAll) = try ranked(finder.found, chosen: chosen, relevance, count, &known)
            if hits.count >= count || (finder.isExhausted && areAll) || depth >= Self.maximumDepth {
                return (hits, areAll && finder.isExhausted)
            }
            depth *= 4
        }
    }

    private func find(with finder: inout CandidateFinder) throws {
        if plan.words.isEmpty {
            try finder.findNewest()
        } else if isMigrating {
            try finder.findInTexts()
        } else {
            try finder.find()
        }
    }

    /// The item of a hit; `nil` if it is gone.
    func read(_ hit: RankedHit) throws -> SearchHit? {
        let statement = try db.cachedStatement(
            sql: "SELECT \(StoredItem.columns) FROM item JOIN bundle ON bundle.id = item.bundle WHERE item.id = ?")
        let row = try Row.fetchOne(statement, arguments: [hit.item])
        return try row.map {
            SearchHit(item: try StoredItem($0), kind: hit.parts.fit, score: hit.score, parts: hit.parts)
        }
    }

    // MARK: Counting

    /// Counts the items with all words; if more hits are shown than that, the items with some.
    ///
    /// - Parameters:
    ///   - hits: the hits of ``hits(_:)``, and whether these are all.
    ///   - shown: the number of hits on this page and the pages before it.
    ///   - maximum: counting stops here.
    func total(_ hits: [RankedHit], areAll: Bool, shown: Int, upTo maximum: Int) throws -> SearchTotal {
        let least = max(1, min(shown, maximum))
        let complete = hits.count { $0.parts.fit != .someWords }
        if areAll {
            let count = complete >= least ? complete : hits.count
            return SearchTotal(count: min(count, maximum), isExact: count < maximum)
        }
        let total = try count(hasAll: true, upTo: maximum)
        return total.count >= least ? total : try count(hasAll: false, upTo: maximum)
    }

    /// How many items have all words, or some.
    private func count(hasAll: Bool, upTo maximum: Int) throws -> SearchTotal {
        let tags = try SearchTags(bundle: request.bundle, db)
        let words = try soughtWords()
        var finder = CandidateFinder(
            plan, words, tags: tags, request.limits, now: now, depth: try countedTexts(upTo: maximum),
            findsInsideWords: request.findsInsideWords, languages: statistics.languages, items, db)
        finder.isCounting = true
        if plan.words.isEmpty || isMigrating {
            try find(with: &finder)
        } else if hasAll {
            try finder.findComplete()
        } else {
            try finder.findAny()
        }
        var isExact = finder.isExhausted
        var count = 0
        if filter != nil || !apps.isEmpty || plan.isStrict || finder.isUncertain || isMigrating {
            let relevance = try relevance(words)
            var bytes = 0
            for (reads, text) in finder.texts.sorted(by: >).enumerated() {
                guard reads < request.limits.countedReads, count < maximum else {
                    isExact = false
                    break
                }
                let fit = try read(text, relevance, &bytes)?.parts.fit
                if let fit, !hasAll || fit != .someWords { count += 1 }
            }
        } else {
            count = finder.texts.count - (try expiredTexts(among: finder.texts))
        }
        return SearchTotal(count: min(count, maximum), isExact: isExact && count < maximum)
    }

    /// Of each list so many texts are wanted to count hits; some of them may be none.
    private func countedTexts(upTo maximum: Int) throws -> Int {
        // One more than is read, to know whether there is one.
        if filter != nil || !apps.isEmpty || plan.isStrict {
            return min(Self.maximumDepth - 1, request.limits.countedReads) + 1
        }
        let expired =
            try Int.fetchOne(
                db.cachedStatement(sql: "SELECT count(*) FROM item WHERE expires <= ?"), arguments: [present]) ?? 0
        return min(maximum, Self.maximumDepth) + expired + 1
    }

    /// How many items of the texts have expired and are not deleted yet.
    private func expiredTexts(among texts: Set<Int64>) throws -> Int {
        let rows = try Int64?.fetchCursor(
            db.cachedStatement(sql: "SELECT text_row FROM item WHERE expires <= ?"), arguments: [present])
        var count = 0
        while let text = try rows.next() { if let text, texts.contains(text) { count += 1 } }
        return count
    }

    func relevance(_ words: [SoughtWord]) throws -> Relevance {
        let languages =
            try isMigrating
            ? []
            : String.fetchAll(
                db.cachedStatement(sql: "SELECT language FROM text_language WHERE texts > 0 LIMIT 2"))
        // Else each item's language is guessed from its text.
        let only = languages.count == 1 ? WordLanguage(rawValue: languages[0]) : nil
        return Relevance(words: words, typed: plan.isPlain ? plan.text : nil, onlyLanguage: only)
    }

    // MARK: Words

    func soughtWords() throws -> [SoughtWord] {
        let stems = WordStems([])
        return try plan.words.map { word in
            let forms = Set(statistics.languages.map { stems.stem(word.text, in: $0) })
            var sought = SoughtWord(word.text, stems: forms.sorted(), isOpen: word.isOpen)
            if plan.words.count > 1, !isMigrating {
                let occurrences = try occurrences(of: sought, statistics)
                // A word that is nowhere tells nothing either, so that the others do.
                sought.rarity =
                    occurrences == 0
                    ? SoughtWord.leastRarity
                    : SoughtWord.rarity(occurrences: occurrences, texts: Double(statistics.texts))
            }
            return sought
        }
    }

    /// About how many texts have a word: counted as far as that is quick, and then in a sample.
    private func occurrences(of word: SoughtWord, _ statistics: TextStatistics) throws -> Double {
        let limits = request.limits
        let table = FullTextIndex.rankedTable
        var expression = RankedStems.expression(word.stems)
        var counted = try db.countTexts(expression, in: table, upTo: limits.countedOccurrences)
        if counted == 0, word.isOpen {
            expression = TitleWords.expression(word.text, isPrefix: true)
            counted = try db.countTexts(expression, in: table, upTo: limits.countedOccurrences)
        }
        guard counted == limits.countedOccurrences, statistics.sampled < statistics.texts else {
            return Double(counted)
        }
        let sampled = try db.countTexts(
            expression, in: table, from: statistics.sampleStart, upTo: limits.countedOccurrences * 2)
        return max(Double(counted), Double(sampled) / Double(statistics.sampled) * Double(statistics.texts))
    }

    // MARK: Reading

    /// What has been read already. There may be a million texts that are no hits.
    private struct KnownTexts {
        var hits: [Int64: RankedHit] = [:]
        var others: Set<Int64> = []
    }

    /// Reads the best candidates and ranks them.
    ///
    /// - Parameter chosen: Texts that were chosen before. They are read first, as far as their bytes allow, and take no place and no
    ///   bytes of the others.
    private func ranked(
        _ candidates: [Int64: Double], chosen: [Int64], _ relevance: Relevance, _ count: Int, _ known: inout KnownTexts
    ) throws -> (hits: [RankedHit], areAll: Bool) {
        let order = candidates.map { (text: $0.key, estimate: $0.value * factor($0.key)) }
            .sorted { ($1.estimate, $1.text) < ($0.estimate, $0.text) }
        var hits: [RankedHit] = []
        func take(_ text: Int64, _ bytes: inout Int) throws {
            guard !known.others.contains(text) else { return }
            if let hit = try known.hits[text] ?? read(text, relevance, &bytes) {
                known.hits[text] = hit
                hits.append(hit)
            } else {
                known.others.insert(text)
            }
        }
        var taken: Set<Int64> = []
        var chosenBytes = 0
        for text in chosen {
            guard chosenBytes <= request.limits.readBytes else { break }
            taken.insert(text)
            try take(text, &chosenBytes)
        }
        let first = hits.count
        let wanted = max(request.limits.readItems, count + count / 2)
        var best = BestScores(count)
        var (reads, bytes) = (0, 0)
        for candidate in order {
            // What is filtered out does not count.
            let others = hits.count - first
            if isEnough(others, bytes, wanted: count) { break }
            if others >= wanted {
                let isBehind = candidate.estimate + Self.estimateError < best.least
                if isBehind || others >= wanted * Self.patience { break }
            }
            reads += 1
            if !taken.contains(candidate.text) {
                try take(candidate.text, &bytes)
                if hits.count - first > others, let hit = hits.last { best.add(hit.parts.score) }
            }
        }
        hits.sort { ($1.parts.score, $1.text) < ($0.parts.score, $0.text) }
        BundleOrder.apply(to: &hits)
        return (hits, reads == order.count)
    }

    /// By how much a score exceeds its estimate at most, nearly always: half a level of each word, and nearness.
    private static let estimateError = 0.17
    /// How many times as many items are read while their estimates lie that near to the scores of the best.
    private static let patience = 4

    /// Whether so much text was read that the hits have to do.
    private func isEnough(_ hits: Int, _ bytes: Int, wanted: Int) -> Bool {
        let limits = request.limits
        if bytes > limits.readBytes * 8 { return hits >= wanted }
        return bytes > limits.readBytes && hits >= max(wanted, limits.readLargeItems)
    }

    private func factor(_ text: Int64) -> Double { FreshnessRule.factor(age: TextNumber.age(of: text, now: now)) }

    /// The hit that a candidate is, if it is one.
    func read(_ text: Int64, _ relevance: Relevance, _ bytes: inout Int) throws -> RankedHit? {
        try items.withItem(ofText: text) { try hit($0, text, relevance, &bytes) } ?? nil
    }

    private func hit(
        _ item: TextItemReader.Item, _ text: Int64, _ relevance: Relevance, _ bytes: inout Int
    ) throws -> RankedHit? {
        guard item.expires ?? .infinity > present else { return nil }
        if request.bundle != nil || !apps.isEmpty {
            guard let name = try items.name(ofBundle: item.bundle) else { return nil }
            if let bundle = request.bundle, name != bundle { return nil }
            guard apps.allSatisfy({ $0.apps.contains { Self.isApp($0, name) } != $0.isExcluded }) else { return nil }
        }
        if let filter, try !filter.matches(Data(item.record).databaseValue) { return nil }
        let features = try item.features()
        bytes += features.fields.reduce(0) { $0 + $1.utf8.count }
        if plan.isStrict, !plan.allows(features.fields) { return nil }
        guard
            var parts = relevance.parts(
                of: features.fields, language: features.language, names: features.names, age: age(features.date),
                isInside: { isInside(features.fields) })
        else { return nil }
        parts.engagement = try learned.gain(of: item.id, over: parts.textScore, db)
        return RankedHit(
            text: text, item: item.id, bundle: item.bundle, parts: parts, score: parts.score,
            importance: features.importance
                * (try learned.importance(of: item.id, bundle: item.bundle, db)))
    }

    /// Whether a bundle is what somebody calls an app: by its identifier, or the last part of that.
    static func isApp(_ app: String, _ bundle: String) -> Bool {
        let last = bundle.split(separator: ".").last.map(String.init) ?? bundle
        return [bundle, last].contains {
            TextFolding.folded($0, case: true, diacritics: true)
                == TextFolding.folded(app, case: true, diacritics: true)
        }
    }

    /// How many days an item of a date is old. The texts of a store that was migrated keep their numbers, which say nothing of it.
    private func age(_ date: Double) -> Int { Int(TextNumber.day(of: now) - TextNumber.day(of: date)) }

    /// Whether the last word is inside of a word of titles or keywords.
    private func isInside(_ fields: [String]) -> Bool {
        guard request.findsInsideWords, let part = plan.part, part.unicodeScalars.count >= TermDictionary.minimumLength
        else { return false }
        let sequence = WordSequence(inside: part)
        return sequence.occurs(in: fields[TextField.title.rawValue])
            || sequence.occurs(in: fields[TextField.keywords.rawValue])
    }
}
