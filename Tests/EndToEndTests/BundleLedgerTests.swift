// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import ItemRecord
import Promises
import SearchIndex
import Synchronization
import TestSupport
import Testing

@testable import SearchlightEngine

/// Extensions that are added, changed and removed while an engine tracks them.
@Suite("Added and removed extensions", .timeLimit(.minutes(10)))
struct BundleLedgerTests {
    private let harness: Harness
    private let folder: TemporaryFolder
    private let time = Time()
    private static let week = 7.0 * 86400

    private final class Time: Sendable {
        private let moment = Mutex(1000.0)
        var now: Double { moment.withLock { $0 } }
        func pass(_ seconds: Double) { moment.withLock { $0 += seconds } }
    }

    init() throws {
        harness = try Harness()
        folder = try TemporaryFolder()
    }

    private func engine() throws -> SearchlightEngine {
        let time = time
        var configuration = EngineConfiguration(
            storeDirectory: harness.store, access: .readWrite, extensionSearchPath: [harness.extensions],
            worker: WorkerConfiguration(
                workerPath: try BuiltProducts.program("searchlight-worker"), frameworkFolder: BuiltProducts.folder,
                environment: ["HOME": harness.folder], limits: .patient),
            now: { time.now })
        configuration.tracksExtensions = true
        return try SearchlightEngine(configuration)
    }

