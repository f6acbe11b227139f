// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord

/// What `relatedUniqueIdentifier` does: an item that has it lives no longer than the item it names.
///
/// Apple says so of activities, which reach this index as items and bear no mark that would tell them from others; so it
/// holds for every item. The item that is meant is any of the same bundle with that identifier, in whichever of its
/// indexes. An item that names itself depends on nothing: apps give one attribute set to an item and to its activity.
/// `weakRelatedUniqueIdentifier` has no effect on lifetimes. docs/ARCHITECTURE.md has the rule as a whole.
enum RelatedItems {
    /// The attribute that ties an item to another.
    static let attribute = "relatedUniqueIdentifier"

    /// The item that an item depends on, if it does.
    static func related(of record: ItemRecord) -> String? {
        guard let text = record.text(attribute), !text.isEmpty,
            !text.utf8.elementsEqual(record.uniqueIdentifier.utf8)
        else { return nil }
        return text
    }

    /// Whether a bundle has an item that has not expired.
    static func exists(_ identifier: String, bundle: Int64, now: Double, _ db: Database) throws -> Bool {
        guard SearchIndex.canBeStored(identifier) else { return false }
        return try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM item WHERE unique_identifier = ? AND bundle = ?
                        AND (expires IS NULL OR expires > ?))
                    """), arguments: [identifier, bundle, now]) ?? false
    }

    /// The items whose related one is gone, now that items with these identifiers were deleted. The attribute index finds
    /// them, so that nothing is spent where no item has the attribute.
    ///
    /// - Returns: Their numbers, each once.
    static func orphans(of deleted: [(identifier: String, bundle: Int64)], _ db: Database) throws -> Set<Int64> {
        guard let name = try nameInUse(db) else { return [] }
        var orphans: Set<Int64> = []
        for (identifier, bundle) in deleted {
            // One that has expired and was not deleted yet still holds what depends on it.
            guard try !exists(identifier, bundle: bundle, now: -.infinity, db) else { continue }
            orphans.formUnion(try dependents(of: identifier, bundle: bundle, name, db))
        }
        return orphans
    }

    /// The items that name another one when it is renamed: those that depend on it, unless another index has an item with the
    /// same identifier, on which they depend as well.
    ///
    /// - Returns: Their numbers, each once, and the identifier that they name then.
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

    /// The number of the attribute's name; `nil` if no item has the attribute.
    private static func nameInUse(_ db: Database) throws -> Int64? {
        guard let name = try AttributeIndex.number(of: attribute, db),
            try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM attribute WHERE name = ?)"), arguments: [name])
                == true
        else { return nil }
        return name
    }

    private static func dependents(
        of identifier: String, bundle: Int64, _ name: Int64, _ db: Database
    ) throws -> Set<Int64> {
        var dependents: Set<Int64> = []
        let key = AttributeKey.key(of: identifier)?.databaseValue ?? AttributeRows.unknown
        let candidates = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT item.id, plain_record(item.record) AS record FROM attribute JOIN item ON item.id = attribute.item
                    WHERE attribute.name = ? AND attribute.value IN (?, ?) AND item.bundle = ?
                    """), arguments: [name, key, AttributeRows.unknown, bundle])
        while let row = try candidates.next() {
            // Different texts can have the same key.
            let record = try ItemWriter.record(in: row)
            guard related(of: record)?.utf8.elementsEqual(identifier.utf8) == true else { continue }
            dependents.insert(try row.decode(forColumn: "id"))
        }
        return dependents
    }
}
