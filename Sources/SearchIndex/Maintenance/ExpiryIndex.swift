// SPDX-License-Identifier: Apache-2.0
import GRDB

/// Finds items by bundle and expiry, so that what expires next of a bundle is one look, however many items others have.
///
/// It stands in the place of an index by expiry alone, which the tables are made with. As something derived it is made at the
/// opening; an earlier program that knows nothing of it works with it there, and without the other.
enum ExpiryIndex {
    private static let name = "item_bundle_expires"

    static let derived = DerivedIndex(
        name: "expiry", format: 1, tables: [],
        schema: """
            DROP INDEX IF EXISTS item_expires;
            DROP INDEX IF EXISTS \(name);
            CREATE INDEX \(name) ON item (bundle, expires) WHERE expires IS NOT NULL;
            """,
        fill: { _ in },
        check: { db in
            let isThere = try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?)",
                arguments: [name])
            return isThere == true ? [] : ["its index is missing"]
        })
}
