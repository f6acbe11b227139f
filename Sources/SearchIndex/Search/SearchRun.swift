// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery
import TextAnalysis
import UserSearch

/// A ranked hit without its item.
struct RankedHit: Sendable {
    /// The number of the hit's text.
    var text: Int64
    var item: Int64
    var bundle: Int64
    var parts: ScoreParts
    /// The score that determines the order, after the app's own ranking (``BundleOrder``).
    var score: Double
    var importance: Double
}

/// Keeps the highest of a series of scores.
private struct BestScores {
    private let count: Int
    /// The scores in ascending order.
    private var scores: [Double] = []

    init(_ count: Int) { self.count = count }

    /// The lowest kept score; negative infinity until `count` scores are kept.
    var least: Double { scores.count < count ? -.infinity : scores.first ?? -.infinity }

    mutating func add(_ score: Double) {
        guard score > least else { return }
        scores.insert(score, at: scores.firstIndex { $0 >= score } ?? scores.count)
        if scores.count > count { scores.removeFirst() }
    }
}

/// A search for one state of the store. Takes candidates from the index (``CandidateFinder``), then
/// reads and ranks the best ones (`Relevance`) until there are enough hits.
struct SearchRun {
    var plan: SearchPlan
    let request: SearchRequest
    let filter: QueryEvaluator?
    /// The time used for ranking, which is the time of the first page.
    let now: Double
    /// The time used to decide which items have expired.
    let present: Double
    /// `true` if only the text table of the previous format exists.
    let isMigrating: Bool
    /// The filters on an item's app.
    let apps: [SearchIntent.Filter]
    /// The only texts that the filters may allow; `nil` if there is no such list.
    let allowed: Set<Int64>?
    /// The engagement from earlier searches.
    let learned: LearnedSearch
    /// The items with a similar meaning; `nil` if only words are compared.
    let meaning: MeaningRanking?
    let statistics: TextStatistics
    let items: TextItemReader
    /// The stemmer of the search, whose cache all its parts share.
    let stems = WordStems([])
    let db: Database
    /// `true` if a word that occurs in nearly all items also makes a hit by itself, because no item
    /// that the filters allow contains a rarer word.
    var acceptsCommonWords = false

    /// The smallest number of candidates requested from each list.
    static let minimumDepth = 64
    private static let maximumDepth = 1 << 20

    /// Returns the best hits in order.
    ///
    /// - Parameter count: The number of hits wanted. The result may contain more, or fewer if there
    ///   are no more.
    /// - Returns: The hits, and `true` if there are no others.
    func hits(_ count: Int) throws -> (hits: [RankedHit], areAll: Bool) {
        let tags = try SearchTags(bundle: request.bundle, db)
        let words = try soughtWords()
        let relevance = try relevance(words)
        let chosen = isMigrating ? [] : try learned.texts(having: words, db) + similarTexts()
        var depth = max(Self.minimumDepth, count)
        var known = KnownTexts()
        while true {
            var finder = CandidateFinder(
                plan, words, tags: tags, allowed: allowed, request.limits, now: now, depth: depth,
                findsInsideWords: request.findsInsideWords, statistics, stems: stems, items, db)
            try find(with: &finder)
            let (hits, areAll) = try ranked(finder.found, chosen: chosen, relevance, count, &known)
            // Lists that were not read yet only add items that contain words.
            let withWords = meaning == nil ? hits.count : hits.count { $0.parts.fit != .meaning }
            if withWords >= count || (finder.isExhausted && areAll) || depth >= Self.maximumDepth {
                return (hits, areAll && finder.isExhausted)
            }
            depth *= 4
        }
    }

