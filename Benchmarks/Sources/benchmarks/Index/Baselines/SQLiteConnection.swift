// SPDX-License-Identifier: Apache-2.0
import GRDBSQLite
import SearchIndex

/// A connection through SQLite's C API for the baselines. Not thread-safe: use from one thread at a
/// time.
final class SQLiteConnection {
    private let handle: OpaquePointer

    init(path: String, isReadOnly: Bool = false) throws {
        var handle: OpaquePointer?
        let flags = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let status = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard status == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw BenchmarkError("\(path) could not be opened: \(String(cString: sqlite3_errstr(status))).")
        }
        self.handle = handle
        // The store's records are compressed, so reading them requires this SQL function.
        guard RecordCompression.register(with: handle) == SQLITE_OK else { throw error("plain_record") }
    }

    // Each statement retains the connection, so no statement exists at this point.
    deinit { sqlite3_close_v2(handle) }

    static var version: String { String(cString: sqlite3_libversion()) }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error(sql) }
    }

    func prepare(_ sql: String) throws -> SQLiteStatement {
        var statement: OpaquePointer?
        let status = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard status == SQLITE_OK, let statement else { throw error(sql) }
        return SQLiteStatement(statement, of: self, sql: sql)
    }

    /// Returns the first column of all rows.
    func texts(_ sql: String) throws -> [String] {
        let statement = try prepare(sql)
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(0)) }
        return texts
    }

    func integer(_ sql: String) throws -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    func error(_ sql: String) -> BenchmarkError {
        BenchmarkError("SQLite refused “\(sql.prefix(200))”: \(String(cString: sqlite3_errmsg(handle))).")
    }
}

/// A prepared statement.
final class SQLiteStatement {
    private let handle: OpaquePointer
    private let connection: SQLiteConnection
    private let sql: String

    fileprivate init(_ handle: OpaquePointer, of connection: SQLiteConnection, sql: String) {
        self.handle = handle
        self.connection = connection
        self.sql = sql
    }

    deinit { sqlite3_finalize(handle) }

    /// Advances to the next row. Returns `false` at the end.
    func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw connection.error(sql)
        }
    }

    /// Executes the statement and resets it for the next values.
    func run() throws {
        guard sqlite3_step(handle) == SQLITE_DONE else { throw connection.error(sql) }
        sqlite3_reset(handle)
    }

    func reset() { sqlite3_reset(handle) }

    /// Binds a value. Its bytes must remain valid until the statement is reset.
    func bind(_ value: RowChunk.Value, at column: Int32, in bytes: UnsafePointer<UInt8>) {
        switch value {
        case .null: sqlite3_bind_null(handle, column)
        case .integer(let number): sqlite3_bind_int64(handle, column, number)
        case .real(let number): sqlite3_bind_double(handle, column, number)
        case .text(let start, let count):
            // No destructor, because the bytes remain valid while they are bound.
            bytes.advanced(by: start).withMemoryRebound(to: CChar.self, capacity: count) {
                _ = sqlite3_bind_text(handle, column, $0, Int32(count), nil)
            }
        case .blob(let start, let count): sqlite3_bind_blob(handle, column, bytes + start, Int32(count), nil)
        }
    }

    /// Binds texts in order and calls `body` for each row. The texts are not copied.
    func forEachRow(_ texts: [String], _ body: () throws -> Void) throws {
        var chunk = RowChunk(columnCount: texts.count)
        for text in texts { chunk.append(text) }
        try chunk.forEachRow(boundTo: self) {
            while try step() { try body() }
            reset()
        }
    }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func text(_ column: Int32) -> String { sqlite3_column_text(handle, column).map { String(cString: $0) } ?? "" }
    func bytes(_ column: Int32) -> [UInt8] { Array(buffer(column)) }

    /// Returns the bytes of a column, valid until the next step.
    private func buffer(_ column: Int32) -> UnsafeRawBufferPointer {
        let pointer = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// Appends a column of the row to a chunk.
    func copy(_ column: Int32, to chunk: inout RowChunk) {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: chunk.append(integer(column))
        case SQLITE_FLOAT: chunk.append(sqlite3_column_double(handle, column))
        case SQLITE_TEXT: chunk.append(text: buffer(column))
        case SQLITE_BLOB: chunk.append(blob: buffer(column))
        default: chunk.appendNull()
        }
    }
}
