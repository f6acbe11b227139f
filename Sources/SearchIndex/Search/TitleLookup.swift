// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import MetadataQuery
import TextAnalysis

/// Finds items of any age whose title, name, keyword or identifier equals the typed text, in the
/// sorted attribute index.
struct TitleLookup {
    private let plan: SearchPlan
    private let now: Double
    private let typed: String

    /// The largest number of items found per attribute, more than a page.
    private static let maximumFound = 32
    /// The limits for long values that begin as the typed text does, newest first: the number of
    /// items, and the bytes of their records. A single record may be as large as 16 MiB.
    private static let maximumLongValues = 4096
    /// The number of items with the same beginning, and with the same words, that are compared,
    /// newest first.
    private static let maximumAlike = 1 << 14
    private static let maximumBytes = 32 << 20
    private static let attributes = ["title", "displayName", "alternateNames", "keywords"]
    private static let projection = RecordProjection(of: attributes)

    /// The expression for titles and keywords with the rarest words; `nil` if there is only one
    /// word. Many values may begin as the typed text does.
    private let rarest: String?

    init(_ plan: SearchPlan, rarest: String?, now: Double) {
        (self.plan, self.rarest, self.now) = (plan, rarest, now)
        typed = TextFolding.folded(plan.text, case: true, diacritics: true)
    }

    /// Returns the texts of items that may match. The caller must verify the match.
    func rows(_ tags: SearchTags, _ db: Database) throws -> [Int64] {
        guard plan.isPlain, !typed.isEmpty else { return [] }
        var found = try identified(tags, db)
        guard let key = AttributeKey.key(of: typed) else { return found }
        var budget = Self.maximumBytes
        for name in Self.attributes {
            guard let number = try AttributeIndex.number(of: name, db) else { continue }
            found +=
                try AttributeKey.isCut(key)
                ? longValues(key, number, tags.bundle, &budget, db) : wholeKeys(key, number, tags.bundle, db)
        }
        return found
    }

    /// Finds long values. Their keys contain only the beginning, so their records have to be read,
    /// which takes longer.
    private func longValues(
        _ key: String, _ name: Int64, _ bundle: Int64?, _ budget: inout Int, _ db: Database
    ) throws -> [Int64] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT item.text_row, plain_record(item.record) FROM (
                        SELECT item AS number FROM attribute WHERE name = ? AND value = ? ORDER BY item DESC LIMIT ?)
                    CROSS JOIN item ON item.id = number
                    WHERE (? IS NULL OR item.bundle = ?) AND (item.expires IS NULL OR item.expires > ?)
                        AND (? IS NULL OR item.text_row IN (
                            SELECT rowid FROM ranked_word WHERE ranked_word MATCH ? ORDER BY rowid DESC LIMIT ?))
                    ORDER BY number DESC LIMIT ?
                    """),
            arguments: [
                name, key, Self.maximumAlike, bundle, bundle, now, rarest, rarest ?? "", Self.maximumAlike,
                Self.maximumLongValues,
            ])
        var found: [Int64] = []
        while found.count < Self.maximumFound, budget > 0, let row = try rows.next() {
            let values = try row.withUnsafeData(atIndex: 1) { record -> [String] in
                budget -= record?.count ?? 0
                let projected = record.flatMap { try? Self.projection.record(decoding: $0) }
                return Self.attributes.flatMap { projected?.texts($0) ?? [] }
            }
            let isWhole = values.contains { TextFolding.folded($0, case: true, diacritics: true) == typed }
            if isWhole { found.append(try row.decode(atIndex: 0)) }
        }
        return found
    }

    private func wholeKeys(_ key: String, _ name: Int64, _ bundle: Int64?, _ db: Database) throws -> [Int64] {
        try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT item.text_row FROM attribute CROSS JOIN item ON item.id = attribute.item
                    WHERE attribute.name = ? AND attribute.value = ?
                        AND (? IS NULL OR item.bundle = ?) AND (item.expires IS NULL OR item.expires > ?)
                    ORDER BY attribute.item DESC LIMIT ?
                    """), arguments: [name, key, bundle, bundle, now, Self.maximumFound])
    }

    private func identified(_ tags: SearchTags, _ db: Database) throws -> [Int64] {
        guard SearchIndex.canBeStored(plan.text) else { return [] }
        return try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT text_row FROM item WHERE unique_identifier = ? AND (? IS NULL OR bundle = ?) LIMIT ?
                    """), arguments: [plan.text, tags.bundle, tags.bundle, Self.maximumFound])
    }
}
