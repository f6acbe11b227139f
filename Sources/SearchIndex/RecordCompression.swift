// SPDX-License-Identifier: Apache-2.0
import CRecordCompression
import GRDB
import GRDBSQLite

/// The form in which the records of items are stored: compressed by zstd with a dictionary of words that records share.
///
/// Two functions of SQL stand between a row and the record, so that nothing else knows of it: `stored_record` where a record is
/// written, `plain_record` where it is read. Records that earlier versions wrote stay as they are until they are donated again;
/// every form is read. Checksums are those of the plain record.
package enum RecordCompression {
    /// What every connection to the store needs.
    static func prepare(_ db: Database) throws {
        guard let connection = db.sqliteConnection else { return }
        let status = register(with: connection)
        guard status == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: status)) }
    }

    /// Makes both functions known to a connection through SQLite's C API, on its thread.
    ///
    /// - Returns: A result code of SQLite.
    package static func register(with connection: OpaquePointer) -> Int32 { crecordcompression_register(connection) }
}
