// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import ExtensionHost
import Foundation
import IdleScheduling
import ItemRecord
import MetadataQuery
import SearchIndex
import SearchlightEngine
import Synchronization
import TestSupport
import Testing

@testable import SearchlightService

/// Encrypted items that are almost a month old are requested after the user unlocks the store.
@Suite("Encrypted items that are about to expire", .timeLimit(.minutes(10)))
struct EncryptedItemTests {
    private static let passphrase = Array("correct horse".utf8)
    /// An identifier that no file may contain.
    private static let canary = ["canary", "identifier"].joined()
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns a service for the same store, `day` days later, on an idle machine, and its user.
    private func service(
        day: Double, worker: WorkerConfiguration? = nil
    ) async throws -> (service: TestService, user: RemoteEngine) {
        let service = try await TestService(folder: folder) { configuration in
            configuration.engine.now = { Date().timeIntervalSinceReferenceDate + day * 86400 }
            if let worker { configuration.engine.worker = worker }
            configuration.conditions = { _ in ScriptedConditions(.idle) }
        }
        let user = try await RemoteEngine.connect(storeDirectory: service.store, program: "test")
        return (service, try #require(user))
    }

    private func unlock(_ user: RemoteEngine, creates: Bool = false) async throws {
        _ = try await user.perform(UnlockCall(passphrase: Self.passphrase, creates: creates))
    }

    private func donate(_ bundle: String, _ user: RemoteEngine) async throws {
        var batch = IndexBatch(scope: IndexScope(bundle: bundle, index: "health"), protection: .complete)
        batch.index([
            try EncodedItem(ItemRecord(uniqueIdentifier: Self.canary, attributes: ["title": .string("first")]))
        ])
        try await user.commit(batch)
    }

    private func titles(_ user: RemoteEngine) async throws -> [AttributeValue?] {
        try await user.items(matching: .and([]), limit: 10, after: nil).items.map { $0.record.attributes["title"] }
    }

    /// Checks that no file contains the identifier.
    private func checkFiles() throws {
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        #expect(files.contains { $0.hasSuffix("/jobs.json") })
        for name in files {
            let bytes = (try? folder.read(name)) ?? []
            #expect(Data(bytes).range(of: Data(Self.canary.utf8)) == nil, "\(name)")
        }
    }

    @Test(
        "are requested from the extension, with their index and its class if it wants to know",
        arguments: [true, false])
    func byExtension(isNamed: Bool) async throws {
        let bundle = "com.example.encrypted"
        let library = folder.path("encrypted.so")
        let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let (ending, output) = try ChildProcess.run(
            "/usr/bin/env",
            ["clang", "-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC"] + (isNamed ? [] : ["-DONLY_REINDEX"]) + [
                "-I\(project)/Sources/SearchlightExtension/include",
                project + "/Tests/Fixtures/Extensions/encrypted.c", "-o", library,
            ])
        try #require(ending == .exited(0), "\(output)")
        try PlainBundle(
            bundle, in: folder.path("extensions"), library: Array(Data(contentsOf: URL(filePath: library))))
        try FileManager.default.createDirectory(atPath: folder.path("home"), withIntermediateDirectories: true)
        let worker = WorkerConfiguration(
            workerPath: try Program.path("searchlight-worker"), frameworkFolder: nil,
            environment: [
                "HOME": folder.path("home"),
                "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
            ])
        do {
            let (service, user) = try await service(day: 0)
            try await unlock(user, creates: true)
            try await donate(bundle, user)
            await user.close()
            await service.stop()
        }
        do {
            let (service, user) = try await service(day: 24, worker: worker)
            #expect(!service.lines.contains("has donated"))
            try await unlock(user)
            let title = isNamed ? "named health 2" : "unnamed"
            #expect(
                await eventually { (try? await titles(user)) == [.string(title)] },
                "\(service.lines.all)")
            // Its class holds for the donation too.
            #expect(try await user.perform(ProtectionStatusCall()).indexes.map(\.scope.index) == ["health"])
            await user.close()
            await service.stop()
            for line in service.lines.all { #expect(!line.contains(Self.canary)) }
        }
        try checkFiles()
        let (service, user) = try await service(day: 34)
        try await unlock(user)
        #expect(try await titles(user).count == 1)
        await user.close()
        await service.stop()
        try checkFiles()
    }

    @Test("are not requested while they are locked, and a user who starts the job gets that error")
    func startedWhileLocked() async throws {
        let bundle = "com.example.encrypted"
        try PlainBundle(bundle, in: folder.path("extensions"))
        do {
            let (service, user) = try await service(day: 0)
            try await unlock(user, creates: true)
            try await donate(bundle, user)
            await user.close()
            await service.stop()
        }
        let engine = try SearchlightEngine(TestService.engine(folder))
        try engine.owe(.reindexAll, of: bundle, cause: .asked)
        await engine.close()
        let (service, user) = try await service(day: 0)
        // The service looks for locked items after its start.
        let isTold = await eventually {
            do throws(EngineError) {
                _ = try await user.runNow(.reindex(bundle: bundle))
                return false
            } catch {
                return error == .protection(.locked)
            }
        }
        #expect(isTold, "\(service.lines.all)")
        await user.close()
        await service.stop()
    }

    /// A delegate that provides the items of one class, and records its requests.
    private final class Delegate: NSObject, CSSearchableIndexDelegate, Sendable {
        let requests = Mutex<[String]>([])
        let provides: Bool

        init(provides: Bool) { self.provides = provides }

        func searchableIndex(
            _ searchableIndex: CSSearchableIndex,
            reindexAllSearchableItemsWithAcknowledgementHandler acknowledgementHandler: @escaping @Sendable () -> Void
        ) {
            requests.withLock { $0.append("everything") }
            acknowledgementHandler()
        }

        func searchableIndex(
            _ searchableIndex: CSSearchableIndex, reindexSearchableItemsWithIdentifiers identifiers: [String],
            acknowledgementHandler: @escaping @Sendable () -> Void
        ) {
            requests.withLock { $0.append("reindex \(searchableIndex.protectionClass.rawValue)") }
            acknowledgementHandler()
        }

        func searchableItems(
            forIdentifiers identifiers: [String], protectionClass: FileProtectionType,
            searchableItemsHandler: @escaping @Sendable ([CSSearchableItem]) -> Void
        ) {
            requests.withLock { $0.append("provide \(protectionClass.rawValue)") }
            searchableItemsHandler(provides ? (identifiers + ["other"]).map(LibraryApp.item) : [])
        }
    }

    @Test("are requested from the delegate of their index, which provides or reindexes them", arguments: [true, false])
    func byDelegate(provides: Bool) async throws {
        let bundle = "com.example.notes"
        do {
            let (service, user) = try await service(day: 0)
            try await unlock(user, creates: true)
            try await donate(bundle, user)
            await user.close()
            await service.stop()
        }
        let (service, user) = try await service(day: 24)
        let app = LibraryApp(store: service.store)
        let encrypted = app.index("health", protectionClass: .complete)
        let (plain, other) = (app.index("plain"), app.index("inbox", protectionClass: .completeUnlessOpen))
        let (asked, unasked, unaskedOther) = (
            Delegate(provides: provides), Delegate(provides: true), Delegate(provides: true)
        )
        (encrypted.indexDelegate, plain.indexDelegate, other.indexDelegate) = (asked, unasked, unaskedOther)
        // After an answer to a later request, the delegates are registered.
        try await plain.indexSearchableItems([LibraryApp.item("p")])
        #expect(asked.requests.withLock { $0 } == [])
        try await unlock(user)
        let provided = "provide \(FileProtectionType.complete.rawValue)"
        let expected = provides ? [provided] : [provided, "reindex \(FileProtectionType.complete.rawValue)"]
        #expect(await eventually { asked.requests.withLock { $0 } == expected }, "\(service.lines.all)")
        if provides {
            #expect(
                await eventually {
                    (try? await titles(user).contains(.string(Self.canary))) == true
                })
        }
        #expect(try await app.found("title == 'other'") == [])
        #expect(unasked.requests.withLock { $0 } == [] && unaskedOther.requests.withLock { $0 } == [])
        await user.close()
        await service.stop()
        withExtendedLifetime((encrypted, plain, other, asked, unasked, unaskedOther)) {}
        try checkFiles()
    }
}
