// SPDX-License-Identifier: Apache-2.0
import GRDBSQLite

extension SearchIndex {
    /// The version of the SQLite library of this process.
    public static var sqliteVersion: String { String(cString: sqlite3_libversion()) }
}
