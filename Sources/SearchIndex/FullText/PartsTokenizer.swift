// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite

/// Splits texts at spaces without changing them. Used for tables of prepared words
/// (``RankedWords``) and their expressions.
enum PartsTokenizer {
    static let name = "searchlight_parts"

    /// Registers the tokenizer with a connection.
    static func register(_ db: Database) throws {
        try FTS5.register(name, db) {
            _, context, _, text, count, callback in
            guard let text, let callback, count > 0 else { return SQLITE_OK }
            let bytes = UnsafeBufferPointer(start: text, count: Int(count))
            var end = 0
            while end < bytes.count {
                let start = end
                while end < bytes.count, bytes[end] != 0x20 { end += 1 }
                if end > start {
                    let status = callback(context, 0, text + start, CInt(end - start), CInt(start), CInt(end))
                    guard status == SQLITE_OK else { return status }
                }
                end += 1
            }
            return SQLITE_OK
        }
    }
}
