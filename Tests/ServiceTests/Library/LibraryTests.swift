// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Foundation
import Glibc
import SearchlightEngine
import TestSupport
import Testing

@Suite("The library and the service", .timeLimit(.minutes(10)))
struct LibraryTests {
    private func code(_ body: () async throws -> Void) async -> CSIndexError.Code? {
        do { try await body() } catch { return (error as? CSIndexError)?.code ?? .unknownError }
        return nil
    }

    @Test("Donated items are found, and deleted ones are not")
    func donations() async throws {
        let service = try await TestService()
        let app = LibraryApp(store: service.store)
        let index = app.index()
        try await index.indexSearchableItems((0..<300).map { LibraryApp.item("note \($0)") })
        #expect(try await app.found("title == 'note *'").count == 300)
        try await index.deleteSearchableItems(withIdentifiers: ["note 7"])
        #expect(try await !app.found("title == 'note*'").contains("note 7"))
        let other = LibraryApp(store: service.store, bundle: "com.example.other")
        #expect(try await other.found("title == '*'").isEmpty)
        try await index.deleteAllSearchableItems()
        #expect(try await app.found("title == '*'").isEmpty)
        await service.stop()
    }

    @Test("A batch and its client state are stored together, or not at all")
    func batches() async throws {
        let service = try await TestService()
        let app = LibraryApp(store: service.store)
        let index = app.index("notes")
        #expect(try await index.fetchLastClientState().isEmpty)
        index.beginBatch()
        try await index.indexSearchableItems([LibraryApp.item("a"), LibraryApp.item("b")])
        #expect(try await app.found("title == '*'").isEmpty)
        try await index.endIndexBatch(expectedClientState: nil, newClientState: Data([1]))
        #expect(try await app.found("title == '*'") == ["a", "b"])
        index.beginBatch()
        try await index.deleteAllSearchableItems()
        let mismatch = await code {
            try await index.endIndexBatch(expectedClientState: nil, newClientState: Data([2]))
        }
        #expect(mismatch == .mismatchedClientState)
        #expect(try await app.found("title == '*'") == ["a", "b"])
        #expect(try await index.fetchLastClientState() == Data([1]))
        await service.stop()
    }

    @Test("A restarted service continues where it was, and clients do not notice")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let first = try await TestService(folder: folder)
        let app = LibraryApp(store: first.store)
        try await app.index().indexSearchableItems([LibraryApp.item("before")])
        await first.stop()
        async let during: Void = app.index().indexSearchableItems([LibraryApp.item("during")])
        let second = try await TestService(folder: folder)
        try await during
        #expect(try await app.found("title == '*'") == ["before", "during"])
        await second.stop()
    }

    @Test("Without a service the error says how to start it")
    func noService() async throws {
        let folder = try TemporaryFolder()
        let app = LibraryApp(store: folder.path("nowhere"))
        let error = await #expect(throws: CSIndexError.self) {
            try await app.index().deleteAllSearchableItems()
        }
        #expect(error?.code == .remoteConnectionError)
        #expect(error?.localizedDescription.contains("searchlightd") == true)
        let query = await #expect(throws: CSSearchQueryError.self) { _ = try await app.found("title == '*'") }
        #expect(query?.code == .indexUnreachable)
    }

    @Test("An invalid query is rejected with the position")
    func badQuery() async throws {
        let service = try await TestService()
        let app = LibraryApp(store: service.store)
        let error = await #expect(throws: CSSearchQueryError.self) { _ = try await app.found("title ==") }
        #expect(error?.code == .invalidQuery && error?.localizedDescription.isEmpty == false)
        await service.stop()
    }

    @Test("The delegate gets its pending reindex once the service is back, and completes it")
    func delegate() async throws {
        let folder = try TemporaryFolder()
        let first = try await TestService(folder: folder)
        let app = LibraryApp(store: first.store)
        let delegate = LibraryDelegate(["a", "b"])
        let index = app.index()
        index.indexDelegate = delegate
        try await index.indexSearchableItems([LibraryApp.item("a"), LibraryApp.item("b")])
        await first.stop()
        try #require(unlink(folder.path("store/index.sqlite")) == 0)
        _ = unlink(folder.path("store/index.sqlite-wal"))
        _ = unlink(folder.path("store/index.sqlite-shm"))
        let second = try await TestService(folder: folder)
        // The service receives no request: the delegate alone makes the app connect again.
        #expect(await eventually { delegate.requests.withLock { $0.contains("all") } })
        #expect(try await app.found("title == '*'") == ["a", "b"])
        await second.stop()
    }

    @Test("The promises of an item are requested from the running app, large and small, as data and as a file")
    func promises() async throws {
        let service = try await TestService()
        let app = LibraryApp(store: service.store)
        let (empty, full) = (app.index("empty"), app.index())
        let without = LibraryDelegate([])
        let delegate = LibraryDelegate([], data: Data(repeating: 7, count: 3 << 20))
        (empty.indexDelegate, full.indexDelegate) = (without, delegate)
        try await full.indexSearchableItems([LibraryApp.item("a"), LibraryApp.item("broken")])
        let other = LibraryApp(store: service.store, bundle: "com.example.other")
        let data = try await other.fetch("a")
        #expect(data == Data(repeating: 7, count: 3 << 20))
        // A released delegate is ignored, and the last remaining delegate still gets requests.
        full.indexDelegate = nil
        let gone = await code {
            _ = try await other.fetch("a")
        }
        #expect(gone == .invalidItemError)
        // The service also requests the missing item from this delegate.
        #expect(without.requests.withLock { $0.contains("data a") })
        withExtendedLifetime((delegate, empty)) {}
        await service.stop()
    }
}
