// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery
import TextAnalysis
import UserSearch

/// Finds the items that supply suggestions, and counts the items that suggestions find. Fixed
/// limits bound the work of every lookup.
struct SuggestionCounter {
    private let index: SearchIndex
    private let bundle: String?
    private let db: Database
    private let now: Double
    private let tags: SearchTags
    private let context: QueryContext
    private let items: TextItemReader
    /// `true` if the store has expired items that are not deleted yet.
    private let hasExpired: Bool
    /// The languages in which a search looks up forms of words.
    private let languages: [WordLanguage]
    private let stems = WordStems([])
    private let cache = Cache()

    /// The number of items read in order to count the items that satisfy filters and phrases.
    private static let readItems = 32
    /// The number of oldest items added to a sample, because the newest items cannot satisfy a
    /// filter for dates in the past.
    private static let readOldItems = 8
    /// The limits for paths: the bytes of a path, and the number of different folders.
    private static let (bytesOfPath, maximumFolders) = (4096, 512)
    /// The number of items examined to find the bundle's items that have a value.
    private static let itemsOfValue = 256
    /// The number of values, across all bundles, examined to find the values of one bundle.
    private static let triedValues = 512
    /// The limit on the record bytes read for one sample, for values, for completions from titles,
    /// and for completions from texts.
    private static let maximumBytes = 8 << 20
    private static let (maximumBundles, maximumTypes) = (256, 64)
    private static let titles = RecordProjection(of: WordCompletions.titlesAndKeywords)
    private static let texts = RecordProjection(of: WordCompletions.titlesAndKeywords + WordCompletions.texts)

    /// Results shared by several suggestions.
    private final class Cache {
        var samples: [[String]: Sample] = [:]
        var sampledBytes = 0
        var types: [(record: DatabaseValue, total: SearchTotal)]?
        var triedValues = 0
        var values = ByteBudget(left: maximumBytes)
        var titles = ByteBudget(left: maximumBytes)
        var texts = ByteBudget(left: maximumBytes)
    }

    /// The number of bytes that may still be read.
    private struct ByteBudget {
        var left: Int

        /// Returns `true`, and subtracts the record's size, if the record fits.
        mutating func take(_ bytes: Int) -> Bool {
            guard bytes <= left else { return false }
            left -= bytes
            return true
        }
    }

    /// The newest and the oldest items that contain some words.
    private struct Sample {
        var items: [SampledItem] = []
        /// `true` if the sample contains all items with the words.
        var isAll = true
    }

    /// An item on which filters are evaluated.
    private struct SampledItem {
        var record: DatabaseValue
        var number: Int64
        var bundle: String
    }

    init(_ index: SearchIndex, bundle: String?, _ db: Database) throws {
        (self.index, self.bundle, self.db) = (index, bundle, db)
        now = try index.clock.now(db)
        tags = try SearchTags(bundle: bundle, db)
        context = index.queryContext()
        items = try TextItemReader(db)
        languages = try TextStatistics.languages(db).common
        hasExpired =
            try Int.fetchOne(
                db.cachedStatement(sql: "SELECT 1 FROM item WHERE expires <= ? LIMIT 1"), arguments: [now]) != nil
    }

    // MARK: Counting

    /// Counts the items that contain the words of a text and satisfy its filters and phrases.
    /// Beside filters and phrases, only the exact words count. Returns `nil` if there are none.
    func total(_ text: String) throws -> SearchTotal? {
        let intent = SearchIntent(text + " ", clock: context.clock)
        let plan = SearchPlan(intent.text)
        if intent.filters.isEmpty {
            guard let plan else { return nil }
            if !plan.isStrict { return Self.total(try countWords(plan.words.map(\.text))) }
        }
        guard let search = try prepared(text + " ") else { return nil }
        if search.isFiltersOnly {
            if search.filters.isEmpty { return Self.total(try countApps(search)) }
            if let total = try totalOfTypes(search, intent) { return total }
        }
        let sample = try sample(search.words)
        let count = try sample.items.count { try search.allows($0.record, of: $0.number, named: $0.bundle) }
        return count > 0 ? SearchTotal(count: count, isExact: sample.isAll) : nil
    }

