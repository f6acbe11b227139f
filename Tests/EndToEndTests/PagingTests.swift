// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import IdleScheduling
import ItemRecord
import SearchIndex
import TestSupport
import Testing

@testable import SearchlightEngine

/// Reindexes in pages, and the state that survives each process. The fixture donates five pages of
/// ten items.
@Suite("A reindex in pages", .timeLimit(.minutes(10)))
struct PagingTests {
    /// An extension and its instructions.
    private struct Paged {
        let harness: Harness
        let bundle = "com.example.paging"

        init() throws {
            harness = try Harness()
            _ = try harness.installFixture("paging")
        }

        func tell(_ what: String) throws {
            try Data(what.utf8).write(to: URL(filePath: harness.marks + "/\(bundle).searchext.do"))
        }

        /// The requested pages, in order.
        var pages: [Int] {
            harness.messages.compactMap { $0.hasPrefix("page ") ? Int($0.dropFirst("page ".count)) : nil }
        }

        var place: ReindexPlace? { JobStore(directory: harness.store)[bundle]?.place }

        func reindex(_ engine: SearchlightEngine) async throws -> Int {
            try await engine.reindexAll(bundle, onEvent: { _ in })
        }

        /// Runs `searchlight reindex`, and kills it and its worker when the extension has stopped.
        func killHostInReindex() throws {
            let output = Pipe()
            let process = try ChildProcess(
                BuiltProducts.program("searchlight"), ["reindex", bundle, "--verbose"],
                environment: Command(harness: harness).environment, output: .pipe(output))
            var text = ""
            while !text.contains("stopped in") {
                let data = output.fileHandleForReading.availableData
                guard !data.isEmpty else { break }
                text += String(decoding: data, as: UTF8.self)
            }
            process.send(SIGKILL)
            let ending = process.wait()
            try #require(text.contains("stopped in"), "\(text)")
            try #require(ending == .killed(SIGKILL))
        }
    }

