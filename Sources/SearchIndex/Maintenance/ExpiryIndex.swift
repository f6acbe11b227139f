// SPDX-License-Identifier: Apache-2.0
import GRDB

/// An SQL index on items by bundle and expiry, so that the next item of a bundle to expire is found
/// with one lookup.
///
/// Replaces the schema's index on expiry alone. It is a derived index, created when the store is
/// opened; earlier versions of the program work with this index and without the old one.
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