    /// Returns the texts of the items with the most similar meaning, which may be missing from the
    /// word lists.
    private func similarTexts() throws -> [Int64] {
        guard let meaning else { return [] }
        let statement = try db.cachedStatement(sql: "SELECT text_row FROM item WHERE id = ?")
        return try meaning.candidates.compactMap { try Int64.fetchOne(statement, arguments: [$0.item]) }
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

    /// Returns the item of a hit; `nil` if it no longer exists.
    func read(_ hit: RankedHit) throws -> SearchHit? {
        let statement = try db.cachedStatement(
            sql: "SELECT \(StoredItem.columns) FROM item JOIN bundle ON bundle.id = item.bundle WHERE item.id = ?")
        let row = try Row.fetchOne(statement, arguments: [hit.item])
        return try row.map {
            let item = try StoredItem($0)
            return SearchHit(
                item: item, kind: hit.parts.fit, score: hit.score, parts: hit.parts,
                passage: hit.parts.fit == .meaning
                    ? try meaning?.candidate(item.number).flatMap { try passage(row: $0.row, of: item) } : nil)
        }
    }

    /// Returns the passage of an item whose embedding is in a row.
    func passage(row: Int64, of item: StoredItem) throws -> String? {
        let range = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT start, size FROM embedding WHERE id = ?"), arguments: [row])
        guard let range else { return nil }
        let (start, size): (Int, Int) = (try range.decode(forColumn: "start"), try range.decode(forColumn: "size"))
        guard start >= 0, size > 0 else { return nil }
        return EmbeddedText(item.record).passage(start..<start + size)
    }

    // MARK: Counting

    /// Counts the items that contain all words. If the pages show more hits than that, counts the
    /// items that contain some of the words.
    ///
    /// - Parameters:
    ///   - hits: The result of ``hits(_:)``.
    ///   - shown: The number of hits on this page and all previous pages.
    ///   - maximum: The number at which counting stops.
    func total(_ hits: [RankedHit], areAll: Bool, shown: Int, upTo maximum: Int) throws -> SearchTotal {
        let least = max(1, min(shown, maximum))
        let complete = hits.count { $0.parts.fit.hasAllWords }
        if areAll {
            let count = complete >= least ? complete : hits.count
            return SearchTotal(count: min(count, maximum), isExact: count < maximum)
        }
        var total = try count(hasAll: true, upTo: maximum)
        if total.isExact, total.count < least {
            total = try count(hasAll: false, upTo: maximum)
            total.count = min(maximum, total.count + hits.count { $0.parts.fit == .meaning })
        }
        // A count that stopped at a limit may have seen fewer items than the pages show.
        if !total.isExact { total.count = max(total.count, least) }
        return total
    }

    /// `true` if items must be read to count them.
    private var isCountedByReading: Bool {
        filter != nil || !apps.isEmpty || !request.excludedBundles.isEmpty || plan.isStrict || isMigrating
    }

    /// Counts the items that contain all words, or some of the words.
    private func count(hasAll: Bool, upTo maximum: Int) throws -> SearchTotal {
        let tags = try SearchTags(bundle: request.bundle, db)
        let words = try soughtWords()
        var finder = CandidateFinder(
            plan, words, tags: tags, allowed: allowed, request.limits, now: now,
            depth: try countedTexts(upTo: maximum),
            findsInsideWords: request.findsInsideWords, statistics, stems: stems, items, db)
        finder.isCounting = true
        if plan.words.isEmpty || isMigrating {
            try find(with: &finder)
        } else if hasAll {
            try finder.findComplete()
        } else {
            try finder.findAny()
        }
        var isExact = finder.isExhausted
        let read = isCountedByReading ? Set(finder.found.keys) : finder.uncertain
        var count = 0
        if !isCountedByReading {
            let expired = try expiredTexts { finder.found[$0] != nil && !finder.uncertain.contains($0) }
            count = finder.found.count - finder.uncertain.count - expired
        }
        let relevance = try relevance(words)
        var bytes = 0
        for (reads, text) in read.sorted(by: >).enumerated() where count < maximum {
            guard reads < request.limits.countedReads, bytes < request.limits.countedBytes else {
                isExact = false
                break
            }
            let fit = try self.read(text, relevance, &bytes)?.parts.fit
            if let fit, fit != .meaning, !hasAll || fit.hasAllWords { count += 1 }
        }
        return SearchTotal(count: min(count, maximum), isExact: isExact && count < maximum)
    }

    /// Returns the number of texts to request from each list for a count. Some of them may not be
    /// hits.
    private func countedTexts(upTo maximum: Int) throws -> Int {
        // Requests one more than will be read, to see whether there are more.
        if isCountedByReading {
            return min(Self.maximumDepth - 1, request.limits.countedReads) + 1
        }
        let expired =
            try Int.fetchOne(
                db.cachedStatement(sql: "SELECT count(*) FROM item WHERE expires <= ?"), arguments: [present]) ?? 0
        return min(maximum, Self.maximumDepth) + expired + 1
    }

    /// Counts the texts of a kind whose items have expired but are not deleted yet.
    private func expiredTexts(where isCounted: (Int64) -> Bool) throws -> Int {
        let rows = try Int64?.fetchCursor(
            db.cachedStatement(sql: "SELECT text_row FROM item WHERE expires <= ?"), arguments: [present])
        var count = 0
        while let text = try rows.next() { if let text, isCounted(text) { count += 1 } }
        return count
    }

    func relevance(_ words: [QueryWord]) throws -> Relevance {
        let languages =
            try isMigrating
            ? []
            : String.fetchAll(
                db.cachedStatement(sql: "SELECT language FROM text_language WHERE texts > 0 LIMIT 2"))
        // With several languages, each item's language is guessed from its text.
        let only = languages.count == 1 ? WordLanguage(rawValue: languages[0]) : nil
        return Relevance(
            words: words, typed: plan.isPlain ? plan.text : nil, onlyLanguage: only,
            languages: isMigrating ? nil : statistics.languages, stems: stems)
    }

    // MARK: Words

    func soughtWords() throws -> [QueryWord] {
        var occurring: Set<String> = []
        let languages = statistics.languages + [LanguageGuess.language(of: plan.text)].compactMap { $0 }
        var words = try plan.words.map { word in
            let forms = Set(statistics.languages.map { stems.stem(word.text, in: $0) })
            var sought = QueryWord(word.text, stems: forms.sorted(), isOpen: word.isOpen)
            // An unfinished word may become another word.
            sought.isFunctionWord = !word.isOpen && QuestionWords.contains(word.text, in: languages)
            if plan.words.count > 1, !isMigrating {
                let occurrences = try occurrences(of: sought)
                if occurrences > 0 { occurring.insert(word.text) }
                // A word that occurs nowhere does not distinguish items; the other words do.
                sought.rarity =
                    occurrences == 0
                    ? QueryWord.leastRarity
                    : QueryWord.rarity(occurrences: occurrences, texts: Double(statistics.texts))
            }
            return sought
        }
        guard plan.words.count > 1, !isMigrating else { return words }
        let content = words.indices.filter { !words[$0].isFunctionWord && occurring.contains(words[$0].text) }
        let deciding = content.isEmpty ? Array(words.indices) : content
        if !acceptsCommonWords, deciding.contains(where: { words[$0].rarity > QueryWord.leastRarity }) {
            for index in words.indices { words[index].isDistinctive = words[index].rarity > QueryWord.leastRarity }
        }
        // Function words count little beside content words, even if they are rare in the index.
        if let least = content.map({ words[$0].rarity }).min() {
            for index in words.indices where words[index].isFunctionWord {
                words[index].rarity = min(words[index].rarity, least * QueryWord.functionWordShare)
            }
        }
        return words
    }

    /// Returns the approximate number of texts that contain a word. Counts up to a limit, and
    /// estimates larger numbers from a sample.
    func occurrences(of word: QueryWord) throws -> Double {
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

    /// The texts read so far. There may be a million texts that are not hits.
    private struct KnownTexts {
        var hits: [Int64: RankedHit] = [:]
        var others: Set<Int64> = []
    }

    /// Reads the best candidates and ranks them.
    ///
    /// - Parameter chosen: The texts that the user chose before. They are read first, within a
    ///   separate byte limit, and are not subject to the limits of the other candidates.
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
            // A text may be both chosen earlier and similar in meaning.
            if taken.insert(text).inserted { try take(text, &chosenBytes) }
        }
        let first = hits.count
        let wanted = max(request.limits.readItems, count + count / 2)
        var best = BestScores(count)
        var (reads, bytes) = (0, 0)
        for candidate in order {
            // Texts that the filters reject do not count towards the limit.
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
        try addMeaning(to: &hits)
        hits.sort { ($1.parts.score, $1.text) < ($0.parts.score, $0.text) }
        BundleOrder.apply(to: &hits)
        return (hits, reads == order.count)
    }

    /// Adds the contribution of meaning to the scores.
    private func addMeaning(to hits: inout [RankedHit]) throws {
        guard let meaning else { return }
        let best = hits.lazy.filter { $0.parts.fit != .meaning }.map(\.parts.textScore).max() ?? 1
        let deviations = try meaning.deviations(of: hits.map(\.item), db)
        for index in hits.indices {
            guard let own = deviations[hits[index].item] else { continue }
            hits[index].parts.meaning = MeaningRule.part(deviations: own, best: best)
            hits[index].score = hits[index].parts.score
        }
    }

    /// The largest difference between a score and its estimate in nearly all cases: half a level
    /// per word, plus proximity.
    private static let estimateError = 0.17
    /// The factor by which more items are read while their estimates are close to the best scores.
    static let patience = 4

    /// Returns `true` if so much text was read that the current hits have to suffice.
    private func isEnough(_ hits: Int, _ bytes: Int, wanted: Int) -> Bool {
        let limits = request.limits
        if bytes > limits.readBytes * 8 { return hits >= wanted }
        return bytes > limits.readBytes && hits >= max(wanted, limits.readLargeItems)
    }

    private func factor(_ text: Int64) -> Double { FreshnessRule.factor(age: TextNumber.age(of: text, now: now)) }

    /// Returns the hit for a candidate; `nil` if the candidate is not a hit.
    func read(_ text: Int64, _ relevance: Relevance, _ bytes: inout Int) throws -> RankedHit? {
        try items.withItem(ofText: text) { try hit($0, text, relevance, &bytes) } ?? nil
    }

    private func hit(
        _ item: TextItemReader.Item, _ text: Int64, _ relevance: Relevance, _ bytes: inout Int
    ) throws -> RankedHit? {
        guard item.expires ?? .infinity > present else { return nil }
        if request.bundle != nil || !request.excludedBundles.isEmpty || !apps.isEmpty {
            guard let name = try items.name(ofBundle: item.bundle) else { return nil }
            if let bundle = request.bundle, name != bundle { return nil }
            guard !request.excludedBundles.contains(name) else { return nil }
            guard apps.allSatisfy({ $0.apps.contains { Self.isApp($0, name) } != $0.isExcluded }) else { return nil }
        }
        if let filter, try !filter.matches(Data(item.record).databaseValue) { return nil }
        let features = try item.features()
        bytes += features.fields.reduce(0) { $0 + $1.utf8.count }
        if plan.isStrict, !plan.allows(features.fields) { return nil }
        let found = relevance.parts(
            of: features.fields, language: features.language, names: features.names, age: age(features.date),
            isInside: { isInside(features.fields) })
        let isSimilar = meaning?.candidate(item.id).map { $0.deviations >= MeaningRule.floor } ?? false
        guard var parts = found ?? (isSimilar ? Relevance.partsWithoutWords(age: age(features.date)) : nil) else {
            return nil
        }
        parts.engagement = try learned.gain(of: item.id, over: parts.textScore, db)
        let importance =
            plan.words.isEmpty
            ? 1 : features.importance * (try learned.importance(of: item.id, bundle: item.bundle, db))
        return RankedHit(
            text: text, item: item.id, bundle: item.bundle, parts: parts, score: parts.score,
            importance: importance)
    }

    /// Returns `true` if a bundle identifier, or its last component, equals an app name.
    static func isApp(_ app: String, _ bundle: String) -> Bool {
        let last = bundle.split(separator: ".").last.map(String.init) ?? bundle
        return [bundle, last].contains {
            TextFolding.folded($0, case: true, diacritics: true)
                == TextFolding.folded(app, case: true, diacritics: true)
        }
    }

    /// Returns the age of a date in days. Text numbers cannot be used here, because the texts of a
    /// migrated store keep numbers that do not encode dates.
    private func age(_ date: Double) -> Int { Int(TextNumber.day(of: now) - TextNumber.day(of: date)) }

    /// Returns `true` if a word in the title or keywords contains the last word.
    private func isInside(_ fields: [String]) -> Bool {
        guard request.findsInsideWords, let part = plan.part, part.unicodeScalars.count >= TermDictionary.minimumLength
        else { return false }
        let sequence = WordSequence(inside: part)
        return sequence.occurs(in: fields[TextField.title.rawValue])
            || sequence.occurs(in: fields[TextField.keywords.rawValue])
    }
}
