// SPDX-License-Identifier: Apache-2.0
import GRDBSQLite

extension SearchIndex {
    /// The version of the SQLite that this process runs with.
    public static var sqliteVersion: String { String(cString: sqlite3_libversion()) }
}
