// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing

@testable import ItemRecord
@testable import SearchIndex

/// The embedding tables follow the items, and can be lost at any time.
@Suite("Tables of embeddings", .timeLimit(.minutes(10)))
struct EmbeddingTablesTests {
    private let place: MeaningStore

    init() throws { place = try MeaningStore() }

    private func fill(_ count: Int) async throws {
        for number in 0..<count {
            try await place.store.put(item("i\(number)", title: "Sheet \(number)", text: "Text of number \(number)."))
        }
    }

    private func embedAll() async throws {
        try await place.embedAll { job in
            (0..<2).map { MeaningStore.passage(MeaningStore.direction(UInt64(job.item) * 2 + $0)) }
        }
    }

    @Test("A store without embeddings has no table of them, and needs no work without a model")
    func nothing() async throws {
        try await fill(3)
        #expect(try await !place.index.needsEmbedding(model: nil))
        #expect(try await place.index.embeddingCounts(model: MeaningStore.model) == nil)
        let tables = try await place.index.readApplied("Listing") { db in
            try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE name LIKE 'embedding%'")
        }
        #expect(tables.isEmpty)
        #expect(try await !place.index.dropEmbeddings())
    }

    @Test("Every item is embedded once, in steps, even items donated before the tables exist")
    func all() async throws {
        try await fill(20)
        #expect(try await place.index.needsEmbedding(model: MeaningStore.model))
        try await embedAll()
        #expect(try await place.rows() == [20, 40, 0])
        #expect(
            try await place.index.embeddingCounts(model: MeaningStore.model)
                == EmbeddingCounts(embedded: 20, pending: 0))
        #expect(try await !place.index.needsEmbedding(model: MeaningStore.model))
        try await place.store.put(item("new", title: "New"))
        try await place.index.settle()
        #expect(try await place.index.needsEmbedding(model: MeaningStore.model))
        try await embedAll()
        #expect(try await place.rows() == [21, 42, 0])
        try await place.store.checkIntegrity()
    }

    @Test("Used items come first, then the newest")
    func order() async throws {
        for day in 0..<10 {
            try await place.store.put(item("i\(day)", title: "Sheet \(day)"))
            place.store.clock.advance(by: 86400)
        }
        _ = try await place.index.embeddingJobs(model: MeaningStore.model, width: MeaningStore.width, count: 1)
        let numbers = try await place.index.readApplied("Listing") { db in
            try Int64.fetchAll(db, sql: "SELECT id FROM item ORDER BY id")
        }
        try await place.index.writeAtOnce("Counting a use") { db in
            try EngagementTable.count(.init(item: numbers[3], text: "sheet", kind: .open), reporter: 0, at: 1, db)
        }
        let jobs = try await place.index.embeddingJobs(model: MeaningStore.model, width: MeaningStore.width, count: 4)
            .jobs
        #expect(jobs.map(\.item) == [numbers[3], numbers[9], numbers[8], numbers[7]])
    }

    @Test("Embeddings are deleted with their item, and when its text changes, in the same transaction")
    func deletion() async throws {
        try await fill(6)
        try await embedAll()
        try await place.index.delete(identifiers: ["i0"], in: Store.app)
        try await place.store.put(item("i1", title: "Other"))
        try await place.index.settle()
        #expect(try await place.rows() == [4, 8, 1])
        // An unchanged item keeps its embeddings.
        try await place.store.put(item("i2", title: "Sheet 2", text: "Text of number 2."))
        try await place.index.settle()
        #expect(try await place.rows() == [4, 8, 1])
        try await place.index.deleteAll(in: Store.app)
        try await place.index.settle()
        #expect(try await place.rows() == [0, 0, 0])
    }

    @Test("An item that changes while it is embedded is not stored, and stays pending")
    func race() async throws {
        try await fill(1)
        let job = try #require(
            try await place.index.embeddingJobs(model: MeaningStore.model, width: MeaningStore.width, count: 1).jobs
                .first)
        try await place.store.put(item("i0", title: "Other"))
        try await place.index.settle()
        let embedded = EmbeddedPassages(
            job: job, passages: [MeaningStore.passage(MeaningStore.direction(1))], isComplete: true)
        try await place.index.store([embedded], model: MeaningStore.model)
        #expect(try await place.rows() == [0, 0, 1])
    }

    @Test("Work that ends between two steps loses nothing that was stored, and embeds nothing twice")
    func kill() async throws {
        try await fill(9)
        let (jobs, _) = try await place.index.embeddingJobs(
            model: MeaningStore.model, width: MeaningStore.width, count: 5)
        try await place.index.store(
            jobs.map {
                EmbeddedPassages(
                    job: $0, passages: [MeaningStore.passage(MeaningStore.direction(UInt64($0.item) * 2))],
                    isComplete: false)
            }, model: MeaningStore.model)
        // The database as a killed process leaves it behind.
        place.index.abandon()
        let index = try SearchIndex(directory: place.store.folder.path("store"), access: .readOnly)
        let half = try await index.readApplied("Counting") { db in
            try Int.fetchAll(db, sql: "SELECT passage FROM embedding")
        }
        #expect(half == [0, 0, 0, 0, 0])
        let counts = try await index.embeddingCounts(model: MeaningStore.model)
        #expect(counts == EmbeddingCounts(embedded: 5, pending: 9))
    }

    @Test("A different model or a different rule replaces all embeddings")
    func otherModel() async throws {
        try await fill(4)
        try await embedAll()
        let other = String(repeating: "b", count: 64)
        #expect(try await place.index.needsEmbedding(model: other))
        try await place.embedAll(model: other, width: 16) { _ in
            [.init(range: 0..<1, scale: 1, components: [Int8](repeating: 1, count: 16))]
        }
        #expect(try await place.rows() == [4, 4, 0])
        try await place.index.writeAtOnce("Changing the rule") { db in
            try db.execute(sql: "UPDATE embedding_state SET rule = 0")
        }
        #expect(try await place.index.needsEmbedding(model: other))
        #expect(try await place.index.embeddingCounts(model: other) == nil)
        #expect(try await place.index.dropEmbeddings())
        try await fill(1)
        try await place.store.checkIntegrity()
    }

    @Test("A damaged row is not used, and its item is embedded again")
    func damage() async throws {
        try await fill(20)
        try await embedAll()
        let query = MeaningStore.direction(11 * 2)
        try await place.index.writeAtOnce("Damaging a row") { db in
            try db.execute(sql: "UPDATE embedding SET scale = scale * 2 WHERE item = 11")
            try db.execute(sql: "UPDATE embedding SET vector = x'00' WHERE item = 12")
        }
        #expect(try await place.hits("nothing like this", query).isEmpty)
        #expect(try await place.index.needsEmbedding(model: MeaningStore.model))
        try await embedAll()
        #expect(try await place.rows() == [20, 40, 0])
        let hits = try await place.hits("nothing like this", query)
        #expect(hits.map(\.item.number) == [11])
    }

    @Test("A lost table is a finding of verify, and the repair deletes the others")
    func structure() async throws {
        try await fill(3)
        try await embedAll()
        try await place.index.writeAtOnce("Losing a table") { db in
            try db.execute(sql: "DROP TABLE embedding_state")
        }
        let found = try await place.index.readApplied("Checking") { db in try EmbeddingTables.problems(db) }
        #expect(found == ["the table embedding_state is missing"])
        let left = try await place.index.writeAtOnce("Repairing") { db in
            let examination = DatabaseExamination(db)
            let done = try examination.repair(db, through: 0, lossRule: .acceptsLosses, path: "")
            return (done, try EmbeddingTables.problems(db))
        }
        #expect(left.0.contains { $0.hasPrefix("The embeddings were damaged") } && left.1.isEmpty)
        #expect(try await place.store.found("sheet").count == 3)
        try await embedAll()
        #expect(try await place.rows() == [3, 6, 0])
    }
}
