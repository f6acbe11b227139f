// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import GRDB

extension SearchIndex {
    /// Returns the bundles that have items or client states, based on the applied donations. If
    /// there are more than `maximum`, returns an arbitrary subset. Blocks.
    public func bundles(upTo maximum: Int) throws(SearchIndexError) -> [String] {
        do {
            return try pool.read { try Self.bundles(in: $0, upTo: maximum) }
        } catch {
            throw failure(error, "Reading the names of bundles")
        }
    }

    /// Returns the bundles that have items or client states in a database.
    static func bundles(in db: Database, upTo maximum: Int = .max) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT identifier FROM bundle
                WHERE EXISTS (SELECT 1 FROM item WHERE bundle = bundle.id)
                    OR EXISTS (SELECT 1 FROM client_state WHERE bundle = bundle.id)
                LIMIT ?
                """, arguments: [maximum])
    }

    /// Deletes all data of a bundle: its items in all indexes, its client states and its name.
    ///
    /// - Returns: The number of items deleted.
    /// - Throws: ``SearchIndexError``. Part of the data may then already be deleted; a second call
    ///   deletes the rest.
    @discardableResult
    public func forget(bundle: String) async throws(SearchIndexError) -> Int {
        let (count, indexes) = try await read("Reading the account of \(bundle)") { db in
            let number = try Int64.fetchOne(
                db, sql: "SELECT id FROM bundle WHERE identifier = ?", arguments: [bundle])
            let indexes = try String.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT index_name FROM item WHERE bundle = ?1
                    UNION SELECT index_name FROM client_state WHERE bundle = ?1
                    """, arguments: [number])
            let count = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM item WHERE bundle = ?", arguments: [number])
            return (count ?? 0, indexes)
        }
        for index in indexes { try await deleteAll(in: IndexScope(bundle: bundle, index: index.isEmpty ? nil : index)) }
        try await write("Deleting the name of \(bundle)") { db in
            try db.execute(sql: "DELETE FROM replacement WHERE bundle = ?", arguments: [bundle])
            try db.execute(
                sql: """
                    DELETE FROM bundle WHERE identifier = ?
                        AND NOT EXISTS (SELECT 1 FROM item WHERE bundle = bundle.id)
                        AND NOT EXISTS (SELECT 1 FROM client_state WHERE bundle = bundle.id)
                    """, arguments: [bundle])
        }
        return count
    }
}
