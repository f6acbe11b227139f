// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord

/// Implements `relatedUniqueIdentifier`: an item with this attribute is deleted together with the
/// item that it names.
///
/// Apple documents this for activities. Activities reach this index as ordinary items without a
/// distinguishing mark, so the rule applies to every item. The named item is any item of the same
/// bundle with that identifier, in any index. An item that names itself does not depend on another
/// item, because apps use one attribute set for an item and its activity.
/// `weakRelatedUniqueIdentifier` does not affect lifetimes.
///
/// In memory, the rule only applies within each index, and no donation is left out
/// (``StoreHooks/relatesWithinIndexes``). Decision 26 (docs/decisions) has the complete rule.
enum RelatedItems {
    /// The attribute that makes an item depend on another item.
    static let attribute = "relatedUniqueIdentifier"

    /// Returns the identifier of the item that an item depends on; `nil` if it depends on none.
    static func related(of record: ItemRecord) -> String? {
        guard let text = record.text(attribute), !text.isEmpty,
            !text.utf8.elementsEqual(record.uniqueIdentifier.utf8)
        else { return nil }
        return text
    }

    /// Returns `true` if a bundle has an item with this identifier that has not expired.
    ///
    /// - Parameter index: The name of the only index to search; `nil` for all.
    static func exists(
        _ identifier: String, bundle: Int64, index: String? = nil, now: Double, _ db: Database
    ) throws -> Bool {
        guard SearchIndex.canBeStored(identifier) else { return false }
        return try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM item WHERE unique_identifier = ? AND bundle = ?
                        AND (expires IS NULL OR expires > ?) AND index_name = ifnull(?, index_name))
                    """), arguments: [identifier, bundle, now, index]) ?? false
    }

    /// Returns the items whose related item no longer exists after a deletion. They are found in
    /// the attribute index, so the cost is small if no item has the attribute.
    ///
    /// - Parameters:
    ///   - deleted: The identifiers of the deleted items.
    ///   - index: The name of the only index to search; `nil` for all indexes of the bundle.
    /// - Returns: The item numbers.
    static func orphans(
        of deleted: [(identifier: String, bundle: Int64)], index: String? = nil, _ db: Database
    ) throws -> Set<Int64> {
        guard let name = try nameInUse(db) else { return [] }
        var orphans: Set<Int64> = []
        for (identifier, bundle) in deleted {
            // An expired item that has not been deleted yet still keeps its dependents.
            guard try !exists(identifier, bundle: bundle, index: index, now: -.infinity, db) else { continue }
            orphans.formUnion(try dependents(of: identifier, bundle: bundle, index: index, name, db))
        }
        return orphans
    }

    /// Returns the items that must refer to a renamed item by its new identifier. Excludes items
    /// that also depend on an item with the old identifier in another index.
    ///
    /// - Returns: The item numbers, and the identifiers to store in them.
    static func followers(
        of renames: [ItemRename], bundle: Int64, index: String, _ db: Database
    ) throws -> [(item: Int64, related: String)] {
        guard let name = try nameInUse(db) else { return [] }
        let isElsewhere = try db.cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM item WHERE unique_identifier = ? AND bundle = ? AND index_name <> ?)
                """)
        return try renames.flatMap { rename -> [(item: Int64, related: String)] in
            guard try Bool.fetchOne(isElsewhere, arguments: [rename.identifier, bundle, index]) != true else {
                return []
            }
            return try dependents(of: rename.identifier, bundle: bundle, name, db).sorted()
                .map { ($0, rename.newIdentifier) }
        }
    }

    /// Returns the number of the attribute's name; `nil` if no item uses the attribute.
    private static func nameInUse(_ db: Database) throws -> Int64? {
        guard let name = try AttributeIndex.number(of: attribute, db),
            try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM attribute WHERE name = ?)"), arguments: [name])
                == true
        else { return nil }
        return name
    }

    private static func dependents(
        of identifier: String, bundle: Int64, index: String? = nil, _ name: Int64, _ db: Database
    ) throws -> Set<Int64> {
        var dependents: Set<Int64> = []
        let key = AttributeKey.key(of: identifier)?.databaseValue ?? AttributeRows.unknown
        let candidates = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT item.id, plain_record(item.record) AS record FROM attribute JOIN item ON item.id = attribute.item
                    WHERE attribute.name = ? AND attribute.value IN (?, ?) AND item.bundle = ?
                        AND item.index_name = ifnull(?, item.index_name)
                    """), arguments: [name, key, AttributeRows.unknown, bundle, index])
        while let row = try candidates.next() {
            // Different texts can have the same key.
            let record = try ItemWriter.record(in: row)
            guard related(of: record)?.utf8.elementsEqual(identifier.utf8) == true else { continue }
            dependents.insert(try row.decode(forColumn: "id"))
        }
        return dependents
    }
}
