// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery
import TextAnalysis
import UserSearch

/// Looks up and counts the items that suggestions come from and lead to, within bounds that hold for every one.
struct SuggestionCounter {
    private let index: SearchIndex
    private let bundle: String?
    private let db: Database
    private let now: Double
    private let tags: SearchTags
    private let languages: [WordLanguage]
    private let stems = WordStems([])

    /// So many items are read to count those that satisfy filters and phrases.
    private static let readItems = 48
    /// So many of the items of a value are looked at for one of the bundle.
    private static let itemsOfValue = 64
    private static let maximumBundles = 256

    init(_ index: SearchIndex, bundle: String?, _ db: Database) throws {
        (self.index, self.bundle, self.db) = (index, bundle, db)
        now = try index.clock.now(db)
        tags = try SearchTags(bundle: bundle, db)
        languages = try TextStatistics(db, sample: SearchLimits().sample).languages
    }

    // MARK: Counting

    /// How many items a text finds whose last word is whole; `nil` for none.
    func total(_ text: String) throws -> SearchTotal? {
        guard let search = try prepared(text + " ") else { return nil }
        let counted: (count: Int, isAll: Bool)
        if !search.isRestricted {
            counted = (try countWords(search.words), true)
        } else if search.isFiltersOnly, let count = try countFiltered(search) {
            counted = (count, true)
        } else {
            counted = try countRead(search)
        }
        guard counted.count > 0 else { return nil }
        return SearchTotal(
            count: min(counted.count, Suggestion.maximumCounted),
            isExact: counted.isAll && counted.count <= Suggestion.maximumCounted)
    }

