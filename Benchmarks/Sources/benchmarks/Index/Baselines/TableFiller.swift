// SPDX-License-Identifier: Apache-2.0

/// Copies the rows of one table from a store, for a few items at a time.
final class TableFiller {
    let insert: SQLiteStatement
    private let source: Source
    private let columnCount: Int

    private enum Source {
        /// Rows sorted by item number, which is the column after the copied columns.
        case byItem(Rows)
        /// Rows that belong to no item. Each transaction copies the same share of these rows as of
        /// the items.
        case shared(Rows, total: Int64)
        /// The values that a full-text table indexed for each item.
        case texts(FullTextColumns)
    }

    init(_ table: StoreSchema.Table, from store: SQLiteConnection, to database: SQLiteConnection) throws {
        // Hidden and generated columns cannot be inserted.
        let columns = try database.texts("SELECT name FROM pragma_table_xinfo('\(table.name)') WHERE hidden = 0")
        let inserted = (table.isFullText ? ["rowid"] : []) + columns
        let list = inserted.map { "\"\($0)\"" }.joined(separator: ", ")
        let marks = inserted.map { _ in "?" }.joined(separator: ", ")
        insert = try database.prepare("INSERT INTO \"\(table.name)\" (\(list)) VALUES (\(marks))")
        columnCount = inserted.count
        if let texts = try FullTextColumns(of: table, columns: columns) {
            source = .texts(texts)
        } else if table.name == "item" || columns.contains("item") {
            let item = table.name == "item" ? "id" : "item"
            source = .byItem(
                try Rows(store, "SELECT \(list), \(item) FROM \"\(table.name)\" ORDER BY \(item)", inserted.count))
        } else {
            let select = FullTextColumns.copiedRows[table.name] ?? "SELECT \(list) FROM \"\(table.name)\""
            let total = try store.integer("SELECT count(*) FROM (\(select))")
            source = .shared(try Rows(store, select, inserted.count), total: total)
        }
    }

    /// Returns the rows for the next items. `share` is the share of all items up to and including
    /// these.
    func chunk(of items: [IndexedText], share: Double) throws -> RowChunk {
        var chunk = RowChunk(columnCount: columnCount)
        switch source {
        case .byItem(let rows):
            let last = share < 1 ? items.last?.item ?? 0 : .max
            while rows.hasRow, rows.itemNumber <= last { try rows.move(to: &chunk) }
        case .shared(let rows, let total):
            while rows.hasRow, Double(rows.moved) < (share * Double(total)).rounded(.up) { try rows.move(to: &chunk) }
        case .texts(let texts):
            for item in items { texts.append(item, to: &chunk) }
        }
        return chunk
    }

    /// The rows of a query, in order.
    private final class Rows {
        private let statement: SQLiteStatement
        private let columnCount: Int32
        private(set) var hasRow: Bool
        private(set) var moved = 0

        init(_ store: SQLiteConnection, _ sql: String, _ columnCount: Int) throws {
            statement = try store.prepare(sql)
            self.columnCount = Int32(columnCount)
            hasRow = try statement.step()
        }

        var itemNumber: Int64 { statement.integer(columnCount) }

        func move(to chunk: inout RowChunk) throws {
            for column in 0..<columnCount { statement.copy(column, to: &chunk) }
            moved += 1
            hasRow = try statement.step()
        }
    }
}
