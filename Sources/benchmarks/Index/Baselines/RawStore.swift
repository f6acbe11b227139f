// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import ServiceProtocol

/// The same tables with the same rows as a store's, filled through SQLite's C API: what the bare storing costs.
///
/// The strongest way without leaving out durability: prepared statements, 5,000 items to a transaction, one table after
/// the other within it. Rows are read from the store beforehand, and that is not counted.
struct RawStore {
    private static let itemsPerTransaction = 5_000

    private let store: SQLiteConnection
    private let database: SQLiteConnection
    private let schema: StoreSchema
    private var fillers: [TableFiller] = []

    init(copying storePath: String, to path: String, cacheKiB: Int) throws {
        store = try SQLiteConnection(path: storePath, isReadOnly: true)
        schema = try StoreSchema(of: store)
        database = try SQLiteConnection(path: path)
        try schema.make(in: database, cacheKiB: cacheKiB)
        fillers = try schema.tables.map { try TableFiller($0, from: store, to: database) }
    }

    /// Inserts all rows and gives back the number of items and what the inserting cost.
    func fill() throws -> (items: Int, cost: ProcessCost) {
        let items = try store.prepare("SELECT id, record FROM item ORDER BY id")
        var count = 0
        var cost = ProcessCost()
        var isAtEnd = false
        while !isAtEnd {
            var records: [(id: Int64, text: SearchableText)] = []
            while records.count < Self.itemsPerTransaction {
                guard try items.step() else {
                    isAtEnd = true
                    break
                }
                records.append((items.integer(0), SearchableText(try ItemRecord(decoding: items.bytes(1)))))
            }
            // Rows of no item's own come with the last.
            let last = isAtEnd ? Int64.max : records.last?.id ?? 0
            let chunks = try fillers.map { try $0.chunk(of: records, through: last) }
            cost += try ProcessCost.measure {
                try database.execute("BEGIN")
                for (filler, chunk) in zip(fillers, chunks) { try chunk.insert(with: filler.insert) }
                try database.execute("COMMIT")
            }
            count += records.count
        }
        try checkCounts()
        return (count, cost)
    }

    /// A baseline that leaves something out is none.
    private func checkCounts() throws {
        for table in schema.tables {
            let name = table.isFullText ? table.name + "_docsize" : table.name
            let counts = try [store, database].map { try $0.integer("SELECT count(*) FROM \"\(name)\"") }
            guard counts[0] == counts[1] else {
                throw BenchmarkError("\(name) has \(counts[0]) rows in the store and \(counts[1]) in the baseline.")
            }
        }
    }
}

/// Gets the rows of one table, a range of items at a time.
private final class TableFiller {
    let insert: SQLiteStatement
    private let table: StoreSchema.Table
    private let columns: [String]
    /// The rows by item; the item's number is behind the columns. Of a contentless table there are none to read.
    private let rows: SQLiteStatement?
    private var hasRow = false

    init(_ table: StoreSchema.Table, from store: SQLiteConnection, to database: SQLiteConnection) throws {
        self.table = table
        // Hidden and generated columns are not inserted.
        let columns = try database.texts("SELECT name FROM pragma_table_xinfo('\(table.name)') WHERE hidden = 0")
        self.columns = columns
        let inserted = (table.isFullText ? ["rowid"] : []) + columns
        let list = inserted.map { "\"\($0)\"" }.joined(separator: ", ")
        let marks = inserted.map { _ in "?" }.joined(separator: ", ")
        insert = try database.prepare("INSERT INTO \"\(table.name)\" (\(list)) VALUES (\(marks))")
        guard !table.isFullText else {
            guard table.isContentless else {
                throw BenchmarkError("The full-text table \(table.name) has content; teach RawStore to copy it.")
            }
            rows = nil
            return
        }
        // A row belongs to an item by its number, under one of these names.
        let item = table.name == "item" ? "id" : columns.contains("item") ? "item" : "9223372036854775807"
        rows = try store.prepare("SELECT \(list), \(item) FROM \"\(table.name)\" ORDER BY \(item)")
        hasRow = try rows?.step() ?? false
    }

    func chunk(of items: [(id: Int64, text: SearchableText)], through last: Int64) throws -> RowChunk {
        guard let rows else {
            var chunk = RowChunk(columnCount: columns.count + 1)
            for (id, text) in items {
                chunk.append(id)
                for column in columns {
                    chunk.append(try FullTextColumns.text(of: column, in: text, table: table.name))
                }
            }
            return chunk
        }
        var chunk = RowChunk(columnCount: columns.count)
        while hasRow, rows.integer(Int32(columns.count)) <= last {
            for column in columns.indices { rows.copy(Int32(column), to: &chunk) }
            hasRow = try rows.step()
        }
        return chunk
    }
}
