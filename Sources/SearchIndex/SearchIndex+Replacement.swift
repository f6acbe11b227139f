// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import GRDB

extension SearchIndex {
    /// Begins the replacement of all items of a bundle. Until ``finishReplacement(of:keeping:)`` is
    /// called, call ``replaceAll(in:)`` instead of ``deleteAll(in:)``.
    public func beginReplacement(of bundle: String) async throws(SearchIndexError) {
        try await write("Beginning a reindex of \(bundle)") { db in try Self.forgetReplacement(of: bundle, db) }
    }

    /// Begins a replacement of all items of a bundle that may continue after the store is closed
    /// and opened again.
    ///
    /// ``finishReplacement(of:keeping:)`` deletes every item of the bundle, in all indexes, that
    /// was not donated again. The client states are kept.
    ///
    /// - Parameter kept: The identifiers of items to keep in any case, by index.
    /// - Returns: The number that ``replacement(of:)`` returns while the replacement is in
    ///   progress.
    public func beginWholeReplacement(
        of bundle: String, keeping kept: [String?: Set<String>] = [:]
    ) async throws(SearchIndexError) -> Int64 {
        let number = Int64.random(in: 1...Int64.max)
        try await write("Beginning a reindex in pages of \(bundle)") { db in
            try Self.forgetReplacement(of: bundle, db)
            try db.execute(sql: "INSERT INTO unconfirmed \(Self.itemsOfBundle)", arguments: [bundle])
            try Self.confirm(kept, of: bundle, db)
            try db.execute(
                sql: "INSERT INTO replacement (bundle, number) VALUES (?, ?)", arguments: [bundle, number])
        }
        return number
    }

    /// Returns the number of the replacement begun by ``beginWholeReplacement(of:)``; `nil` once it
    /// has ended or was undone.
    public func replacement(of bundle: String) async throws(SearchIndexError) -> Int64? {
        try await read("Reading the progress of a reindex of \(bundle)") { db in
            try Int64.fetchOne(db, sql: "SELECT number FROM replacement WHERE bundle = ?", arguments: [bundle])
        }
    }

    /// Returns the number of items of a bundle, and the number of items that would be deleted at
    /// the end of its replacement.
    public func replacementCounts(
        of bundle: String
    ) async throws(SearchIndexError) -> (items: Int, unconfirmed: Int) {
        try await read("Counting the items of \(bundle)") { db in
            let items = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM item WHERE bundle = \(Self.bundleNumber)", arguments: [bundle])
            let unconfirmed = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM unconfirmed WHERE item IN (\(Self.itemsOfBundle))", arguments: [bundle])
            return (items ?? 0, unconfirmed ?? 0)
        }
    }

    /// Removes the deletion marks of items.
    private static func confirm(_ kept: [String?: Set<String>], of bundle: String, _ db: Database) throws {
        let confirm = try db.makeStatement(
            sql: """
                DELETE FROM unconfirmed WHERE item = (
                    SELECT id FROM item
                    WHERE unique_identifier = ? AND bundle = \(bundleNumber) AND index_name = ?)
                """)
        for (index, identifiers) in kept {
            for identifier in identifiers where canBeStored(identifier) {
                try confirm.execute(arguments: [identifier, bundle, index ?? ""])
            }
        }
    }

    private static func forgetReplacement(of bundle: String, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM unconfirmed WHERE item IN (\(itemsOfBundle))", arguments: [bundle])
        try db.execute(sql: "DELETE FROM replacement WHERE bundle = ?", arguments: [bundle])
    }

