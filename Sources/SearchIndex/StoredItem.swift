// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServiceProtocol

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

    /// The item's title, or its identifier if it has none.
    public var displayTitle: String { record.text("title") ?? record.text("displayName") ?? record.uniqueIdentifier }
    /// The uniform type identifier of its content.
    public var contentType: String? { record.text("contentType") }

    static let columns = """
        item.id, bundle.identifier AS bundle, item.index_name, item.record, item.donated, item.expires
        """

    init(_ row: Row) throws {
        // The subscript of a row traps where a damaged file holds a value of another type; this throws.
        number = try row.decode(Int64.self, forColumn: "id")
        let index = try row.decode(String.self, forColumn: "index_name")
        scope = IndexScope(bundle: try row.decode(String.self, forColumn: "bundle"), index: index.isEmpty ? nil : index)
        donated = try row.decode(Double.self, forColumn: "donated")
        expires = try row.decode(Double?.self, forColumn: "expires")
        let bytes = try row.decode(Data.self, forColumn: "record")
        do {
            record = try ItemRecord(decoding: bytes)
        } catch {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "item \(number): \(error)")
        }
    }
}
