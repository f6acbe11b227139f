// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord

/// An item in the store.
public struct StoredItem: Hashable, Sendable {
    /// The item's number in this store; never reused.
    public var number: Int64
    /// The bundle and index of the item.
    public var scope: IndexScope
    /// The donated record.
    public var record: ItemRecord
    /// The time of the donation, in seconds since 2001-01-01 UTC.
    public var donated: Double
    /// The expiry time, in seconds since 2001-01-01 UTC; `nil` for never.
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
    /// The uniform type identifier of the item's content.
    public var contentType: String? { record.text("contentType") }

    /// The columns to select for an item from `item` joined with `bundle`.
    static let columns = """
        item.id, bundle.identifier AS bundle_name, item.index_name, item.unique_identifier, \
        plain_record(item.record) AS record, item.donated, item.expires, item.checksum
        """

    /// Decodes a row.
    ///
    /// - Throws: `SQLITE_CORRUPT` or `RowDecodingError` if the row is damaged.
    init(_ row: Row) throws {
        let row = try ItemRow(row)
        number = row.id
        scope = IndexScope(bundle: row.bundle, index: row.index.isEmpty ? nil : row.index)
        donated = row.donated
        expires = row.expires
        record = row.record
    }
}
