// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchIndex

/// The baseline for storage alone: a copy of a store's tables and rows, filled through SQLite's C
/// API.
///
/// The fastest method that preserves durability: prepared statements and 5,000 items per
/// transaction, one table after the other. The rows are read from the store in advance, outside the
/// measured time.
struct RawStore {
    private static let itemsPerTransaction = 5_000

    private let store: SQLiteConnection
    private let database: SQLiteConnection
    private let schema: StoreSchema
    private var fillers: [TableFiller] = []

    init(copying storePath: String, to path: String, cacheKiB: Int, merges: Bool = true) throws {
        store = try SQLiteConnection(path: storePath, isReadOnly: true)
        schema = try StoreSchema(of: store)
        database = try SQLiteConnection(path: path)
        try schema.make(in: database, cacheKiB: cacheKiB, merges: merges)
        fillers = try schema.tables.map { try TableFiller($0, from: store, to: database) }
    }

    /// Inserts all rows. Returns the number of items and the cost of the insertions.
    func fill() throws -> (items: Int, cost: ProcessCost) {
        let total = try store.integer("SELECT count(*) FROM item")
        let items = try store.prepare("SELECT id, text_row, bundle, plain_record(record) FROM item ORDER BY id")
        var count = 0
        var cost = ProcessCost()
        while count < total {
            var texts: [IndexedText] = []
            while texts.count < Self.itemsPerTransaction, try items.step() {
                let record = try ItemRecord(decoding: items.bytes(3))
                texts.append(
                    IndexedText(
                        item: items.integer(0), row: items.integer(1),
                        text: SearchableText(record, bundle: items.integer(2))))
            }
            count += texts.count
            let share = Double(count) / Double(total)
            let chunks = try fillers.map { try $0.chunk(of: texts, share: share) }
            cost += try ProcessCost.measure {
                try database.execute("BEGIN")
                for (filler, chunk) in zip(fillers, chunks) { try chunk.insert(with: filler.insert) }
                try database.execute("COMMIT")
            }
        }
        try checkCounts()
        return (count, cost)
    }

    /// Checks that the baseline contains all rows.
    private func checkCounts() throws {
        for table in schema.tables {
            let counts = try [store, database].map { try Self.rowCount(of: table, $0) }
            guard counts[0] == counts[1] else {
                throw BenchmarkError(
                    "\(table.name) has \(counts[0]) rows in the store and \(counts[1]) in the baseline.")
            }
        }
    }

    private static func rowCount(of table: StoreSchema.Table, _ database: SQLiteConnection) throws -> Int {
        guard table.isFullText else { return Int(try database.integer("SELECT count(*) FROM \"\(table.name)\"")) }
        // FTS5 stores the number of rows as a variable-length integer at the start of its first
        // record.
        let statement = try database.prepare("SELECT block FROM \"\(table.name)_data\" WHERE id = 1")
        guard try statement.step() else { return 0 }
        var count = 0
        for byte in statement.bytes(0) {
            count = count << 7 | Int(byte & 0x7F)
            if byte & 0x80 == 0 { break }
        }
        return count
    }
}
