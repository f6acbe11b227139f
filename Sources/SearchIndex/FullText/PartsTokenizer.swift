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
            for part in bytes.split(separator: CChar(0x20)) {
                let status = UnsafeBufferPointer(rebasing: part).withMemoryRebound(to: CChar.self) {
                    callback(context, 0, $0.baseAddress, CInt($0.count), CInt(part.startIndex), CInt(part.endIndex))
                }
                guard status == SQLITE_OK else { return status }
            }
            return SQLITE_OK
        }
    }
}
