// SPDX-License-Identifier: Apache-2.0
import CRecordCompression
import GRDB
import GRDBSQLite

/// The storage format of records: compressed by zstd with a dictionary of words that records share.
///
/// Two SQL functions convert between the stored and the plain record: `stored_record` on writing,
/// `plain_record` on reading. No other code depends on the format. Records of earlier versions
/// remain unchanged until they are donated again; all formats are read. Checksums cover the
/// uncompressed record.
package enum RecordCompression {
    /// Registers the functions that every connection to the store needs.
    static func prepare(_ db: Database) throws {
        guard let connection = db.sqliteConnection else { return }
        let status = register(with: connection)
        guard status == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: status)) }
    }

    /// Registers both functions with a connection through SQLite's C API, on its thread.
    ///
    /// - Returns: An SQLite result code.
    package static func register(with connection: OpaquePointer) -> Int32 { crecordcompression_register(connection) }
}
