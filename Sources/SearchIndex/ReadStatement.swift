// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite

/// A prepared statement whose rows are read through SQLite's C API. A search reads hundreds of
/// items and lists, and GRDB's row decoding takes longer than SQLite itself.
///
/// Owns no pointer: GRDB's statement owns it and lives as long as this object. Supports one use at
/// a time, even across several objects with the same SQL.
final class ReadStatement {
    private let statement: Statement
    private let pointer: OpaquePointer

    /// - Throws: `DatabaseError` if the SQL is wrong.
    init(_ db: Database, sql: String) throws {
        statement = try db.cachedStatement(sql: sql)
        pointer = statement.sqliteStatement
    }

    /// Calls `body` for each row until it returns `false`.
    ///
    /// - Parameter bind: Binds the values of the statement.
    /// - Throws: `DatabaseError`, and the errors of `body`.
    func forEachRow(_ bind: (ReadStatement) throws -> Void, _ body: (ReadStatement) throws -> Bool) throws {
        sqlite3_reset(pointer)
        defer { sqlite3_reset(pointer) }
        try bind(self)
        while true {
            let status = sqlite3_step(pointer)
            if status == SQLITE_DONE { return }
            guard status == SQLITE_ROW else { throw error(sqlite3_extended_errcode(sqlite3_db_handle(pointer))) }
            guard try body(self) else { return }
        }
    }

    private func error(_ code: CInt) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message: String(cString: sqlite3_errmsg(sqlite3_db_handle(pointer))), sql: statement.sql)
    }

    // MARK: Binding

    func bind(_ value: Int64, at index: CInt) throws { try check(sqlite3_bind_int64(pointer, index, value)) }

    func bind(_ text: String, at index: CInt) throws {
        // SQLITE_TRANSIENT: SQLite copies the bytes, because a Swift string may move.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        var text = text
        try text.withUTF8 { bytes in
            guard let start = bytes.baseAddress, !bytes.isEmpty else {
                return try check(sqlite3_bind_text(pointer, index, "", 0, copied))
            }
            try start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                try check(sqlite3_bind_text(pointer, index, $0, CInt(bytes.count), copied))
            }
        }
    }

    private func check(_ status: CInt) throws { guard status == SQLITE_OK else { throw error(status) } }

    // MARK: Columns

    /// Returns the integer in a column; `nil` for any other value, which a damaged file may
    /// contain.
    func integer(at index: CInt) -> Int64? {
        sqlite3_column_type(pointer, index) == SQLITE_INTEGER ? sqlite3_column_int64(pointer, index) : nil
    }

    func double(at index: CInt) -> Double? {
        sqlite3_column_type(pointer, index) == SQLITE_FLOAT ? sqlite3_column_double(pointer, index) : nil
    }

    func isNull(at index: CInt) -> Bool { sqlite3_column_type(pointer, index) == SQLITE_NULL }

    /// Returns the bytes of a column, valid until the next row.
    func bytes(at index: CInt) -> UnsafeBufferPointer<UInt8>? {
        guard sqlite3_column_type(pointer, index) == SQLITE_BLOB else { return nil }
        let count = Int(sqlite3_column_bytes(pointer, index))
        let bytes = UnsafeRawBufferPointer(start: sqlite3_column_blob(pointer, index), count: count)
        return bytes.bindMemory(to: UInt8.self)
    }
}
