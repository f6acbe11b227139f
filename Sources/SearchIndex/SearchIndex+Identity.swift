// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord

extension SearchIndex {
    /// Returns the random identifier of the store, and the last number that an item ever had.
    package func identity() async throws(SearchIndexError) -> (store: [UInt8], lastItem: Int64) {
        try await read("Reading the identifier of the store") { db in
            let last = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'item'")
            return (try StoreRow(db).identifier.bytes, last ?? 0)
        }
    }

    /// Returns the number of items of a bundle up to an item number, and the number of all its
    /// items.
    package func itemCounts(
        of bundle: String, through number: Int64
    ) async throws(SearchIndexError) -> (old: Int, all: Int) {
        try await read("Counting the items of \(bundle)") { db in
            let items = "SELECT count(*) FROM item WHERE bundle = (SELECT id FROM bundle WHERE identifier = ?)"
            let all = try Int.fetchOne(db, sql: items, arguments: [bundle])
            let old = try Int.fetchOne(db, sql: items + " AND id <= ?", arguments: [bundle, number])
            return (old ?? 0, all ?? 0)
        }
    }

    /// Returns the indexes that have items or a client state.
    package func scopes() async throws(SearchIndexError) -> [IndexScope] {
        try await read("Listing the indexes") { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT bundle.identifier, used.index_name
                    FROM (SELECT bundle, index_name FROM item UNION SELECT bundle, index_name FROM client_state) AS used
                    JOIN bundle ON bundle.id = used.bundle
                    """)
            return try rows.map { row in
                let name: String = try row.decode(atIndex: 1)
                return IndexScope(bundle: try row.decode(atIndex: 0), index: name.isEmpty ? nil : name)
            }
        }
    }

    /// Returns the number of items in an index, expired ones included.
    package func itemCount(of scope: IndexScope) async throws(SearchIndexError) -> Int {
        try await read("Counting the items of \(scope.bundle)") { db in
            try Int.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM item
                    WHERE bundle = (SELECT id FROM bundle WHERE identifier = ?) AND index_name = ?
                    """, arguments: [scope.bundle, scope.index ?? ""]) ?? 0
        }
    }
}
