// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord

/// An item as it is in the store.
public struct StoredItem: Hashable, Sendable {
    /// The item's number in this store; given once, never again.
    public var number: Int64
    /// Whose it is.
    public var scope: IndexScope
    /// What was donated.
    public var record: ItemRecord
    /// When it was donated, in seconds since 2001-01-01 UTC.
    public var donated: Double
    /// When it expires, likewise; `nil` never.
    public var expires: Double?

    /// Creates an item from its parts.
    public init(number: Int64, scope: IndexScope, record: ItemRecord, donated: Double, expires: Double?) {
        self.number = number
        self.scope = scope
        self.record = record
        self.donated = donated
        self.expires = expires
    }

    /// The item's title, or its identifier if it has none.
    public var displayTitle: String { record.text("title") ?? record.text("displayName") ?? record.uniqueIdentifier }
    /// The uniform type identifier of its content.
    public var contentType: String? { record.text("contentType") }

    /// What to select from `item`, joined with `bundle`, for one.
    static let columns = """
        item.id, bundle.identifier AS bundle_name, item.index_name, item.unique_identifier, \
        plain_record(item.record) AS record, item.donated, item.expires, item.checksum
        """

    /// Reads a row.
    ///
    /// - Throws: `SQLITE_CORRUPT` or `RowDecodingError` if it is damaged.
    init(_ row: Row) throws {
        let row = try ItemRow(row)
        number = row.id
        scope = IndexScope(bundle: row.bundle, index: row.index.isEmpty ? nil : row.index)
        donated = row.donated
        expires = row.expires
        record = row.record
    }
}