    @Test("requests one page after the other, and leaves nothing pending")
    func allPages() async throws {
        let paged = try Paged()
        try await paged.harness.withEngine { engine async throws in
            for _ in 0..<2 { #expect(try await paged.reindex(engine) == 50) }
            #expect(engine.owedJobs.isEmpty)
            #expect(try await engine.compare(paged.bundle).isEqual)
        }
        #expect(paged.pages == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4])
    }

    @Test("continues at the last acknowledged page after its host was killed", arguments: ["early", "late"])
    func killedHost(moment: String) async throws {
        let paged = try Paged()
        try paged.tell("more 1")
        try await paged.harness.withEngine { engine async throws in
            #expect(try await paged.reindex(engine) == 51)
        }
        try paged.tell("\(moment) 3")
        try paged.killHostInReindex()
        #expect(paged.place.map { Array($0.cursor) } == Array("3".utf8))
        #expect(paged.place?.pages == 3)

        try paged.tell("")
        let before = paged.pages.count
        try await paged.harness.withEngine { engine async throws in
            // A donation by the app between two pages does not need to be repeated.
            var batch = IndexBatch(scope: IndexScope(bundle: paged.bundle))
            batch.index([try EncodedItem(ItemRecord(uniqueIdentifier: "the app's"))])
            try await engine.commit(batch)
            #expect(try await engine.item(named: "stale").record.uniqueIdentifier == "stale", "deleted too early")
            #expect(try await paged.reindex(engine) == 51)
            #expect(Array(paged.pages.dropFirst(before)) == [3, 4])
            await #expect(throws: EngineError.itemNotFound("stale")) { _ = try await engine.item(named: "stale") }
            _ = try await engine.item(named: "the app's")
            for page in 0..<5 { _ = try await engine.item(named: "\(page)-9") }
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("keeps the omissions of each page, and drops omissions of an interrupted page that no longer apply")
    func omissions() async throws {
        let paged = try Paged()
        func leftOut() async throws -> [String] {
            var examples: [String] = []
            try await paged.harness.withEngine { engine async throws in
                _ = try await paged.reindex(engine)
                examples = try await engine.account(of: paged.bundle).leftOut.flatMap(\.examples)
            }
            return examples
        }
        try paged.tell("locked 0 locked 4 early 3")
        try paged.killHostInReindex()
        try paged.tell("locked 3")
        #expect(try await leftOut() == ["file 0", "file 3"])
        try paged.tell("early 3")
        try paged.killHostInReindex()
        try paged.tell("")
        #expect(try await leftOut().isEmpty)
    }

    @Test("and waits between two pages, yields the bundle to a reindex of the user")
    func takenOver() async throws {
        let paged = try Paged()
        try await paged.harness.withEngine { engine async throws in
            try engine.owe(.reindexAll, of: paged.bundle, cause: .asked)
            let background = Task {
                try await engine.run(.reindex(bundle: paged.bundle)) {
                    paged.harness.take(.output(bundle: paged.bundle, line: "paused"))
                    // Waits for a long time, like a task that continues much later. Ends when the
                    // request is cancelled.
                    try? await ContinuousClock().sleep(for: .seconds(60))
                    return !Task.isCancelled
                }
            }
            await paged.harness.wait(forMessage: "paused")
            #expect(try await paged.reindex(engine) == 50)
            await #expect(throws: EngineError.extension(.cancelled)) { try await background.value }
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("and waits between two pages, does not prevent the user from forgetting the bundle")
    func forgottenMeanwhile() async throws {
        let paged = try Paged()
        try await paged.harness.withEngine { engine async throws in
            try engine.owe(.reindexAll, of: paged.bundle, cause: .asked)
            let background = Task {
                try await engine.run(.reindex(bundle: paged.bundle)) {
                    paged.harness.take(.output(bundle: paged.bundle, line: "paused"))
                    try? await ContinuousClock().sleep(for: .seconds(60))
                    return !Task.isCancelled
                }
            }
            await paged.harness.wait(forMessage: "paused")
            _ = try await engine.forget(paged.bundle)
            await #expect(throws: EngineError.extension(.cancelled)) { try await background.value }
            #expect(engine.owedJobs.isEmpty)
            #expect(try await engine.itemCounts()[paged.bundle] == nil)
        }
    }

    @Test("requests a page once more after its worker was killed")
    func killedWorker() async throws {
        let paged = try Paged()
        try paged.tell("die 2")
        try await paged.harness.withEngine { engine async throws in
            #expect(try await paged.reindex(engine) == 50)
        }
        #expect(paged.pages == [0, 1, 2, 2, 3, 4])
        #expect(paged.harness.retries == 1)
    }

    @Test(
        "restarts if the extension changed, or if the index lost the list of items to delete", arguments: [true, false])
    func anew(isUpgrade: Bool) async throws {
        let paged = try Paged()
        try paged.tell("early 2")
        try paged.killHostInReindex()
        #expect(paged.place?.pages == 2)
        try paged.tell("")
        if isUpgrade {
            try FileManager.default.removeItem(
                atPath: paged.harness.extensions + "/\(paged.bundle).searchext/library.so")
            _ = try paged.harness.installFixture("paging")
        } else {
            let index = try SearchIndex(directory: paged.harness.store, access: .readWrite)
            try await index.beginReplacement(of: paged.bundle)
            try await index.close()
        }
        try await paged.harness.withEngine { engine async throws in
            // The earlier pages did not complete that request. The new ones do.
            try engine.owe(.reindexItems(["0-0"]), of: paged.bundle, cause: .asked)
            #expect(try await paged.reindex(engine) == 50)
            #expect(engine.owedJobs.isEmpty)
        }
        #expect(paged.pages == [0, 1, 2, 3, 4])
    }

    @Test(
        "restarts if its first page is a week old or in the future, or if the index has lost data since",
        arguments: ["young", "old", "future", "generation"])
    func tooOld(what: String) async throws {
        let paged = try Paged()
        try paged.tell("early 2")
        try paged.killHostInReindex()
        let place = try #require(paged.place)
        #expect(place.pages == 2)
        try paged.tell("")
        var changed = place
        let week = 7 * 86400.0
        switch what {
        case "young": changed.began -= week - 3600
        case "old": changed.began -= week
        case "future": changed.began += 3600
        default: changed.generation -= 1
        }
        let reached = changed
        try JobStore(directory: paged.harness.store).update { $0.setPlace(reached, of: paged.bundle) }
        try await paged.harness.withEngine { engine async throws in
            #expect(try await paged.reindex(engine) == 50)
        }
        #expect(paged.pages == (what == "young" ? [2, 3, 4] : [0, 1, 2, 3, 4]))
    }

    @Test(
        "restarts after an answer that its cursor is invalid", arguments: ["refuse", "same", "long", "wrong"])
    func badCursor(what: String) async throws {
        let paged = try Paged()
        try await paged.harness.withEngine { engine async throws in
            try paged.tell("\(what) 2")
            await #expect(throws: EngineError.self) { _ = try await paged.reindex(engine) }
            #expect(engine.owedWork(for: paged.bundle)?.failures == 1)
            #expect((engine.owedWork(for: paged.bundle)?.place == nil) == (what != "wrong"))
            try paged.tell("")
            let before = paged.pages.count
            #expect(try await paged.reindex(engine) == 50)
            #expect(Array(paged.pages.dropFirst(before)) == (what == "wrong" ? [2, 3, 4] : [0, 1, 2, 3, 4]))
        }
    }

    @Test("restarts after the same page has failed three times")
    func failsAgain() async throws {
        let paged = try Paged()
        try await paged.harness.withEngine { engine async throws in
            try paged.tell("wrong 2")
            for attempt in 1...3 {
                await #expect(throws: EngineError.self) { _ = try await paged.reindex(engine) }
                #expect(engine.owedWork(for: paged.bundle)?.place?.failures == (attempt < 3 ? attempt : nil))
            }
        }
        #expect(paged.pages == [0, 1, 2, 2, 2])
    }

    @Test("ends if a page brings nothing new")
    func endless() async throws {
        let paged = try Paged()
        try paged.tell("endless 0")
        var limits = ReindexPageLimits()
        limits.fruitlessPages = 10
        let engine = try paged.harness.engine(pages: limits)
        let error = await #expect(throws: EngineError.self) { _ = try await paged.reindex(engine) }
        #expect(error?.description.contains("the last 10 pages have no new items") == true)
        #expect(paged.pages.count == 20)
        // The items still exist: a failed reindex deletes nothing.
        #expect(try await engine.itemCounts()[paged.bundle] == 40)
        limits.pages = 3
        await engine.close()
        let strict = try paged.harness.engine(pages: limits)
        let many = await #expect(throws: EngineError.self) { _ = try await paged.reindex(strict) }
        #expect(many?.description.contains("reached the limit of 3 pages") == true)
        await strict.close()
    }

    @Test("lets a running app donate everything at once")
    func delegate() async throws {
        let paged = try Paged()
        try paged.tell("early 2")
        try paged.killHostInReindex()
        try await paged.harness.withEngine { engine async throws in
            let app = FakeApp(paged.bundle, engine)
            try app.register()
            #expect(try await paged.reindex(engine) == 20)
            #expect(app.requests == [.reindexAll])
            #expect(engine.owedJobs.isEmpty)
        }
        #expect(paged.pages.isEmpty)
    }

    @Test("restarts if all items of its pages were deleted")
    func undone() async throws {
        let paged = try Paged()
        try await paged.harness.withEngine { engine async throws in
            var batch = IndexBatch(scope: IndexScope(bundle: paged.bundle))
            batch.deleteAll()
            try paged.tell("wrong 2")
            await #expect(throws: EngineError.self) { _ = try await paged.reindex(engine) }
            #expect(paged.place?.pages == 2)
            try await engine.commit(batch)
            #expect(paged.place == nil)
            try paged.tell("")
            #expect(try await paged.reindex(engine) == 50)
        }
    }
}
