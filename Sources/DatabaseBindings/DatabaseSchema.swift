// SPDX-License-Identifier: Apache-2.0

/// The tables in a database, with some of their rows.
package struct DatabaseSchema: Hashable, Sendable {
    /// A table or a view.
    package struct Table: Hashable, Sendable {
        package var name: String
        package var columns: [Column]
        /// The number of rows, at most a million.
        package var rows: Int

        package init(name: String, columns: [Column], rows: Int) {
            (self.name, self.columns, self.rows) = (name, columns, rows)
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
