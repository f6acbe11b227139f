// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord

/// Writes what is derived from items, in step with them within one transaction. It remembers what many items have in common.
final class DerivedWriter {
    private let db: Database
    private let pace: GentlePace?
    private let attributes: AttributeWriter
    private let texts: FullTextWriter
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
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
    }

    /// - Parameter pace: Asked between items.
    init(_ db: Database, pace: GentlePace? = nil) {
        (self.db, self.pace) = (db, pace)
        attributes = AttributeWriter(db)
        texts = FullTextWriter(db)
    }

    /// The number of the next text, to be kept with its item.
    func nextText() throws -> Int64 { try texts.nextNumber() }

    /// Puts an item in that is not there.
    func insert(_ record: ItemRecord, bundle: Int64, item: Int64, text: Int64) throws {
        pace?.step()
        try attributes.insert(record, item: item)
        try texts.insert(SearchableText(record, bundle: bundle), number: text, item: item)
    }

    /// Takes an item out; `record` and `bundle` are what it was put in with.
    func remove(_ record: ItemRecord, bundle: Int64, item: Int64, text: Int64?) throws {
        deletedItems += 1
        try attributes.flush()
        if let text {
            let words = SearchableText(record, bundle: bundle)
            let migration = try migration.get()
            // What the previous format made of its words, nobody knows any more.
            if text <= migration?.last ?? 0 { try texts.forget(text) } else { try texts.remove(words, number: text) }
            if text <= migration?.through ?? 0 {
                try nextTexts.remove(words, number: text)
                try nextAttributes.remove(record, item: item)
            }
        }
        try attributes.remove(record, item: item)
    }

    /// Writes what was held back; to be called before the tables are read, and at the end.
    func flush() throws { try attributes.flush() }
}
