// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ServiceProtocol

extension SearchIndex {
    /// Adds items, or replaces those with the same identifier; items marked as updates are merged into what is there,
    /// and ignored if nothing is (Apple's documentation since 2026). All or none.
    ///
    /// Returns once they are durable.
    /// - Throws: ``SearchIndexError``.
    public func index(_ items: [EncodedItem], in scope: IndexScope) async throws(SearchIndexError) {
        let now = now()
        try await write("Storing \(items.count) items") { db in
            let writer = try ItemWriter(db, scope, now: now)
            for item in items { try writer.put(item) }
        }
    }

    /// Deletes items by identifier; unknown ones are no error.
    ///
    /// - Throws: ``SearchIndexError``.
    public func delete(identifiers: [String], in scope: IndexScope) async throws(SearchIndexError) {
        let now = now()
        try await write("Deleting \(identifiers.count) items") { db in
            let writer = try ItemWriter(db, scope, now: now)
            for identifier in identifiers where Self.canBeStored(identifier) {
                try writer.delete("unique_identifier = ?", [identifier])
            }
        }
    }

    /// Deletes domains and everything below them: `a` takes `a.b` along, not `ab`.
    ///
    /// - Throws: ``SearchIndexError``.
    public func delete(domains: [String], in scope: IndexScope) async throws(SearchIndexError) {
        let now = now()
        try await write("Deleting \(domains.count) domains") { db in
            let writer = try ItemWriter(db, scope, now: now)
            for domain in domains where Self.canBeStored(domain) {
                // All names that begin with "a." lie between "a." and "a/", the next character after the dot.
                try writer.delete(
                    "(domain = ? OR (domain >= ? AND domain < ?))", [domain, domain + ".", domain + "/"])
            }
        }
    }

    /// Deletes everything in one index of a bundle.
    ///
    /// - Throws: ``SearchIndexError``.
    public func deleteAll(in scope: IndexScope) async throws(SearchIndexError) {
        let now = now()
        try await write("Deleting all items of \(scope.bundle)") { db in
            try ItemWriter(db, scope, now: now).delete("1", [])
        }
    }

    /// Begins the replacement of all items of a bundle. Until ``finishReplacement(of:)``, ``replaceAll(in:)`` takes the
    /// place of ``deleteAll(in:)``.
    ///
    /// - Throws: ``SearchIndexError``.
    public func beginReplacement(of bundle: String) async throws(SearchIndexError) {
        try await write("Beginning a reindex of \(bundle)") { db in
            try db.execute(sql: "DELETE FROM unconfirmed WHERE item IN (\(Self.itemsOfBundle))", arguments: [bundle])
        }
    }

    /// Deletes everything in one index of a bundle, but not yet: what is donated again before the replacement is
    /// finished stays, with its number, and until then everything can be found. So a reindex that begins by deleting all
    /// leaves no gap, and one that fails leaves what was there.
    ///
    /// - Throws: ``SearchIndexError``.
    public func replaceAll(in scope: IndexScope) async throws(SearchIndexError) {
        try await write("Replacing all items of \(scope.bundle)") { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO unconfirmed \(Self.itemsOfBundle) AND index_name = ?",
                arguments: [scope.bundle, scope.index ?? ""])
        }
    }

    /// Finishes the replacement: deletes what was to be deleted and has not been donated again.
    ///
    /// - Throws: ``SearchIndexError``.
    public func finishReplacement(of bundle: String) async throws(SearchIndexError) {
        _ = try await write("Finishing a reindex of \(bundle)") { db in
            try ItemWriter.delete(
                db, where: "id IN (SELECT item FROM unconfirmed) AND id IN (\(Self.itemsOfBundle))", [bundle])
        }
    }

    private static let itemsOfBundle = """
        SELECT id FROM item WHERE bundle = (SELECT id FROM bundle WHERE identifier = ?)
        """

    /// Deletes what has expired and gives back how many items that were.
    ///
    /// - Throws: ``SearchIndexError``.
    @discardableResult
    public func deleteExpired() async throws(SearchIndexError) -> Int {
        let now = now()
        return try await write("Deleting expired items") { db in
            try ItemWriter.delete(db, where: "expires <= ?", [now])
        }
    }
}

extension SearchIndex {
    /// Whether a name can be kept. SQLite is handed texts that end at a NUL, so two names that differ behind one would
    /// become the same.
    static func canBeStored(_ name: String?) -> Bool { name?.utf8.contains(0) != true }
}

/// Changes the items of one scope inside a transaction, together with their text.
private struct ItemWriter {
    private let db: Database
    private let bundle: Int64
    private let index: String
    private let now: Double

    init(_ db: Database, _ scope: IndexScope, now: Double) throws {
        self.db = db
        self.now = now
        index = scope.index ?? ""
        guard SearchIndex.canBeStored(scope.bundle), SearchIndex.canBeStored(scope.index) else {
            throw SearchIndexError.invalidItem(
                identifier: scope.bundle, reason: "the name of its bundle or of its index contains a NUL")
        }
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO bundle (identifier) VALUES (?)")
            .execute(arguments: [scope.bundle])
        bundle =
            try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT id FROM bundle WHERE identifier = ?"), arguments: [scope.bundle]) ?? 0
    }

