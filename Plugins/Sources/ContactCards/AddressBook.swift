// SPDX-License-Identifier: Apache-2.0
import CLibSQLite
import FileReading
import Glibc

extension SkipReason {
    fileprivate static let notAddressBook = SkipReason.unusable("not an address book of Evolution, or damaged")
}

/// An address book database from Evolution or GNOME Contacts. Each table with the columns `uid` and
/// `vcard` contains cards.
///
/// Owns the connection to an in-memory copy of the database. Not thread-safe.
final class AddressBook {
    struct Row {
        var identifier: String
        var vCard: [UInt8]
    }

    private let connection: OpaquePointer
    /// The number of SQLite virtual machine steps after which a damaged database is treated as
    /// unreadable.
    private static let maximumSteps = 200_000_000

    init(_ file: CardFile) throws(SkipReason) {
        let image = try DatabaseImage(of: file.file, path: file.path).bytes
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(":memory:", &opened, flags, nil) == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw .system(errno: ENOMEM)
        }
        connection = opened
        guard let copy = sqlite3_malloc64(sqlite3_uint64(max(1, image.count))) else { throw .system(errno: ENOMEM) }
        image.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { copy.copyMemory(from: base, byteCount: bytes.count) }
        }
        // SQLite frees the copy, even after an error.
        let size = sqlite3_int64(image.count)
        let mode = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY)
        let bytes = copy.assumingMemoryBound(to: UInt8.self)
        guard sqlite3_deserialize(opened, "main", bytes, size, size, mode) == SQLITE_OK else { throw .notAddressBook }
        // Another program's schema must not execute anything.
        searchlight_sqlite_distrust(opened)
        sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, Int32(Card.Limits.size))
        sqlite3_progress_handler(opened, Int32(Self.maximumSteps), { _ in 1 }, nil)
    }

    deinit { sqlite3_close_v2(connection) }

    /// Returns the cards in all tables, sorted by identifier.
    func cards(limit: Int) throws(SkipReason) -> [Row] {
        var rows: [Row] = []
        // In a damaged database, many cells can share pages, so that its cards together are much
        // larger than the file.
        var isSound = false
        try query("PRAGMA quick_check(1)") { statement in isSound = Self.text(statement, 0) == "ok" }
        guard isSound else { throw .notAddressBook }
        let tables = """
            SELECT m.name FROM sqlite_schema m WHERE m.type = 'table'
            AND (SELECT count(*) FROM pragma_table_info(m.name) WHERE name IN ('uid', 'vcard')) = 2
            ORDER BY m.name LIMIT 100
            """
        var names: [String] = []
        try query(tables) { statement in names.append(Self.text(statement, 0)) }
        guard !names.isEmpty else { throw .notAddressBook }
        for name in names {
            let quoted = "\"" + name.replacing("\"", with: "\"\"") + "\""
            let sql =
                "SELECT uid, vcard FROM \(quoted) WHERE vcard IS NOT NULL ORDER BY uid LIMIT \(limit - rows.count)"
            try query(sql) { statement in
                rows.append(Row(identifier: Self.text(statement, 0), vCard: Self.bytes(statement, 1)))
            }
        }
        return rows
    }

    private func query(_ sql: String, _ body: (OpaquePointer) -> Void) throws(SkipReason) {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw .notAddressBook
        }
        defer { sqlite3_finalize(statement) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: body(statement)
            case SQLITE_DONE: return
            default: throw .notAddressBook
            }
        }
    }

    private static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        String(decoding: bytes(statement, column), as: UTF8.self)
    }

    private static func bytes(_ statement: OpaquePointer, _ column: Int32) -> [UInt8] {
        guard let text = sqlite3_column_text(statement, column) else { return [] }
        return Array(UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
    }
}
