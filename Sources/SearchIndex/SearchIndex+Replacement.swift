// SPDX-License-Identifier: Apache-2.0
import GRDB

extension SearchIndex {
    /// Begins the replacement of all items of a bundle. Until ``finishReplacement(of:keeping:)``, ``replaceAll(in:)`` takes
    /// the place of ``deleteAll(in:)``.
    ///
    /// - Throws: ``SearchIndexError``.
    public func beginReplacement(of bundle: String) async throws(SearchIndexError) {
        try await write("Beginning a reindex of \(bundle)") { db in
            try db.execute(sql: "DELETE FROM unconfirmed WHERE item IN (\(Self.itemsOfBundle))", arguments: [bundle])
        }
    }

    /// Deletes everything in one index of a bundle, but not yet: what is donated again before the replacement is
    /// finished stays, with its number, and until then everything can be found. So a reindex that begins by deleting all
    /// leaves no gap, and one that fails leaves what was there.
    ///
    /// The client state is deleted at once, as ``deleteAll(in:)`` does: who goes by it would otherwise take the items for
    /// donated, and not donate them again.
    ///
    /// - Throws: ``SearchIndexError``.
    public func replaceAll(in scope: IndexScope) async throws(SearchIndexError) {
        try await write("Replacing all items of \(scope.bundle)") { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO unconfirmed \(Self.itemsOfBundle) AND index_name = ?",
                arguments: [scope.bundle, scope.index ?? ""])
            try db.execute(
                sql: "DELETE FROM client_state WHERE bundle = \(Self.bundleNumber) AND index_name = ?",
                arguments: [scope.bundle, scope.index ?? ""])
        }
        applier?.journal.queue.withLock { $0.forgetState(of: scope) }
    }

    /// Finishes the replacement: deletes what was to be deleted and has not been donated again.
    ///
    /// - Parameter kept: Items that stay in any case, by identifier, for each index (`nil` is the default one).
    /// - Throws: ``SearchIndexError``.
    public func finishReplacement(
        of bundle: String, keeping kept: [String?: Set<String>] = [:]
    ) async throws(SearchIndexError) {
        _ = try await write("Finishing a reindex of \(bundle)") { db in
            let confirm = try db.makeStatement(
                sql: """
                    DELETE FROM unconfirmed WHERE item = (
                        SELECT id FROM item
                        WHERE unique_identifier = ? AND bundle = \(Self.bundleNumber) AND index_name = ?)
                    """)
            for (index, identifiers) in kept {
                for identifier in identifiers where Self.canBeStored(identifier) {
                    try confirm.execute(arguments: [identifier, bundle, index ?? ""])
                }
            }
            try ItemWriter.delete(
                db, where: "id IN (SELECT item FROM unconfirmed) AND id IN (\(Self.itemsOfBundle))", [bundle],
                DerivedWriter(db))
        }
    }

    private static let bundleNumber = "(SELECT id FROM bundle WHERE identifier = ?)"
    private static let itemsOfBundle = "SELECT id FROM item WHERE bundle = \(bundleNumber)"
}
