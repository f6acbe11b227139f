// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Foundation
import SearchlightEngine
import TestSupport
import Testing

@Suite("Protected indexes in the library", .timeLimit(.minutes(10)))
struct ProtectedLibraryTests {
    private func code(_ body: () async throws -> Void) async -> CSIndexError.Code? {
        do { try await body() } catch { return (error as? CSIndexError)?.code ?? .unknownError }
        return nil
    }

    @Test("An app finds its protected items while the store is unlocked, and gets Apple's error while it is locked")
    func wholeWay() async throws {
        let service = try await TestService()
        let app = LibraryApp(store: service.store)
        let index = app.index("health", protectionClass: .complete)
        let open = app.index("inbox", protectionClass: .completeUnlessOpen)
        #expect(await code { try await index.indexSearchableItems([LibraryApp.item("a")]) } == .indexUnavailableError)
        let user = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        _ = try await user.perform(UnlockCall(passphrase: Array("correct horse".utf8), creates: true))
        index.beginBatch()
        try await index.indexSearchableItems([LibraryApp.item("a")])
        try await index.endIndexBatch(expectedClientState: nil, newClientState: Data([5]))
        try await open.indexSearchableItems([LibraryApp.item("b")])
        try await app.index("plain", protectionClass: .none).indexSearchableItems([LibraryApp.item("c")])
        #expect(try await app.found("title == '*'") == ["a", "b", "c"])
        for (classes, names) in [
            ([.complete], ["a"]), ([.completeUnlessOpen], ["b"]), ([.completeUntilFirstUserAuthentication], ["c"]),
            ([], ["a", "b", "c"]), ([.none, .complete], ["a", "c"]),
        ] as [([FileProtectionType], Set<String>)] {
            #expect(try await app.found("title == '*'", classes: classes) == names)
        }
        #expect(CSSearchQuery(queryString: "x", attributes: nil).protectionClasses.count == 1)
        #expect(try await index.fetchLastClientState() == Data([5]))
        #expect(try await user.perform(LockCall()))
        #expect(try await app.found("title == '*'") == ["c"])
        #expect(await code { try await index.indexSearchableItems([LibraryApp.item("d")]) } == .indexUnavailableError)
        #expect(await code { _ = try await index.fetchLastClientState() } == .indexUnavailableError)
        try await open.indexSearchableItems([LibraryApp.item("e")])
        #expect(try await app.found("title == '*'") == ["c"])
        _ = try await user.perform(UnlockCall(passphrase: Array("correct horse".utf8), creates: false))
        #expect(try await app.found("title == '*'") == ["a", "b", "c", "e"])
        await user.close()
        await service.stop()
    }
}
