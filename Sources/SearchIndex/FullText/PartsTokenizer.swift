// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite

/// Takes texts apart at spaces and changes nothing: for tables whose words were made before (``RankedWords``), and their
/// expressions.
enum PartsTokenizer {
    static let name = "searchlight_parts"

    /// Makes the tokenizer known to a connection.
    static func register(_ db: Database) throws {
        // It has no state; FTS5 wants something that is not null.
        var functions = fts5_tokenizer(
            xCreate: { _, _, _, handle in
                handle?.pointee = OpaquePointer(bitPattern: 1)
                return SQLITE_OK
            }, xDelete: { _ in },
            xTokenize: { _, context, _, text, count, callback in
                guard let text, let callback, count > 0 else { return SQLITE_OK }
                let bytes = UnsafeBufferPointer(start: text, count: Int(count))
                for part in bytes.split(separator: CChar(0x20)) {
                    let status = UnsafeBufferPointer(rebasing: part).withMemoryRebound(to: CChar.self) {
                        callback(context, 0, $0.baseAddress, CInt($0.count), CInt(part.startIndex), CInt(part.endIndex))
                    }
                    guard status == SQLITE_OK else { return status }
                }
                return SQLITE_OK
            })
        let api = FTS5.api(db)
        let status = api.pointee.xCreateTokenizer(UnsafeMutablePointer(mutating: api), name, nil, &functions, nil)
        guard status == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: status)) }
    }
}
