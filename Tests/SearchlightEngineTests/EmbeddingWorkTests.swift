// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import ItemRecord
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import SearchIndex
@testable import SearchlightEngine

/// Installing a model, and the background work that embeds items with it.
@Suite("Embedding work", .timeLimit(.minutes(10)))
struct EmbeddingWorkTests {
    private let place: EnginePlace
    private let source: TemporaryFolder
    private static let words = TinyModel.manyWords

    init() throws {
        place = try EnginePlace()
        source = try TemporaryFolder()
        let model = TinyModel.ofWords(
            Self.words + ["mirror", "harbour", "lantern", "glass", "port", "lamp"],
            synonyms: [("mirror", "glass"), ("harbour", "port"), ("lantern", "lamp")])
        try model.writeFiles(to: source)
    }

    private func install(seed: UInt64? = nil) throws -> InstalledModel {
        if let seed { try TinyModel.ofWords(Self.words, synonyms: [], seed: seed).writeFiles(to: source) }
        return try ModelInstallation(store: place.store).install(
            from: source.path, name: "tiny", origin: source.path, now: place.time.now)
    }

    private func donate(_ count: Int, _ engine: SearchlightEngine, seed: UInt64 = 3) async throws {
        var random = SplitMix64(seed: seed)
        var batch = IndexBatch(scope: IndexScope(bundle: "org.example.app"))
        for number in 0..<count {
            var record = ItemRecord(uniqueIdentifier: "i\(number)")
            let text = (0..<3).map { _ in random.pick(Self.words) }.joined(separator: " ")
            record.attributes["textContent"] = .string(number == 9 ? "mirror harbour lantern" : text)
            batch.index([try EncodedItem(record)])
        }
        try await engine.commit(batch)
        try await engine.settle()
    }

