// SPDX-License-Identifier: Apache-2.0
import GRDB
import Synchronization
import TestSupport

@testable import SearchIndex
@testable import ItemRecord

/// The current time, which the test sets.
final class TestClock: Sendable {
    private let moment = Mutex(1_000_000.0)

    var now: Double { moment.withLock { $0 } }
    func advance(by seconds: Double) { moment.withLock { $0 += seconds } }
}

extension SearchIndex {
    /// Searches for whole words and prefixes only, as typed.
    func search(
        _ text: String, bundle: String? = nil, limit: Int = 20
    ) async throws -> (hits: [SearchHit], total: Int) {
        var request = SearchRequest(text, bundle: bundle)
        request.limit = limit
        request.findsInsideWords = false
        request.correctsSpelling = false
        do throws(IndexQueryError) {
            return (try await search(request).hits, try await count(request))
        } catch {
            if case .index(let error) = error { throw error }
            throw error
        }
    }
}

/// A store in a separate folder, with a frozen clock.
struct Store {
    let folder: TemporaryFolder
    let clock = TestClock()
    let index: SearchIndex

    static let app = IndexScope(bundle: "com.example.app")

    init() throws {
        folder = try TemporaryFolder()
        index = try SearchIndex(directory: folder.path("store"), access: .readWrite) { [clock] in clock.now }
    }

    func put(_ records: ItemRecord..., in scope: IndexScope = app) async throws {
        try await index.index(records.map { record in try EncodedItem(record) }, in: scope)
    }

    /// Returns the identifiers of a search's hits, best first.
    func found(_ text: String, bundle: String? = nil) async throws -> [String] {
        try await index.search(text, bundle: bundle, limit: 10_000).hits.map(\.item.record.uniqueIdentifier)
    }

    func stored(_ identifier: String) async throws -> ItemRecord? {
        try await index.items(uniqueIdentifier: identifier).first?.record
    }

    /// Returns the content of the full-text table: each word with its column, and its numbers of
    /// documents and occurrences.
    func vocabulary() async throws -> [String] {
        try await index.write("Reading the vocabulary") { db in
            try db.execute(
                sql: "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab (main, item_text, col)")
            return try Row.fetchAll(
                db, sql: "SELECT term, col, doc, cnt FROM vocabulary WHERE col <> 'tags' ORDER BY term, col"
            ).map {
                "\($0[0] as String) \($0[1] as String) \($0[2] as Int) \($0[3] as Int)"
            }
        }
    }

    /// Throws if SQLite finds the full-text table or the file damaged.
    func checkIntegrity() async throws {
        try await index.write("Checking") { db in
            for table in FullTextIndex.tables {
                try db.execute(sql: "INSERT INTO \(table) (\(table)) VALUES ('integrity-check')")
            }
            let report = try String.fetchOne(db, sql: "PRAGMA integrity_check")
            guard report == "ok" else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: report ?? "no report")
            }
        }
    }
}

/// Returns an item with texts in the indexed attributes.
func item(
    _ identifier: String, title: String? = nil, keywords: [String] = [], description: String? = nil,
    text: String? = nil, domain: String? = nil, expires: ItemRecord.Expiration = .standard
) -> ItemRecord {
    var record = ItemRecord(uniqueIdentifier: identifier, domainIdentifier: domain, expiration: expires)
    record.attributes["title"] = title.map(AttributeValue.string)
    if !keywords.isEmpty { record.attributes["keywords"] = .array(keywords.map(AttributeValue.string)) }
    record.attributes["contentDescription"] = description.map(AttributeValue.string)
    record.attributes["textContent"] = text.map(AttributeValue.string)
    return record
}

/// Returns a change to some of an item's attributes.
func update(
    _ identifier: String, _ attributes: [String: AttributeValue], domain: String? = nil,
    expires: ItemRecord.Expiration = .standard
) -> ItemRecord {
    ItemRecord(
        uniqueIdentifier: identifier, domainIdentifier: domain, expiration: expires, isUpdate: true,
        attributes: attributes)
}
