// SPDX-License-Identifier: Apache-2.0
import GRDB
import ServiceProtocol

extension SearchIndex {
    /// Finds the items that contain all the words of a text, best first; the last word may be incomplete.
    ///
    /// - Parameters:
    ///   - text: What a person typed. Words in double quotes must stand side by side.
    ///   - bundle: Only items of this bundle; `nil` means all.
    ///   - limit: At most so many, 1 to 10,000.
    /// - Returns: The best hits and how many there are in all.
    /// - Throws: ``SearchIndexError``.
    public func search(
        _ text: String, bundle: String? = nil, limit: Int = 20
    ) async throws(SearchIndexError) -> (hits: [SearchHit], total: Int) {
        guard let match = FullTextQuery(text).match, Self.canBeStored(bundle) else { return ([], 0) }
        let now = now()
        return try await read("Searching") { db in
            let source = """
                FROM item_text JOIN item ON item.id = item_text.rowid JOIN bundle ON bundle.id = item.bundle
                WHERE item_text MATCH :match AND (item.expires IS NULL OR item.expires > :now)
                    AND (:bundle IS NULL OR bundle.identifier = :bundle)
                """
            let arguments: StatementArguments = ["match": match, "now": now, "bundle": bundle]
            let weights = SearchableText.weights.map { "\($0)" }.joined(separator: ", ")
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT \(StoredItem.columns), -bm25(item_text, \(weights)) AS score \(source)
                    ORDER BY score DESC, item.id DESC LIMIT :limit
                    """, arguments: arguments + ["limit": max(1, min(10_000, limit))])
            let total = try Int.fetchOne(db, sql: "SELECT count(*) \(source)", arguments: arguments) ?? 0
            return (
                try rows.map { SearchHit(item: try StoredItem($0), score: try $0.decode(forColumn: "score")) }, total
            )
        }
    }

    /// The item with a number.
    ///
    /// - Throws: ``SearchIndexError``.
    public func item(number: Int64) async throws(SearchIndexError) -> StoredItem? {
        try await items(where: "item.id = ?", [number]).first
    }

    /// The items with a unique identifier, of one bundle or of all.
    ///
    /// - Throws: ``SearchIndexError``.
    public func items(
        uniqueIdentifier: String, bundle: String? = nil
    ) async throws(SearchIndexError) -> [StoredItem] {
        guard Self.canBeStored(uniqueIdentifier), Self.canBeStored(bundle) else { return [] }
        if let bundle {
            return try await items(
                where: "item.unique_identifier = ? AND bundle.identifier = ?", [uniqueIdentifier, bundle])
        }
        return try await items(where: "item.unique_identifier = ?", [uniqueIdentifier])
    }

    private func items(
        where condition: String, _ arguments: StatementArguments
    ) async throws(SearchIndexError) -> [StoredItem] {
        let now = now()
        return try await read("Looking up an item") { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT \(StoredItem.columns) FROM item JOIN bundle ON bundle.id = item.bundle
                    WHERE \(condition) AND (item.expires IS NULL OR item.expires > ?)
                    ORDER BY item.id LIMIT 100
                    """, arguments: arguments + [now]
            ).map(StoredItem.init)
        }
    }

    /// How many items each bundle has.
    ///
    /// - Throws: ``SearchIndexError``.
    public func itemCounts() async throws(SearchIndexError) -> [String: Int] {
        let now = now()
        return try await read("Counting items") { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT bundle.identifier, count(*) FROM item JOIN bundle ON bundle.id = item.bundle
                    WHERE item.expires IS NULL OR item.expires > ? GROUP BY bundle.id
                    """, arguments: [now])
            // Names that differ in bytes only, as composed and decomposed letters do, are one name here.
            return try Dictionary(rows.map { (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1)) }) { $0 + $1 }
        }
    }
}
