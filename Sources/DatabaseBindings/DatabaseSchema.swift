// SPDX-License-Identifier: Apache-2.0

/// The tables in a database, with some of their rows.
package struct DatabaseSchema: Hashable, Sendable {
    /// A table or a view.
    package struct Table: Hashable, Sendable {
        package var name: String
        package var columns: [Column]
        /// The number of rows, at most a million.
        package var rows: Int
        /// The column that is the whole declared primary key.
        package var primaryKey: String?
        /// `true` if the rows have a `rowid`: not in views and tables `WITHOUT ROWID`.
        package var hasRowNumbers: Bool

        package init(
            name: String, columns: [Column], rows: Int, primaryKey: String? = nil, hasRowNumbers: Bool = true
        ) {
            (self.name, self.columns, self.rows) = (name, columns, rows)
            (self.primaryKey, self.hasRowNumbers) = (primaryKey, hasRowNumbers)
        }
    }
    package struct Column: Hashable, Sendable {
        package var name: String
        /// The values of some rows.
        package var samples: [RowValue]

        package init(name: String, samples: [RowValue]) { (self.name, self.samples) = (name, samples) }
    }
    package var tables: [Table]

    package init(tables: [Table]) { self.tables = tables }
}