    /// Marks everything in one index of a bundle for deletion.
    ///
    /// The items stay searchable until the end of the replacement. An item that is donated again
    /// before then stays and keeps its number. So a reindex that begins with a deletion leaves no
    /// gap, and a failed reindex keeps the old items.
    ///
    /// Deletes the client state immediately, like ``deleteAll(in:)`` does. Otherwise an app that
    /// reads the state would assume that its items are donated, and would not donate them again.
    ///
    /// - Parameter isWanted: Returns `true` if the operation is still wanted. Called after all
    ///   waiting, on the queue that writes the database, so it must not use the index.
    /// - Throws: ``SearchIndexError``; ``SearchIndexError/mismatchedClientState`` if the operation
    ///   is not wanted.
    public func replaceAll(
        in scope: IndexScope, if isWanted: @escaping @Sendable () -> Bool = { true }
    ) async throws(SearchIndexError) {
        let isDone = try await write("Replacing all items of \(scope.bundle)") { db in
            guard isWanted() else { return false }
            try db.execute(
                sql: "INSERT OR IGNORE INTO unconfirmed \(Self.itemsOfBundle) AND index_name = ?",
                arguments: [scope.bundle, scope.index ?? ""])
            try db.execute(
                sql: "DELETE FROM client_state WHERE bundle = \(Self.bundleNumber) AND index_name = ?",
                arguments: [scope.bundle, scope.index ?? ""])
            return true
        }
        guard isDone else { throw .mismatchedClientState }
        applier?.log.forgetClientState(of: scope)
    }

    /// Finishes the replacement: deletes the marked items that were not donated again.
    ///
    /// - Parameter kept: The identifiers of items to keep in any case, by index (`nil` is the
    ///   default index).
    public func finishReplacement(
        of bundle: String, keeping kept: [String?: Set<String>] = [:]
    ) async throws(SearchIndexError) {
        let deleted = try await write("Finishing a reindex of \(bundle)") { db in
            try Self.confirm(kept, of: bundle, db)
            let derived = DerivedWriter(db)
            try ItemWriter.delete(
                db, where: "id IN (SELECT item FROM unconfirmed) AND id IN (\(Self.itemsOfBundle))", [bundle], derived)
            try derived.finish()
            try db.execute(sql: "DELETE FROM replacement WHERE bundle = ?", arguments: [bundle])
            return derived.deletedItems
        }
        applier?.noteDeleted(deleted)
    }

    /// The attributes that decide about an item, without its text.
    private static let keptProjection = RecordProjection(of: ["contentURL"])
    /// The number of items examined in one transaction.
    private static let keptAtOnce = 256

    /// Keeps items that would be deleted at the end of a replacement.
    ///
    /// - Parameter isKept: Returns `true` for the record of an item to keep, which has no
    ///   attributes but `contentURL`. Called on any thread.
    public func keepItems(
        of bundle: String, where isKept: @escaping @Sendable (ItemRecord) -> Bool
    ) async throws(SearchIndexError) {
        var last: Int64? = 0
        while let after = last {
            last = try await write("Keeping items of \(bundle)") { db in
                let rows = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT item.id, plain_record(item.record) AS record
                        FROM unconfirmed CROSS JOIN item ON item.id = unconfirmed.item
                        JOIN bundle ON bundle.id = item.bundle
                        WHERE unconfirmed.item > ? AND bundle.identifier = ? ORDER BY unconfirmed.item
                        LIMIT \(Self.keptAtOnce)
                        """, arguments: [after, bundle])
                let confirm = try db.cachedStatement(sql: "DELETE FROM unconfirmed WHERE item = ?")
                var number: Int64?
                for row in rows {
                    let item: Int64 = try row.decode(forColumn: "id")
                    let record = try row.withUnsafeData(named: "record") { data in
                        try data.map { try Self.keptProjection.record(decoding: $0) }
                    }
                    if let record, isKept(record) { try confirm.execute(arguments: [item]) }
                    number = item
                }
                return rows.count < Self.keptAtOnce ? nil : number
            }
        }
    }

    private static let bundleNumber = "(SELECT id FROM bundle WHERE identifier = ?)"
    private static let itemsOfBundle = "SELECT id FROM item WHERE bundle = \(bundleNumber)"
}
