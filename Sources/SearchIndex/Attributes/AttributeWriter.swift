// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord

/// Updates the attribute index in the transaction that changes the items.
///
/// Collects new rows and writes them approximately in table order (``flush()``). Adjacent rows are
/// then written together, instead of in random pages of a table that is larger than memory.
final class AttributeWriter {
    private let db: Database
    private let prefix: String
    private var numbers: [AttributeRows.Name: Int64] = [:]
    private var pending: [PendingRow] = []
    private static let maximumPending = 1 << 16

    // Uses OR IGNORE: leftover derived rows must never cause an item to be rejected.
    private lazy var insertRow = Result {
        try WriteStatement(db, sql: "INSERT OR IGNORE INTO \(prefix)attribute (name, value, item) VALUES (?, ?, ?)")
    }
    private lazy var deleteRow = Result {
        try WriteStatement(db, sql: "DELETE FROM \(prefix)attribute WHERE name = ? AND value = ? AND item = ?")
    }

    private struct PendingRow {
        var name: Int64
        /// The approximate sort position in SQLite: the type of the value, then its number or first
        /// bytes.
        var order: (UInt8, UInt64)
        var value: DatabaseValue
        var item: Int64
    }

    /// - Parameter prefix: The prefix of the table name.
    init(_ db: Database, prefix: String = "") {
        self.db = db
        self.prefix = prefix
    }

    /// Adds the rows of a new item.
    func insert(_ record: ItemRecord, item: Int64) throws {
        for (name, values) in AttributeRows(record).values {
            let number = try number(of: name)
            for value in values {
                pending.append(PendingRow(name: number, order: Self.order(of: value), value: value, item: item))
            }
        }
        if pending.count >= Self.maximumPending { try flush() }
    }

    /// Deletes the rows of an item; `record` must equal the inserted record. There must be no
    /// pending rows.
    func remove(_ record: ItemRecord, item: Int64) throws {
        for (name, values) in AttributeRows(record).values {
            let number = try number(of: name)
            for value in values { try run(try deleteRow.get(), number, value, item) }
        }
    }

    /// Replaces the rows of an item with the rows of another record. There must be no pending rows,
    /// before or after.
    func replace(_ record: ItemRecord, with other: ItemRecord, item: Int64) throws {
        let (before, after) = (AttributeRows(record).values, AttributeRows(other).values)
        guard !before.elementsEqual(after, by: { $0 == $1 }) else { return }
        try remove(record, item: item)
        try insert(other, item: item)
        try flush()
    }

    /// Writes the pending rows. Call it before reading the table.
    func flush() throws {
        guard !pending.isEmpty else { return }
        pending.sort { one, other in
            (one.name, one.order.0, one.order.1, one.item) < (other.name, other.order.0, other.order.1, other.item)
        }
        let insert = try insertRow.get()
        for row in pending { try run(insert, row.name, row.value, row.item) }
        pending.removeAll(keepingCapacity: true)
    }

    private func run(_ statement: WriteStatement, _ name: Int64, _ value: DatabaseValue, _ item: Int64) throws {
        statement.bind(name, at: 1)
        statement.bind(value, at: 2)
        statement.bind(item, at: 3)
        try statement.run()
    }

    private static func order(of value: DatabaseValue) -> (UInt8, UInt64) {
        switch value.storage {
        case .null: return (0, 0)
        case .int64(let number): return (1, order(of: Double(number)))
        case .double(let number): return (1, order(of: number))
        case .string(let text):
            var start: UInt64 = 0
            var count = 0
            for byte in text.utf8.prefix(8) {
                start = start << 8 | UInt64(byte)
                count += 1
            }
            return (2, start << UInt64(8 * (8 - count)))
        case .blob: return (3, 0)
        }
    }

    private static func order(of number: Double) -> UInt64 {
        let bits = number.bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    private func number(of name: AttributeRows.Name) throws -> Int64 {
        if let number = numbers[name] { return number }
        let known = try AttributeIndex.number(of: name, db)
        let number: Int64
        if let known {
            number = known
        } else if case .attribute(let name) = name {
            try db.cachedStatement(sql: "INSERT INTO attribute_name (name) VALUES (?)")
                .execute(arguments: [AttributeIndex.storedName(name)])
            number = db.lastInsertedRowID
        } else {
            number = AttributeIndex.searchableByDefault
        }
        numbers[name] = number
        return number
    }
}
