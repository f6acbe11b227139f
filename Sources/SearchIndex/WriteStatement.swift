// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite

/// A prepared statement without result rows that is executed for each row of a bulk, bound through
/// SQLite's C API. GRDB's binding costs as much as a small insert; it took a quarter of the
/// indexing time.
///
/// Owns no pointer: GRDB's statement owns it and lives as long as this object.
final class WriteStatement {
    private let statement: Statement
    private let pointer: OpaquePointer
    /// The first binding that failed since the last run, because memory was exhausted. SQLite would
    /// use NULL for the value.
    private var bindingStatus = SQLITE_OK

    /// - Throws: `DatabaseError` if the SQL is wrong.
    init(_ db: Database, sql: String) throws {
        statement = try db.makeStatement(sql: sql)
        pointer = statement.sqliteStatement
    }

    /// SQLITE_TRANSIENT: SQLite copies the bytes, because Swift strings and arrays may move.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private func note(_ status: CInt) { if bindingStatus == SQLITE_OK { bindingStatus = status } }

    func bind(_ value: Int64, at index: Int32) { note(sqlite3_bind_int64(pointer, index, value)) }

    func bind(_ value: Double?, at index: Int32) {
        note(value.map { sqlite3_bind_double(pointer, index, $0) } ?? sqlite3_bind_null(pointer, index))
    }

    func bind(_ text: String?, at index: Int32) {
        guard var text else {
            return note(sqlite3_bind_null(pointer, index))
        }
        if text.isEmpty {
            // An empty buffer may have no address, which SQLite would treat as NULL.
            return note(sqlite3_bind_text(pointer, index, "", 0, Self.copied))
        }
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                note(sqlite3_bind_text(pointer, index, $0.baseAddress, Int32($0.count), Self.copied))
            }
        }
    }

    func bind(_ bytes: [UInt8], at index: Int32) {
        if bytes.isEmpty {
            note(sqlite3_bind_zeroblob(pointer, index, 0))
        } else {
            bytes.withUnsafeBytes {
                note(sqlite3_bind_blob(pointer, index, $0.baseAddress, Int32($0.count), Self.copied))
            }
        }
    }

    func bind(_ value: DatabaseValue, at index: Int32) {
        switch value.storage {
        case .null: note(sqlite3_bind_null(pointer, index))
        case .int64(let number): bind(number, at: index)
        case .double(let number): bind(number, at: index)
        case .string(let text): bind(text, at: index)
        case .blob(let data): bind(Array(data), at: index)
        }
    }

    /// Executes the statement with the bound values.
    ///
    /// - Throws: `DatabaseError`.
    func run() throws {
        let bound = bindingStatus
        bindingStatus = SQLITE_OK
        guard bound == SQLITE_OK else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: bound), message: "a value could not be bound", sql: statement.sql)
        }
        let status = sqlite3_step(pointer)
        guard status == SQLITE_DONE || status == SQLITE_ROW else {
            let database = sqlite3_db_handle(pointer)
            let error = DatabaseError(
                resultCode: ResultCode(rawValue: sqlite3_extended_errcode(database)),
                message: String(cString: sqlite3_errmsg(database)), sql: statement.sql)
            sqlite3_reset(pointer)
            throw error
        }
        sqlite3_reset(pointer)
    }
}
