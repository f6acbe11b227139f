// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord

/// Writes what is derived from items, in step with them within one transaction. It remembers what many items have in common.
final class DerivedWriter {
    private let db: Database
    private let pace: GentlePace?
    private let attributes: AttributeWriter
    private let cache: FullTextCache
    private lazy var texts = Result {
        let isPrevious = try migration.get() != nil
        return FullTextWriter(db, isPrevious: isPrevious, cache: isPrevious ? FullTextCache() : cache)
    }
    private lazy var migration = Result { try IndexMigration.current(db) }
    private lazy var nextAttributes = AttributeWriter(db, prefix: IndexMigration.next)
    private lazy var nextTexts = FullTextWriter(db, prefix: IndexMigration.next)
    /// How many items were taken out.
    private(set) var deletedItems = 0
    /// Inserts an item itself, see ``ItemWriter``; here, because it serves a whole transaction.
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
    ///   - pace: Asked between items.
    ///   - cache: The memory of the store's writers.
    init(_ db: Database, pace: GentlePace? = nil, cache: FullTextCache = FullTextCache()) {
        (self.db, self.pace, self.cache) = (db, pace, cache)
        attributes = AttributeWriter(db)
    }

    /// The number of the next text of an item, to be kept with it.
    func nextText(of record: ItemRecord, donated: Double) throws -> Int64 {
        try texts.get().nextNumber(for: Freshness.date(of: record, donated: donated))
    }

    /// Puts an item in that is not there.
    func insert(_ record: ItemRecord, bundle: Int64, item: Int64, text: Int64) throws {
        pace?.step()
        try attributes.insert(record, item: item)
        try texts.get().insert(SearchableText(record, bundle: bundle), number: text, item: item)
    }

    /// Takes an item out; `record` and `bundle` are what it was put in with.
    func remove(_ record: ItemRecord, bundle: Int64, item: Int64, text: Int64?) throws {
        deletedItems += 1
        try attributes.flush()
        if let text {
            let words = SearchableText(record, bundle: bundle)
            let migration = try migration.get()
            // What the previous format made of its words, nobody knows any more.
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

    /// Changes an item whose texts stay the same; `record` is what it was put in with. Nothing may be buffered.
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