    /// How many items have all words in any form; stops behind ``Suggestion/maximumCounted``.
    private func countWords(_ words: [String]) throws -> Int {
        try Int.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT count(*) FROM (
                        SELECT 1 FROM ranked_word CROSS JOIN text_row ON text_row.id = ranked_word.rowid
                        CROSS JOIN item ON item.id = text_row.item
                        WHERE ranked_word MATCH ? AND (item.expires IS NULL OR item.expires > ?)
                            AND (? IS NULL OR item.bundle = ?)
                        ORDER BY ranked_word.rowid DESC LIMIT ?)
                    """),
            arguments: [expression(withAll: words), now, tags.bundle, tags.bundle, Suggestion.maximumCounted + 1]) ?? 0
    }

    private func expression(withAll words: [String]) -> String {
        let all = words.map { word in
            RankedStems.expression(Set(languages.map { stems.stem(word, in: $0) }).sorted())
        }
        return (all + [tags.expression].compactMap { $0 }).joined(separator: " AND ")
    }

    /// How many items satisfy filters, by the indexes; `nil` if all items would have to be read.
    private func countFiltered(_ search: PreparedSearch) throws -> Int? {
        if search.filters.isEmpty { return try countApps(search) }
        guard search.hasNoApps else { return nil }
        let query = try PreparedQuery(
            .and(search.filters), filters: [], bundle: bundle, context: index.queryContext())
        return try query.run(db, now: now) { compiled in
            guard compiled.hasCandidates else { return nil }
            var tail = SQLFragment()
            tail.append(" LIMIT ?", Suggestion.maximumCounted + 1)
            let select = compiled.select("1", tail: tail)
            return try Int.fetchOne(
                db, sql: "SELECT count(*) FROM (\(select.sql))", arguments: StatementArguments(select.arguments))
        }
    }

    private func countApps(_ search: PreparedSearch) throws -> Int? {
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

    /// Reads the newest items with all words, to count those that are hits.
    private func countRead(_ search: PreparedSearch) throws -> (count: Int, isAll: Bool) {
        let run = try search.run(db)
        let texts =
            search.words.isEmpty
            ? try Int64.fetchAll(
                db.cachedStatement(sql: "SELECT id FROM text_row ORDER BY id DESC LIMIT ?"), arguments: [Self.readItems]
            )
            : try self.texts(withAll: search.words, limit: Self.readItems)
        let relevance = run.relevance(try run.soughtWords())
        var (count, bytes) = (0, 0)
        for text in texts {
            guard let hit = try run.read(text, relevance, &bytes), hit.parts.fit != .someWords else { continue }
            count += 1
        }
        return (count, texts.count < Self.readItems)
    }

    // MARK: Looking up

    /// The search for a text; `nil` if it can find nothing.
    private func prepared(_ text: String) throws -> PreparedSearch? {
        try PreparedSearch(index, SearchRequest(text, bundle: bundle))
    }

    /// The search for a text in this state of the store.
    func run(_ text: String) throws -> SearchRun? { try prepared(text)?.run(db) }

    /// A text with spaces for its filters.
    func words(of text: String) -> String { SearchIntent(text, clock: index.queryContext().clock).text }

    /// What the filters of a text ask for; `nil` without any.
    func meaning(_ text: String) throws -> QueryExpression? {
        guard let filters = try prepared(text)?.filters, !filters.isEmpty else { return nil }
        return .and(filters)
    }

    /// The newest texts of a table that match an expression.
    func list(_ table: String, _ expression: String, limit: Int) throws -> [Int64] {
        let whole = tags.expression.map { "\(expression) AND \($0)" } ?? expression
        return try Int64.fetchAll(
            db.cachedStatement(sql: "SELECT rowid FROM \(table) WHERE \(table) MATCH ? ORDER BY rowid DESC LIMIT ?"),
            arguments: [whole, limit])
    }

    /// The newest texts with all words in any form.
    func texts(withAll words: [String], limit: Int) throws -> [Int64] {
        try Int64.fetchAll(
            db.cachedStatement(
                sql: "SELECT rowid FROM ranked_word WHERE ranked_word MATCH ? ORDER BY rowid DESC LIMIT ?"),
            arguments: [expression(withAll: words), limit])
    }

    /// The item of a text; `nil` if it is gone, another bundle's, or cannot have some words.
    func record(ofText text: Int64, having sequence: WordSequence? = nil) throws -> ItemRecord? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT item.record FROM text_row CROSS JOIN item ON item.id = text_row.item
                    WHERE text_row.id = ? AND (item.expires IS NULL OR item.expires > ?) AND (? IS NULL OR item.bundle = ?)
                    """), arguments: [text, now, tags.bundle, tags.bundle])
        guard let row else { return nil }
        if let sequence {
            let mayOccur = try row.withUnsafeData(atIndex: 0) { $0.map(sequence.mayOccur(inRecord:)) ?? false }
            guard mayOccur else { return nil }
        }
        return try ItemWriter.record(in: row)
    }

    /// Values of attributes that begin so, as items have them; those of each attribute in the order of the alphabet.
    func values(of attributes: [String], beginningWith typed: String, limit: Int) throws -> [String] {
        guard limit > 0, let part = AttributeKey.Part(typed, isStart: true) else { return [] }
        var values: [String] = []
        for attribute in attributes {
            guard let name = try AttributeIndex.number(of: attribute, db) else { continue }
            var (key, inclusive) = (part.lowerBound, true)
            // Some values may be only of other bundles.
            for _ in 0..<(2 * limit) where values.count < limit {
                let next = try String.fetchOne(
                    db.cachedStatement(
                        sql: """
                            SELECT value FROM attribute WHERE name = ? AND value \(inclusive ? ">=" : ">") ? AND value < ?
                            ORDER BY value LIMIT 1
                            """), arguments: [name, key, part.upperBound ?? "\u{10FFFF}"])
                guard let next else { break }
                (key, inclusive) = (next, false)
                if let value = try value(key, name, attribute), !values.contains(value) { values.append(value) }
            }
        }
        return values
    }

    /// A value by its key, as the newest item has it.
    private func value(_ key: String, _ name: Int64, _ attribute: String) throws -> String? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT item.record FROM (
                        SELECT item AS number FROM attribute WHERE name = ? AND value = ? ORDER BY item DESC LIMIT ?)
                    CROSS JOIN item ON item.id = number
                    WHERE (? IS NULL OR item.bundle = ?) AND (item.expires IS NULL OR item.expires > ?) LIMIT 1
                    """), arguments: [name, key, Self.itemsOfValue, tags.bundle, tags.bundle, now])
        guard let row else { return nil }
        return try ItemWriter.record(in: row).texts(attribute).first { AttributeKey.key(of: $0) == key }
    }

    /// The last parts of the names of bundles that begin so.
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