    func put(_ item: EncodedItem) throws {
        var item = item
        let identifier = item.record.uniqueIdentifier
        guard SearchIndex.canBeStored(identifier), SearchIndex.canBeStored(item.record.domainIdentifier) else {
            throw SearchIndexError.invalidItem(
                identifier: identifier, reason: "its identifier or its domain contains a NUL")
        }
        let existing = try Row.fetchOne(
            db.cachedStatement(
                sql:
                    "SELECT id, expires, record FROM item WHERE bundle = ? AND index_name = ? AND unique_identifier = ?"
            ),
            arguments: [bundle, index, identifier])
        if item.record.isUpdate {
            // One that has expired is gone, though it may not have been deleted yet.
            guard let existing, try existing.decode(Double?.self, forColumn: "expires") ?? .infinity > now else {
                return
            }
            item = try merged(item.record, into: try Self.record(in: existing))
        }
        let id: Int64
        if let existing {
            id = try existing.decode(Int64.self, forColumn: "id")
            try db.cachedStatement(sql: "DELETE FROM unconfirmed WHERE item = ?").execute(arguments: [id])
            // Most of what a reindex brings is what is there already; then only its age is new.
            if try existing.decode(Data.self, forColumn: "record") == Data(item.bytes) {
                return try db.cachedStatement(sql: "UPDATE item SET expires = ?, donated = ? WHERE id = ?")
                    .execute(arguments: [expiry(of: item.record), now, id])
            }
            try Self.forget(db, id, SearchableText(try Self.record(in: existing)))
            try db.cachedStatement(
                sql: """
                    UPDATE item SET domain = ?, content_type = ?, title = ?, expires = ?, donated = ?, record = ?
                    WHERE id = ?
                    """
            ).execute(arguments: columns(of: item) + [id])
        } else {
            try db.cachedStatement(
                sql: """
                    INSERT INTO item (domain, content_type, title, expires, donated, record,
                        bundle, index_name, unique_identifier)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: columns(of: item) + [bundle, index, identifier])
            id = db.lastInsertedRowID
        }
        let text = SearchableText(item.record)
        try db.cachedStatement(
            sql: "INSERT INTO item_text (rowid, title, keywords, description, body) VALUES (?, ?, ?, ?, ?)"
        ).execute(arguments: [id] + StatementArguments(text.arguments))
    }

    func delete(_ condition: String, _ arguments: [String]) throws {
        try Self.delete(
            db, where: "bundle = ? AND index_name = ? AND \(condition)",
            [bundle, index] + StatementArguments(arguments))
    }

    @discardableResult
    static func delete(_ db: Database, where condition: String, _ arguments: StatementArguments) throws -> Int {
        var identifiers: [Int64] = []
        let rows = try Row.fetchCursor(
            db, sql: "SELECT id, record FROM item WHERE \(condition)", arguments: arguments)
        while let row = try rows.next() {
            let id = try row.decode(Int64.self, forColumn: "id")
            identifiers.append(id)
            try forget(db, id, SearchableText(try record(in: row)))
        }
        let statement = try db.cachedStatement(sql: "DELETE FROM item WHERE id = ?")
        for id in identifiers { try statement.execute(arguments: [id]) }
        return identifiers.count
    }

    /// Takes an item's words out of the full-text table, which has no content of its own and must be told them.
    private static func forget(_ db: Database, _ id: Int64, _ text: SearchableText) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO item_text (item_text, rowid, title, keywords, description, body)
                VALUES ('delete', ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [id] + StatementArguments(text.arguments))
    }

    private static func record(in row: Row) throws -> ItemRecord {
        let bytes = try row.decode(Data.self, forColumn: "record")
        do {
            return try ItemRecord(decoding: bytes)
        } catch {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT, message: "item \(try row.decode(Int64.self, forColumn: "id")): \(error)")
        }
    }

    private func expiry(of record: ItemRecord) -> Double? {
        switch record.expiration {
        case .standard: now + SearchIndex.standardLifetime
        case .never: nil
        // SQLite would take NaN for NULL, and so for never.
        case .at(let moment): moment.isNaN ? now + SearchIndex.standardLifetime : moment
        }
    }

    private func columns(of item: EncodedItem) -> StatementArguments {
        let record = item.record
        let title = (record.text("title") ?? record.text("displayName")).map(SearchableText.withoutNUL)
        return [
            record.domainIdentifier, record.text("contentType").map(SearchableText.withoutNUL), title,
            expiry(of: record), now, Data(item.bytes),
        ]
    }

    private func merged(_ update: ItemRecord, into stored: ItemRecord) throws -> EncodedItem {
        var record = stored
        record.isUpdate = false
        // The standard month is what an update has whose app said nothing of expiry.
        if update.expiration != .standard { record.expiration = update.expiration }
        if let domain = update.domainIdentifier { record.domainIdentifier = domain }
        for (name, value) in update.attributes {
            record.attributes[name] = value == .null ? nil : value
        }
        do {
            return try EncodedItem(record)
        } catch {
            throw SearchIndexError.invalidItem(identifier: update.uniqueIdentifier, reason: "\(error)")
        }
    }
}
