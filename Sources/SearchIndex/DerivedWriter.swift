// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord

/// Writes the tables derived from items in the transaction that changes the items. Caches values
/// that many items share.
final class DerivedWriter {
    private let db: Database
    private let pace: CooperativeThrottle?
    private let attributes: AttributeWriter
    private let cache: FullTextCache
    /// See ``StoreHooks/relatesWithinIndexes``.
    let relatesWithinIndexes: Bool
    private lazy var texts = Result {
        let isPrevious = try migration.get() != nil
        return FullTextWriter(db, isPrevious: isPrevious, cache: isPrevious ? FullTextCache() : cache)
    }
    private lazy var migration = Result { try IndexMigration.current(db) }
    private lazy var nextAttributes = AttributeWriter(db, prefix: IndexMigration.next)
    private lazy var nextTexts = FullTextWriter(db, prefix: IndexMigration.next)
    /// The number of items removed.
    private(set) var deletedItems = 0
    /// Inserts the item row; see ``ItemWriter``. Kept here because the statement is reused
    /// throughout a transaction.
    private(set) lazy var insertItem = Result {
        try WriteStatement(
            db,
            sql: """
                INSERT INTO item (text_row, domain, expires, donated, record, bundle, index_name, unique_identifier,
                    checksum)
                VALUES (?, ?, ?, ?, stored_record(?), ?, ?, ?, ?)
                """)
    }

    /// - Parameters:
    ///   - pace: Throttles the work between items.
    ///   - cache: The cache shared by all writers of the store.
    ///   - relatesWithinIndexes: See ``StoreHooks/relatesWithinIndexes``.
    init(
        _ db: Database, pace: CooperativeThrottle? = nil, cache: FullTextCache = FullTextCache(),
        relatesWithinIndexes: Bool = false
    ) {
        self.relatesWithinIndexes = relatesWithinIndexes
        (self.db, self.pace, self.cache) = (db, pace, cache)
        attributes = AttributeWriter(db)
    }

    /// Returns the number of an item's next text, which is stored with the item.
    func nextText(of record: ItemRecord, donated: Double) throws -> Int64 {
        try texts.get().nextNumber(for: Freshness.date(of: record, donated: donated))
    }

    /// Adds the derived rows of a new item.
    func insert(_ record: ItemRecord, bundle: Int64, item: Int64, text: Int64) throws {
        pace?.step()
        try attributes.insert(record, item: item)
        try texts.get().insert(SearchableText(record, bundle: bundle), number: text, item: item)
    }

    /// Removes the derived rows of an item; `record` and `bundle` must be the same as when it was
    /// inserted.
    func remove(_ record: ItemRecord, bundle: Int64, item: Int64, text: Int64?) throws {
        deletedItems += 1
        try attributes.flush()
        if let text {
            let words = SearchableText(record, bundle: bundle)
            let migration = try migration.get()
            // The words that the previous format derived from the record cannot be recomputed.
            if text <= migration?.last ?? 0 {
                try texts.get().forget(text)
            } else {
                try texts.get().remove(words, number: text)
            }
            if text <= migration?.through ?? 0 {
                try nextTexts.remove(words, number: text)
                try nextAttributes.remove(record, item: item)
            }
        }
        try attributes.remove(record, item: item)
    }

    /// Updates the attributes of an item whose text stays the same; `record` must be the same as
    /// when it was inserted. Nothing may be buffered.
    func replace(_ record: ItemRecord, with other: ItemRecord, item: Int64, text: Int64?) throws {
        pace?.step()
        try attributes.replace(record, with: other, item: item)
        if let text, try text <= migration.get()?.through ?? 0 {
            try nextAttributes.replace(record, with: other, item: item)
        }
    }

    /// Writes the buffered attributes. Call it before reading them.
    func flush() throws { try attributes.flush() }

    /// Writes everything that is buffered. Call it at the end.
    func finish() throws {
        try attributes.flush()
        try texts.get().finish()
        if try migration.get() != nil { try nextTexts.finish() }
    }
}
