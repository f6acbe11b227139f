// SPDX-License-Identifier: Apache-2.0
import GRDB

/// An index of items by bundle and expiry, so that the next expiring item of a bundle is found with
/// one lookup.
///
/// Replaces an index by expiry alone that the schema creates. It is a derived index, created at the
/// opening; earlier programs work with it and without the other one.
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