    private func with(_ body: (SearchlightEngine) async throws -> Void) async throws {
        let engine = try engine()
        do { try await body(engine) } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    private var notebook: String { harness.extensions + "/com.example.notebook.searchext" }

    @Test("An added extension has one pending reindex of everything")
    func added() async throws {
        try await with { engine in
            #expect(engine.changesAtOpening.isEmpty)
            _ = try harness.installFixture("notebook")
            let changes = await engine.refreshExtensions()
            #expect(changes.added == ["com.example.notebook"])
            #expect(engine.owedJobs.map(\.bundle) == ["com.example.notebook"])
            let found1 = try await engine.reindexOwed("com.example.notebook")
            #expect(found1 == 3)
            #expect(await engine.refreshExtensions().isEmpty)
            #expect(engine.owedJobs.isEmpty)
        }
        try await with { engine in
            #expect(engine.changesAtOpening.isEmpty)
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("An upgraded extension has a pending reindex of everything, even if no process ran then")
    func upgraded() async throws {
        _ = try harness.installFixture("notebook")
        try await with { engine in
            #expect(engine.changesAtOpening.added == ["com.example.notebook"])
            _ = try await engine.reindexOwed("com.example.notebook")
        }
        let manifest = notebook + "/Info.plist"
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        try text.replacing("<string>1</string>", with: "<string>2</string>")
            .write(toFile: manifest, atomically: true, encoding: .utf8)
        try await with { engine in
            #expect(engine.changesAtOpening.upgraded == ["com.example.notebook"])
            #expect(engine.owedJobs.count == 1)
        }
    }

    @Test("The items of a removed extension are deleted after a week, not before, across restarts")
    func removed() async throws {
        _ = try harness.installFixture("notebook")
        try await with { _ = try await $0.reindexOwed("com.example.notebook") }
        try FileManager.default.removeItem(atPath: notebook)
        try await with { engine in
            #expect(engine.changesAtOpening.removed == ["com.example.notebook"])
            let removal = try #require(engine.removals.first)
            #expect(removal.due - removal.removed == Self.week)
            let found2 = try await engine.extensionDetails(of: "com.example.notebook")
            #expect(found2.state == .removed)
        }
        time.pass(Self.week - 1)
        try await with { engine in
            #expect(engine.changesAtOpening.isEmpty)
            #expect(await engine.carryOutRemovals().isEmpty)
            let found3 = try await engine.itemCounts()
            #expect(found3 == ["com.example.notebook": 3])
        }
        time.pass(1)
        try await with { engine in
            let done = await engine.carryOutRemovals()
            #expect(done.map(\.bundle) == ["com.example.notebook"])
            #expect(done.map(\.items) == [3])
            let found4 = try await engine.itemCounts()
            #expect(found4.isEmpty)
            #expect(engine.removals.isEmpty && engine.donors.isEmpty)
        }
    }

    @Test("An extension that returns keeps its items, and has no pending reindex if it is unchanged")
    func restored() async throws {
        _ = try harness.installFixture("notebook")
        try await with { engine in
            _ = try await engine.reindexOwed("com.example.notebook")
            rename(notebook, folder.path("kept"))
            #expect(await engine.refreshExtensions().removed == ["com.example.notebook"])
            time.pass(Self.week * 2)
            rename(folder.path("kept"), notebook)
            let changes = await engine.refreshExtensions()
            #expect(changes.restored == ["com.example.notebook"] && changes.upgraded.isEmpty)
            #expect(await engine.carryOutRemovals().isEmpty)
            let found5 = try await engine.itemCounts()
            #expect(found5 == ["com.example.notebook": 3])
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("A temporarily unusable extension does not count as removed")
    func refused() async throws {
        _ = try harness.installFixture("notebook")
        try await with { engine in
            _ = try await engine.reindexOwed("com.example.notebook")
            rename(notebook + "/library.so", folder.path("library.so"))
            #expect(await engine.refreshExtensions().isEmpty)
            #expect(engine.removals.isEmpty)
            let found6 = try await engine.extensionDetails(of: "com.example.notebook")
            #expect(found6.state == .refused)
            rename(folder.path("library.so"), notebook + "/library.so")
            #expect(await engine.refreshExtensions().isEmpty)
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("A removed extension that returns broken counts as installed: its items stay")
    func backAndRefused() async throws {
        _ = try harness.installFixture("notebook")
        try await with { engine in
            _ = try await engine.reindexOwed("com.example.notebook")
            rename(notebook, folder.path("kept"))
            #expect(await engine.refreshExtensions().removed == ["com.example.notebook"])
            try FileManager.default.createDirectory(atPath: notebook, withIntermediateDirectories: false)
            time.pass(Self.week * 2)
            // No check has run since.
            #expect(await engine.carryOutRemovals().isEmpty)
            #expect(engine.removals.isEmpty && engine.nextRemoval == nil)
            let found = try await engine.itemCounts()
            #expect(found == ["com.example.notebook": 3])
            try FileManager.default.removeItem(atPath: notebook)
            #expect(await engine.refreshExtensions().removed == ["com.example.notebook"])
            #expect(engine.nextRemoval == time.now + Self.week)
        }
    }

    @Test("An unfinished first reindex is remembered across restarts until it is done")
    func unfinished() async throws {
        _ = try harness.installFixture("notebook")
        try await with { #expect($0.scheduledJobs().map(\.key) == [.reindex(bundle: "com.example.notebook")]) }
        try await with { engine in
            #expect(engine.changesAtOpening.isEmpty)
            #expect(engine.scheduledJobs().map(\.key) == [.reindex(bundle: "com.example.notebook")])
            _ = try await engine.reindexOwed("com.example.notebook")
            #expect(engine.scheduledJobs().isEmpty)
        }
        try await with { #expect($0.scheduledJobs().isEmpty) }
    }

    @Test("A process that searches other folders does not consider it removed")
    func otherFolders() async throws {
        _ = try harness.installFixture("notebook")
        try await with { _ = try await $0.reindexOwed("com.example.notebook") }
        var configuration = EngineConfiguration(
            storeDirectory: harness.store, access: .readWrite, extensionSearchPath: [folder.path("elsewhere")],
            worker: WorkerConfiguration(workerPath: "/nonexistent", frameworkFolder: nil, environment: [:]))
        configuration.tracksExtensions = true
        let other = try SearchlightEngine(configuration)
        #expect(other.changesAtOpening.isEmpty && other.removals.isEmpty)
        await other.close()
    }

    @Test("A damaged or foreign ledger is ignored and written again")
    func damaged() async throws {
        _ = try harness.installFixture("notebook")
        try await with { _ = try await $0.reindexOwed("com.example.notebook") }
        let path = harness.store + "/installed.json"
        let sound = Array(try Data(contentsOf: URL(filePath: path)))
        for offset in stride(from: 0, to: sound.count, by: 11) {
            var bytes = sound
            bytes[offset] ^= 1
            try Data(bytes).write(to: URL(filePath: path))
            let store = LedgerStore(directory: harness.store)
            #expect(store.wasMissing || store.ledger == LedgerStore(directory: harness.store).ledger)
        }
        try Data("{".utf8).write(to: URL(filePath: path))
        try await with { engine in
            // The bundle has donated, so it existed.
            #expect(engine.changesAtOpening.isEmpty && engine.owedJobs.isEmpty)
        }
        #expect(!LedgerStore(directory: harness.store).wasMissing)
    }

    @Test("Requests continue while the bundle is replaced repeatedly")
    func replacedUnderLoad() async throws {
        _ = try harness.installFixture("notebook")
        #expect(rename(notebook, folder.path("first.searchext")) == 0)
        try FileManager.default.createSymbolicLink(
            atPath: notebook, withDestinationPath: folder.path("first.searchext"))
        try await with { engine in
            _ = try await engine.reindexOwed("com.example.notebook")
            let item = try await engine.item(named: "beta", bundle: nil)
            let isDone = Mutex(false)
            async let asked: Int = {
                var count = 0
                while !isDone.withLock({ $0 }) || count < 20 {
                    guard
                        case .data = try await engine.fulfil(
                            Representation(type: "public.html", form: .data), of: item)
                    else { return -1 }
                    count += 1
                }
                return count
            }()
            let notebook = notebook
            for version in 2..<12 {
                let new = folder.path("new\(version).searchext")
                try FileManager.default.copyItem(atPath: folder.path("first.searchext"), toPath: new)
                let text = try String(contentsOfFile: new + "/Info.plist", encoding: .utf8)
                try text.replacing("<string>1</string>", with: "<string>\(version)</string>")
                    .write(toFile: new + "/Info.plist", atomically: true, encoding: .utf8)
                // Replaced in one step, so that the link is never missing.
                try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: new)
                #expect(rename(folder.path("link"), notebook) == 0)
                let changes = await engine.refreshExtensions()
                #expect(changes.upgraded == ["com.example.notebook"])
            }
            isDone.withLock { $0 = true }
            let found8 = try await asked
            #expect(found8 >= 20)
            #expect(engine.registry.extensions.first?.manifest.version == "11")
            let found9 = try await engine.reindexOwed("com.example.notebook")
            #expect(found9 == 3)
        }
    }
}
