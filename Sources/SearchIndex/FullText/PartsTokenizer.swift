// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite

/// Takes texts apart at spaces and changes nothing: for tables whose words were made before (``RankedWords``), and their
/// expressions.
enum PartsTokenizer {
    static let name = "searchlight_parts"

    /// Makes the tokenizer known to a connection.
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