    private static func total(_ count: Int) -> SearchTotal? {
        guard count > 0 else { return nil }
        return SearchTotal(
            count: min(count, Suggestion.maximumCounted), isExact: count <= Suggestion.maximumCounted)
    }

    /// Counts the items that contain all words in any form, as a search does, up to one more than
    /// ``Suggestion/maximumCounted``.
    private func countWords(_ words: [String]) throws -> Int {
        let count = try count(formsExpression(withAll: words), in: FullTextIndex.rankedTable)
        // Titles in other languages than those of the stems have the words themselves.
        return count > 0 ? count : try self.count(expression(withAll: words), in: FullTextIndex.textTable)
    }

    private func count(_ expression: String, in table: String) throws -> Int {
        guard hasExpired else {
            // The lists alone are sufficient.
            return try db.countTexts(expression, in: table, upTo: Suggestion.maximumCounted + 1)
        }
        return try Int.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT count(*) FROM (
                        SELECT 1 FROM \(table) CROSS JOIN text_row ON text_row.id = \(table).rowid
                        CROSS JOIN item ON item.id = text_row.item
                        WHERE \(table) MATCH ? AND (item.expires IS NULL OR item.expires > ?)
                            AND (? IS NULL OR item.bundle = ?)
                        ORDER BY \(table).rowid DESC LIMIT ?)
                    """),
            arguments: [expression, now, tags.bundle, tags.bundle, Suggestion.maximumCounted + 1])
            ?? 0
    }

    /// Returns the stems by which a search finds a word.
    func stems(of word: String) -> [String] { Set(languages.map { stems.stem(word, in: $0) }).sorted() }

    private func formsExpression(withAll words: [String]) -> String {
        let all = words.map { RankedStems.expression(stems(of: $0)) }
        return (all + [tags.expression].compactMap { $0 }).joined(separator: " AND ")
    }

    private func expression(withAll words: [String]) -> String {
        (words.map { "\"\($0)\"" } + [tags.textExpression].compactMap { $0 }).joined(separator: " AND ")
    }

    private func countApps(_ search: PreparedSearch) throws -> Int {
        var count = 0
        for (number, name) in try bundles() where search.allows(bundle: name) {
            count +=
                try Int.fetchOne(
                    db.cachedStatement(
                        sql: """
                            SELECT count(*) FROM (
                                SELECT 1 FROM item WHERE bundle = ? AND (expires IS NULL OR expires > ?) LIMIT ?)
                            """), arguments: [number, now, Suggestion.maximumCounted + 1]) ?? 0
        }
        return count
    }

    /// Counts the items whose content type satisfies a text's only filter. Returns `nil` if the
    /// filter tests something else.
    private func totalOfTypes(_ search: PreparedSearch, _ intent: SearchIntent) throws -> SearchTotal? {
        guard search.hasNoApps, intent.filters.count == 1, intent.text.allSatisfy(\.isWhitespace) else { return nil }
        var total = SearchTotal(count: 0, isExact: true)
        for type in try types() where try search.allows(type.record, of: 0, named: "") {
            total.count += type.total.count
            total.isExact = total.isExact && type.total.isExact
        }
        guard total.count > 0 else { return nil }
        total.isExact = total.isExact && total.count <= Suggestion.maximumCounted
        total.count = min(total.count, Suggestion.maximumCounted)
        return total
    }

    /// Returns the content types of items, each as a record with that type, and the number of items
    /// per type.
    private func types() throws -> [(record: DatabaseValue, total: SearchTotal)] {
        if let known = cache.types { return known }
        var types: [(DatabaseValue, SearchTotal)] = []
        if let name = try AttributeIndex.number(of: "contentType", db) {
            let most = bundle == nil ? Self.maximumTypes : Self.triedValues
            try forEachKey(of: name, from: "", before: "\u{10FFFF}", limit: most) { key in
                let record = ItemRecord(uniqueIdentifier: "type", attributes: ["contentType": .string(key)])
                let total = try total(ofValue: key, name)
                if total.count > 0 { types.append((Data(try record.encoded()).databaseValue, total)) }
                return types.count < Self.maximumTypes
            }
        }
        cache.types = types
        return types
    }

    /// Counts the items that have a certain attribute value. With a bundle, counts only among the
    /// newest items of all bundles.
    private func total(ofValue key: String, _ name: Int64) throws -> SearchTotal {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT count(*), total(isCounted) FROM (
                        SELECT (? IS NULL OR item.bundle = ?) AND (item.expires IS NULL OR item.expires > ?) AS isCounted FROM (
                            SELECT item AS number FROM attribute WHERE name = ? AND value = ? ORDER BY item DESC LIMIT ?)
                        CROSS JOIN item ON item.id = number)
                    """),
            arguments: [
                tags.bundle, tags.bundle, now, name, key,
                bundle == nil ? Suggestion.maximumCounted + 1 : Self.itemsOfValue,
            ])
        guard let row else { return SearchTotal(count: 0, isExact: true) }
        let (looked, count) = (try row.decode(Int.self, atIndex: 0), Int(try row.decode(Double.self, atIndex: 1)))
        let isAll = looked < (bundle == nil ? Suggestion.maximumCounted + 1 : Self.itemsOfValue)
        return SearchTotal(
            count: min(count, Suggestion.maximumCounted), isExact: isAll && count <= Suggestion.maximumCounted)
    }

    /// Returns the newest and the oldest items that contain all words, for the evaluation of
    /// filters.
    private func sample(_ words: [String]) throws -> Sample {
        if let known = cache.samples[words] { return known }
        var texts = try sampledTexts(words, limit: Self.readItems)
        var sample = Sample(isAll: texts.count < Self.readItems)
        if !sample.isAll {
            let oldest = try sampledTexts(words, limit: Self.readOldItems, isOldest: true)
            texts += oldest.filter { !texts.contains($0) }
        }
        var budget = ByteBudget(left: Self.maximumBytes)
        for text in texts {
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT CASE WHEN length(item.record) <= ? THEN plain_record(item.record) END, item.bundle,
                            bundle.identifier
                        FROM text_row CROSS JOIN item ON item.id = text_row.item CROSS JOIN bundle ON bundle.id = item.bundle
                        WHERE text_row.id = ? AND (item.expires IS NULL OR item.expires > ?)
                            AND (? IS NULL OR item.bundle = ?)
                        """), arguments: [budget.left, text, now, tags.bundle, tags.bundle])
            guard let row else { continue }
            let record: DatabaseValue = try row.decode(atIndex: 0)
            guard case .blob(let bytes) = record.storage, budget.take(bytes.count) else {
                sample.isAll = false
                continue
            }
            sample.items.append(
                SampledItem(
                    record: record, number: try row.decode(atIndex: 1), bundle: try row.decode(atIndex: 2)))
        }
        cache.sampledBytes += Self.maximumBytes - budget.left
        // Drops the cache, because samples of other words are rarely requested again.
        if cache.sampledBytes > Self.maximumBytes {
            cache.samples = [:]
            cache.sampledBytes = Self.maximumBytes - budget.left
        }
        cache.samples[words] = sample
        return sample
    }

    private func sampledTexts(_ words: [String], limit: Int, isOldest: Bool = false) throws -> [Int64] {
        guard words.isEmpty, bundle == nil else { return try texts(withAll: words, limit: limit, isOldest: isOldest) }
        return try Int64.fetchAll(
            db.cachedStatement(sql: "SELECT id FROM text_row ORDER BY id \(isOldest ? "ASC" : "DESC") LIMIT ?"),
            arguments: [limit])
    }

    // MARK: Looking up

    /// Returns the search for a text; `nil` if it cannot find anything.
    private func prepared(_ text: String) throws -> PreparedSearch? {
        var request = SearchRequest(text, bundle: bundle)
        // The order does not matter for a count.
        request.learnsFrom = nil
        return try PreparedSearch(index, request, context: context)
    }

    /// Returns the search for a text, for this state of the store.
    func run(_ text: String) throws -> SearchRun? { try prepared(text)?.run(db) }

    /// Returns the text with its filters replaced by spaces.
    func words(of text: String) -> String { SearchIntent(text, clock: context.clock).text }

    /// Returns the expression of the filters in a text; `nil` if it has none.
    func meaning(_ text: String) -> QueryExpression? { SearchIntent(text, clock: context.clock).expression }

    /// Returns the newest texts of a table that match an expression.
    func list(_ table: String, _ expression: String, limit: Int) throws -> [Int64] {
        let whole = tags.expression.map { "\(expression) AND \($0)" } ?? expression
        return try Int64.fetchAll(
            db.cachedStatement(sql: "SELECT rowid FROM \(table) WHERE \(table) MATCH ? ORDER BY rowid DESC LIMIT ?"),
            arguments: [whole, limit])
    }

    /// Returns the newest, or the oldest, texts that contain all words exactly.
    func texts(withAll words: [String], limit: Int, isOldest: Bool = false) throws -> [Int64] {
        try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT rowid FROM item_text WHERE item_text MATCH ?
                    ORDER BY rowid \(isOldest ? "ASC" : "DESC") LIMIT ?
                    """), arguments: [expression(withAll: words), limit])
    }

    /// Returns the attributes of a text's item from which completions are taken. Returns `nil` if
    /// the item was deleted, belongs to another bundle or cannot contain `sequence`.
    ///
    /// - Parameter sequence: The words to find; `nil` to read only titles and keywords.
    func record(ofText text: Int64, having sequence: WordSequence? = nil) throws -> ItemRecord? {
        try items.withItem(ofText: text) { item -> ItemRecord? in
            guard item.expires ?? .infinity > now, tags.bundle == nil || tags.bundle == item.bundle,
                sequence == nil ? cache.titles.take(item.record.count) : cache.texts.take(item.record.count),
                sequence?.mayOccur(inRecord: item.record) ?? true
            else { return nil }
            return try? (sequence == nil ? Self.titles : Self.texts).record(decoding: item.record)
        } ?? nil
    }

    /// Returns the attribute values that begin with the typed text, as spelled in the items, and
    /// the number of items for each. The values of each attribute are in alphabetical order.
    func values(
        of attributes: [String], beginningWith typed: String, limit: Int
    ) throws -> [(text: String, total: SearchTotal)] {
        guard limit > 0, let part = AttributeKey.Part(typed, isStart: true) else { return [] }
        var values: [(text: String, total: SearchTotal)] = []
        for attribute in attributes {
            guard let name = try AttributeIndex.number(of: attribute, db) else { continue }
            // Twice the limit, because some values may belong only to expired items. For one
            // bundle, all sources share a budget.
            let most = bundle == nil ? 2 * limit : Self.triedValues - cache.triedValues
            try forEachKey(of: name, from: part.lowerBound, before: part.upperBound ?? "\u{10FFFF}", limit: most) {
                key in
                guard values.count < limit else { return false }
                cache.triedValues += 1
                guard let text = try value(key, name, attribute), !values.contains(where: { $0.text == text }) else {
                    return true
                }
                // The count is a lower bound: further items may match through other attributes.
                let total = try total(ofValue: key, name)
                if total.count > 0 { values.append((text, SearchTotal(count: total.count, isExact: false))) }
                return true
            }
        }
        return values
    }

    /// Returns `true` if items may have a value for one of the attributes. With a bundle, checks a
    /// sample of the bundle's newest items.
    func hasValues(of attributes: [String]) throws -> Bool {
        guard try attributes.contains(where: { try AttributeIndex.number(of: $0, db) != nil }) else { return false }
        guard bundle != nil else { return true }
        let projection = RecordProjection(of: attributes)
        return try sample([]).items.contains { item in
            guard case .blob(let bytes) = item.record.storage else { return false }
            return try !projection.record(decoding: bytes).attributes.isEmpty
        }
    }

    /// Calls `body` with the distinct values of an attribute in a range, in order, until it returns
    /// `false`.
    private func forEachKey(
        of name: Int64, from start: String, before end: String, limit: Int, _ body: (String) throws -> Bool
    ) throws {
        var last: String?
        for _ in 0..<max(0, limit) {
            let next = try String.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT value FROM attribute
                        WHERE name = ? AND value \(last == nil ? ">=" : ">") ? AND value < ? ORDER BY value LIMIT 1
                        """), arguments: [name, last ?? start, end])
            guard let next, try body(next) else { return }
            last = next
        }
    }

    /// Returns the value with a key, as spelled in the newest item that has it.
    private func value(_ key: String, _ name: Int64, _ attribute: String) throws -> String? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT CASE WHEN length(item.record) <= ? THEN plain_record(item.record) END FROM (
                        SELECT item AS number FROM attribute WHERE name = ? AND value = ? ORDER BY item DESC LIMIT ?)
                    CROSS JOIN item ON item.id = number
                    WHERE (? IS NULL OR item.bundle = ?) AND (item.expires IS NULL OR item.expires > ?) LIMIT 1
                    """), arguments: [cache.values.left, name, key, Self.itemsOfValue, tags.bundle, tags.bundle, now])
        guard let row else { return nil }
        return try row.withUnsafeData(atIndex: 0) { data -> String? in
            guard let data, cache.values.take(data.count) else { return nil }
            let record = try RecordProjection(of: [attribute]).record(decoding: data)
            return record.texts(attribute).first { AttributeKey.key(of: $0) == key }
        }
    }

    /// Returns the names of folders and containers that begin with `folded`, from the sampled items
    /// that contain some words. Folders with the most items come first. A folder that contains all
    /// of the items does not narrow the search, so it comes last.
    func folders(
        in attributes: [String], beginningWith folded: String, beside words: [String]
    ) throws -> [String] {
        let projection = RecordProjection(of: attributes)
        let items = try sample(words).items
        var counts: [String: Int] = [:]
        for item in items {
            guard case .blob(let bytes) = item.record.storage else { continue }
            let record = try projection.record(decoding: bytes)
            let names = Set(attributes.flatMap { Self.folders(record.attributes[$0]) })
            for name in names where counts[name] != nil || counts.count < Self.maximumFolders {
                counts[name, default: 0] += 1
            }
        }
        return counts.filter { TextFolding.folded($0.key, case: true, diacritics: true).hasPrefix(folded) }
            .map { (name: $0.key, isOfAll: $0.value == items.count && items.count > 1, count: $0.value) }
            .sorted { ($0.isOfAll ? 1 : 0, -$0.count, $0.name) < ($1.isOfAll ? 1 : 0, -$1.count, $1.name) }
            .map(\.name)
    }

    private static func folders(_ value: AttributeValue?) -> [String] {
        guard let value else { return [] }
        var path: String
        if case .url(let url) = value {
            guard let decoded = url.removingPercentEncoding, url.hasPrefix("file://") else { return [] }
            path = String(decoded.dropFirst("file://".count))
        } else {
            guard let text = value.texts.first else { return [] }
            path = text
        }
        guard path.utf8.count <= bytesOfPath, !path.isEmpty else { return [] }
        return path.hasPrefix("/") ? path.split(separator: "/").dropLast().map(String.init) : [path]
    }

    /// The clock for date phrases in a text.
    var clock: QueryClock { context.clock }

    /// Returns `true` if an item of the bundle contains a word.
    func occurs(_ word: String) throws -> Bool { try !texts(withAll: [word], limit: 1).isEmpty }

    /// Returns the last components of the bundle identifiers that begin with `folded`.
    func apps(beginningWith folded: String) throws -> [String] {
        var names: [String] = []
        for (_, identifier) in try bundles() {
            let last = identifier.split(separator: ".").last.map(String.init) ?? identifier
            let begins = [last, identifier].contains {
                TextFolding.folded($0, case: true, diacritics: true).hasPrefix(folded)
            }
            if begins, !names.contains(last) { names.append(last) }
        }
        return names
    }

    private func bundles() throws -> [(number: Int64, identifier: String)] {
        try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT id, identifier FROM bundle WHERE ? IS NULL OR id = ? ORDER BY identifier LIMIT ?"),
            arguments: [tags.bundle, tags.bundle, Self.maximumBundles]
        ).map { (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1)) }
    }
}
