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
        number = row["id"]
        let index: String = row["index_name"]
        scope = IndexScope(bundle: row["bundle"], index: index.isEmpty ? nil : index)
        donated = row["donated"]
        expires = row["expires"]
        let bytes: Data = row["record"]
        do {
            record = try ItemRecord(decoding: bytes)
        } catch {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "item \(number): \(error)")
        }
    }
}

/// An item that a search found.
public struct SearchHit: Hashable, Sendable {
    /// The item.
    public var item: StoredItem
    /// How well it fits; larger is better, comparable only within one search.
    public var score: Double
}
