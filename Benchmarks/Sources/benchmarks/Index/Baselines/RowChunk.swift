// SPDX-License-Identifier: Apache-2.0

/// The values of many rows of a table in one buffer, so that inserting them needs no reads, and no
/// copies in SQLite.
struct RowChunk {
    enum Value {
        case null
        case integer(Int64)
        case real(Double)
        case text(start: Int, count: Int)
        case blob(start: Int, count: Int)
    }

    let columnCount: Int
    private var values: [Value] = []
    // Never empty, so that the buffer has an address.
    private var bytes: [UInt8] = [0]

    init(columnCount: Int) { self.columnCount = columnCount }

    var rowCount: Int { values.count / max(1, columnCount) }

    mutating func appendNull() { values.append(.null) }
    mutating func append(_ number: Int64) { values.append(.integer(number)) }
    mutating func append(_ number: Double) { values.append(.real(number)) }
    mutating func append(_ text: String) {
        values.append(.text(start: bytes.count, count: text.utf8.count))
        bytes += text.utf8
    }
    mutating func append(text: UnsafeRawBufferPointer) {
        values.append(.text(start: bytes.count, count: text.count))
        bytes += text
    }
    mutating func append(blob: some Collection<UInt8>) {
        values.append(.blob(start: bytes.count, count: blob.count))
        bytes += blob
    }

    /// Executes a statement once for each row.
    func insert(with statement: SQLiteStatement) throws {
        try forEachRow(boundTo: statement) { try statement.run() }
    }

    /// Calls `body` for each row with the row's values bound. The body must leave the statement
    /// reset.
    func forEachRow(boundTo statement: SQLiteStatement, _ body: () throws -> Void) throws {
        try bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            for first in stride(from: 0, to: values.count, by: max(1, columnCount)) {
                for column in 0..<columnCount {
                    statement.bind(values[first + column], at: Int32(column + 1), in: base)
                }
                try body()
            }
        }
    }
}