    @Test("A model is copied with small weights, described and replaced; its folder has no other files")
    func installation() async throws {
        try await place.withEngine { engine in
            #expect(try await engine.semanticStatus() == nil)
            let model = try install()
            #expect(model.width == 64 && model.identity.count == 64 && model.license == nil)
            #expect(InstalledModel(ofStore: place.store) == model)
            let names = try FileManager.default.contentsOfDirectory(atPath: place.store + "/model").sorted()
            #expect(
                names == ["config.json", "installed.json", "model.safetensors", "searchlight-model.json", "vocab.txt"])
            try source.write(Array("---\nlicense: mit\n---\n".utf8), to: "README.md")
            let other = try install(seed: 9)
            #expect(other.identity != model.identity && other.license == "mit")
            #expect(try install(seed: 9).identity == other.identity)
            let store = try FileManager.default.contentsOfDirectory(atPath: place.store)
            #expect(store.filter { $0.hasPrefix("model") } == ["model"])
            #expect(try ModelInstallation(store: place.store).remove()?.identity == other.identity)
            #expect(try ModelInstallation(store: place.store).remove() == nil)
            #expect(try await engine.semanticStatus() == nil)
        }
    }

    @Test("A folder that is not a model is rejected by name, and the installed model stays")
    func rejection() async throws {
        try await place.withEngine { engine in
            let model = try install()
            try source.write(Array("{}".utf8), to: "config.json")
            let error = try #require(throws: EngineError.self) { try install() }
            #expect(error.description.contains("config.json"))
            #expect(InstalledModel(ofStore: place.store) == model)
            let left = try FileManager.default.contentsOfDirectory(atPath: place.store).filter { $0.hasPrefix("model") }
            #expect(left == ["model"])
        }
    }

    @Test("A damaged description counts as no model", arguments: ["", "{}", "[1]", #"{"identity": "x"}"#])
    func damagedDescription(_ text: String) async throws {
        try await place.withEngine { engine in
            _ = try install()
            try Data(text.utf8).write(to: URL(filePath: place.store + "/model/installed.json"))
            #expect(try await engine.semanticStatus() == nil)
            try await donate(3, engine)
            #expect(try await engine.find(ItemSearch("mirror harbour lantern")).hits.isEmpty)
        }
    }

    @Test("Embedding is maintenance that becomes due with a model, stops between steps and continues")
    func schedule() async throws {
        try await place.withEngine { engine in
            try await donate(400, engine)
            try await engine.lookAhead()
            #expect(engine.scheduledJobs().isEmpty)
            _ = try install()
            _ = try await engine.semanticModelChanged()
            try await engine.lookAhead()
            let job = try #require(engine.scheduledJobs().first)
            #expect(job.key == .maintenance(.embed) && job.urgency == .maintenance && job.isResumable)
            await #expect(throws: EngineError.extension(.cancelled)) {
                try await engine.run(job.key, checkpoint: { false })
            }
            let half = try #require(try await engine.semanticStatus())
            #expect(half.embedded > 0 && half.embedded + half.pending == 400)
            #expect(engine.scheduledJobs().map(\.key) == [job.key])
            try await engine.run(job.key)
            let whole = try #require(try await engine.semanticStatus())
            #expect(whole.embedded == 400 && whole.pending == 0)
            #expect(try await engine.status(isExact: false).semantic == whole)
            try await engine.lookAhead()
            #expect(engine.scheduledJobs().isEmpty)
            // A donation makes the work due again within minutes instead of after a day.
            var batch = IndexBatch(scope: IndexScope(bundle: "org.example.app"))
            batch.index([try EncodedItem(ItemRecord(uniqueIdentifier: "new"))])
            try await engine.commit(batch)
            try await engine.settle()
            let next = try #require(engine.nextLook)
            #expect(next <= place.time.now + 60)
        }
    }

    @Test("Paused work ends between two layers, keeps the finished passages, and continues at the checkpoint")
    func paused() async throws {
        try await place.withEngine { engine in
            try await donate(40, engine)
            _ = try install()
            // The first call comes before the first item. An item has one passage, and a passage
            // two layers, so the pause is in the middle of the third passage.
            let calls = Mutex(0)
            let isPaused = { @Sendable in
                calls.withLock { calls in
                    calls += 1
                    return calls > 12
                }
            }
            #expect(try await engine.embedStep(isPaused: isPaused))
            let part = try #require(try await engine.semanticStatus())
            #expect((1...4).contains(part.embedded) && part.embedded + part.pending == 40, "\(part)")
            // Nothing is embedded during a pause.
            let before = calls.withLock { $0 }
            #expect(try await engine.embedStep(isPaused: { true }))
            #expect(try await engine.semanticStatus() == part && calls.withLock { $0 } == before)
            // A paused task waits at the checkpoint. Every step is paused here, and only opening
            // the gate lets the task continue.
            let passes = Mutex(0)
            let isClosed = Mutex(true)
            try await engine.run(
                .maintenance(.embed),
                checkpoint: {
                    passes.withLock { $0 += 1 }
                    isClosed.withLock { $0 = false }
                    return true
                }, isPaused: { isClosed.withLock { $0 } })
            #expect(passes.withLock { $0 } >= 1)
            let whole = try #require(try await engine.semanticStatus())
            #expect(whole.embedded == 40 && whole.pending == 0)
        }
    }

    @Test("A step embeds a passage even if its time is over before its thread runs")
    func late() async throws {
        try await place.withEngine { engine in
            try await donate(3, engine)
            let installed = try install()
            let model = SemanticModel(store: place.store, clock: ManualClock()) {}
            let (jobs, _) = try await engine.index.embeddingJobs(
                model: installed.identity, width: installed.width, count: 3)
            let embedded = try await model.embed(jobs, installed, for: .zero, isInBackground: true)
            #expect(embedded.map(\.passages.count) == [1])
            let paused = try await model.embed(jobs, installed, for: .zero, isInBackground: true) { true }
            #expect(paused.isEmpty)
            model.close()
        }
    }

    @Test("Searches and background work share one model, which is unmapped as a whole")
    func shared() async throws {
        let clock = ManualClock()
        try await place.withEngine { engine in
            try await donate(3, engine)
            let installed = try install()
            let model = SemanticModel(store: place.store, clock: clock) {}
            func maps() throws -> Int {
                // Foundation stops at the first short read, and the kernel returns one page at a
                // time.
                let bytes = try BoundedFile.beginning("/proc/self/maps", limit: 64 << 20)
                return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                    .count { $0.hasSuffix(place.store + "/model/model.safetensors") }
            }
            #expect(try maps() == 0)
            _ = try await model.meaning(of: "kaban kachi karem", installed)
            let (jobs, _) = try await engine.index.embeddingJobs(
                model: installed.identity, width: installed.width, count: 3)
            let embedded = try await model.embed(jobs, installed, for: .seconds(60), isInBackground: true)
            #expect(embedded.count == 3 && embedded.allSatisfy { $0.isComplete })
            let mapped = try maps()
            #expect(mapped == 1)
            model.release()
            #expect(try maps() == 0)
            model.close()
        }
    }

    @Test("A search finds an item by synonyms, and words alone do not")
    func search() async throws {
        try await place.withEngine { engine in
            try await donate(200, engine)
            _ = try install()
            _ = try await engine.semanticModelChanged()
            while try await engine.embedStep() {}
            var search = ItemSearch("glass port lamp")
            search.snippetLength = 100
            let found = try await engine.find(search)
            #expect(found.hits.map(\.item.record.uniqueIdentifier) == ["i9"])
            #expect(found.hits.first?.fit == .meaning)
            #expect(found.hits.first?.snippet?.text == "mirror harbour lantern")
            search.usesMeaning = false
            #expect(try await engine.find(search).hits.isEmpty)
            // A diagnosis uses the same ranking.
            search.usesMeaning = true
            let number = try #require(found.hits.first?.item.number)
            let diagnosis = try await engine.diagnose(search, item: number)
            #expect(diagnosis.outcome == .shown && diagnosis.rank == 1)
        }
    }

    @Test("Similar items are found by meaning, by words without a model, and filters are no words")
    func similar() async throws {
        try await place.withEngine { engine in
            try await donate(200, engine)
            var batch = IndexBatch(scope: IndexScope(bundle: "org.example.app"))
            for (name, text) in [("one", "glass port lamp"), ("two", "glass kaban lamp")] {
                batch.index([
                    try EncodedItem(ItemRecord(uniqueIdentifier: name, attributes: ["textContent": .string(text)]))
                ])
            }
            try await engine.commit(batch)
            try await engine.settle()
            let number = try await engine.item(named: "one").number
            var search = ItemSearch("")
            search.snippetLength = 100
            search.limit = 3
            let words = try await engine.similar(to: number, search)
            #expect(words.basis == .wordsWithoutModel && words.advice?.contains("semantic install") == true)
            #expect(words.hits.first?.item.record.uniqueIdentifier == "two")
            #expect(words.hits.first?.snippet?.pieces.filter(\.isMarked).map(\.text) == ["glass", "lamp"])
            _ = try install()
            let pending = try await engine.similar(to: number, search)
            #expect(pending.basis == .wordsWithoutEmbedding && pending.advice?.contains("semantic build") == true)
            while try await engine.embedStep() {}
            let found = try await engine.similar(to: number, search)
            #expect(found.basis == .meaning && found.advice == nil)
            // The words of this item are synonyms.
            #expect(found.hits.first?.item.record.uniqueIdentifier == "i9")
            #expect(found.hits.first?.snippet?.text == "mirror harbour lantern")
            #expect(found.hits.count == 3 && !found.hits.contains { $0.item.number == number })
            await #expect(throws: EngineError.itemNotFound("@99999")) { try await engine.similar(to: 99_999, search) }
            for text in ["lamp", "kind:pdf lamp", "-lamp", "\"lamp\""] {
                await #expect(throws: EngineError.self, "\(text)") {
                    try await engine.similar(to: number, ItemSearch(text))
                }
            }
            #expect(try await engine.similar(to: number, ItemSearch("kind:pdf")).hits.isEmpty)
        }
    }

    @Test("A removed model makes searches compare words, and its embeddings are deleted")
    func removal() async throws {
        try await place.withEngine { engine in
            try await donate(50, engine)
            _ = try install()
            while try await engine.embedStep() {}
            try ModelInstallation(store: place.store).remove()
            #expect(try await engine.semanticModelChanged() == nil)
            #expect(try await engine.find(ItemSearch("glass port lamp")).hits.isEmpty)
            let tables = try await engine.index.readApplied("Listing") { db in try EmbeddingTables.state(db) == nil }
            #expect(tables)
        }
    }

    @Test("A forgotten app has no embeddings")
    func forgotten() async throws {
        try await place.withEngine { engine in
            try await donate(20, engine)
            _ = try install()
            while try await engine.embedStep() {}
            try await engine.forget("org.example.app")
            let status = try #require(try await engine.semanticStatus())
            #expect(status.embedded == 0 && status.pending == 0)
        }
    }

    @Test("The model is mapped by the first use, and unmapped by the first pause without one")
    func release() async throws {
        let clock = ManualClock()
        let released = Mutex(0)
        try await place.withEngine { engine in
            let installed = try install()
            let model = SemanticModel(store: place.store, clock: clock) { released.withLock { $0 += 1 } }
            #expect(!model.isLoaded)
            let one = try await model.meaning(of: "kaban kachi karem", installed)
            #expect(model.isLoaded && one.embedding.count == 64)
            await clock.waitForSleepers(1)
            _ = try await model.meaning(of: "kaban kachi karem", installed)
            clock.advance(by: SemanticModel.unusedTime)
            await clock.waitForSleepers(1)
            #expect(model.isLoaded)
            clock.advance(by: SemanticModel.unusedTime)
            while model.isLoaded { await Task.yield() }
            #expect(try await model.meaning(of: "kaban kachi karem", installed) == one)
            model.close()
            model.release()
            #expect(!model.isLoaded && released.withLock { $0 } >= 1)
        }
    }

    @Test("Damaged weights are an error of the work, and searches compare words")
    func damagedWeights() async throws {
        try await place.withEngine { engine in
            try await donate(10, engine)
            _ = try install()
            try Data("x".utf8).write(to: URL(filePath: place.store + "/model/model.safetensors"))
            await #expect(throws: EngineError.self) { _ = try await engine.embedStep() }
            #expect(try await engine.find(ItemSearch("mirror harbour lantern")).hits.count == 1)
        }
    }
}
