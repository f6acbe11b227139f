// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord

/// Reads the items of texts, hundreds per search. Supports one read at a time.
final class TextItemReader {
    /// The item of a text. Its bytes are valid until the next read.
    struct Item {
        var id: Int64
        var bundle: Int64
        var donated: Double
        var expires: Double?
        var record: UnsafeBufferPointer<UInt8>

        /// Returns the features that ranking needs.
        ///
        /// - Throws: `SQLITE_CORRUPT` for bytes that are not a record.
        func features() throws -> RankingFeatures {
            try RankingFeatures(scanning: record, donated: donated) ?? RankingFeatures(decoded(), donated: donated)
        }

        private func decoded() throws -> ItemRecord {
            do {
                return try ItemRecord(decoding: record)
            } catch {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "item \(id): \(error)")
            }
        }
    }

    private let db: Database
    private let statement: ReadStatement
    private var bundles: [Int64: String] = [:]

    /// - Throws: `DatabaseError` if the tables do not exist.
    init(_ db: Database) throws {
        self.db = db
        statement = try ReadStatement(
            db,
            sql: """
                SELECT item.id, item.bundle, item.donated, item.expires, plain_record(item.record)
                FROM text_row CROSS JOIN item ON item.id = text_row.item WHERE text_row.id = ?
                """)
    }

    /// Calls `body` with the item of a text and returns its result; `nil` if the item no longer
    /// exists.
    ///
    /// - Throws: `DatabaseError`; `SQLITE_CORRUPT` for columns of unexpected types.
    ///   `CancellationError` for a cancelled task, because SQLite forgets an interruption between
    ///   two reads.
    func withItem<Result>(ofText text: Int64, _ body: (Item) throws -> Result) throws -> Result? {
        try Task.checkCancellation()
        var result: Result?
        try statement.forEachRow {
            try $0.bind(text, at: 1)
        } _: { row in
            let expires = row.double(at: 3)
            guard let id = row.integer(at: 0), let bundle = row.integer(at: 1), let donated = row.double(at: 2),
                let record = row.bytes(at: 4), expires != nil || row.isNull(at: 3)
            else {
                throw DatabaseError(
                    resultCode: .SQLITE_CORRUPT, message: "the item of text \(text) has columns of other types")
            }
            result = try body(Item(id: id, bundle: bundle, donated: donated, expires: expires, record: record))
            return false
        }
        return result
    }

    /// Returns the identifier of a bundle; `nil` for an unknown number.
    func name(ofBundle number: Int64) throws -> String? {
        if let known = bundles[number] { return known }
        let name = try String.fetchOne(
            db.cachedStatement(sql: "SELECT identifier FROM bundle WHERE id = ?"), arguments: [number])
        bundles[number] = name
        return name
    }
}
