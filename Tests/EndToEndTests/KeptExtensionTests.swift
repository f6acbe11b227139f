// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import ExtensionHost
import Foundation
import Promises
import SearchIndex
import SearchlightEngine
import ServiceMessages
import Testing

/// Extensions of revision 1, in `Tests/Fixtures/Revision1` with their original header. Extensions
/// built from them must work indefinitely, and their sources must compile with the current headers.
/// Never change that folder.
@Suite("Extensions of revision 1", .timeLimit(.minutes(10)))
struct KeptExtensionTests {
    @Test("The smallest one is loaded and reindexed, even if its source is compiled again", arguments: [false, true])
    func smallest(isRebuilt: Bool) async throws {
        let harness = try Harness()
        let library = try CFixture.keptLibrary("smallest", isRebuilt: isRebuilt)
        try harness.install("com.example.smallest", library: library)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll("com.example.smallest") == 1)
            try await engine.reindexItems(["only"], of: "com.example.smallest")
            #expect(try await engine.search("only", bundle: nil, limit: 10).total == 1)
        }
    }

    @Test(
        "An extension that uses every interface is served by all of them, even if its source is compiled again",
        arguments: [false, true])
    func everything(isRebuilt: Bool) async throws {
        let harness = try Harness()
        let bundle = "com.example.everything"
        try harness.install(bundle, library: try CFixture.keptLibrary("everything", isRebuilt: isRebuilt))
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
            let alpha = try await engine.item(named: "alpha")
            let beta = try await engine.item(named: "beta")
            #expect(beta.scope == IndexScope(bundle: bundle, index: "named"))
            #expect(try await engine.clientState(of: beta.scope) == Array("kept".utf8))
            #expect(alpha.record.attributes["pageCount"] == .integer(3))
            #expect(alpha.record.traits == ["com_example_kept": [.searchable, .searchableByDefault]])

            guard case .inline(let bytes) = try await engine.data(of: "alpha", as: "public.text", bundle: bundle) else {
                Issue.record("no data")
                return
            }
            #expect(String(decoding: bytes, as: UTF8.self) == "public.text")
            let path = harness.folder + "/dropped"
            _ = try await engine.fulfil(Representation(type: "public.utf8-plain-text", form: .file), of: alpha)
            _ = try await engine.drag(alpha, accepted: ["public.utf8-plain-text"], to: .file(path: path))
            #expect(FileManager.default.fileExists(atPath: path))
            let preview = try await engine.preview(of: alpha, query: nil)
            #expect(preview.title == "Kept" && preview.problem == nil)
            #expect(
                String(decoding: preview.content, as: UTF8.self)
                    .hasSuffix("<p>kept <img></p></body></html>"))
            // The attachment begins with the first four bytes of a picture format, but is not a
            // picture.
            #expect(preview.removals.map(\.kind) == [.unusablePicture, .mistypedAttachment])

            #expect(await engine.throttle(bundle, ThrottleNotice(reason: .battery)))
            #expect(await engine.throttle(bundle, nil))
            try await engine.reindexItems(["alpha"], of: bundle)
            #expect(try await engine.itemCounts()[bundle] == 1)
        }
        #expect(harness.messages == ["first page", "second page", "battery", "faster"])
    }

    @Test("A cancelled preview is ended by its handler, and the worker stays")
    func cancelled() async throws {
        let harness = try Harness()
        let bundle = "com.example.everything"
        try harness.install(bundle, library: try CFixture.keptLibrary("everything"))
        let (waiting, continuation) = AsyncStream.makeStream(of: Void.self)
        harness.listen { event in
            if case .log(_, _, "waits") = event { continuation.yield() }
        }
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            let beta = try await engine.item(named: "beta")
            let preview = Task { try await engine.preview(of: beta, query: nil) }
            for await _ in waiting { break }
            preview.cancel()
            await #expect(throws: EngineError.self) { _ = try await preview.value.source }
            // The same worker answers; no other was started.
            #expect(await engine.throttle(bundle, nil))
        }
        #expect(harness.recordedEvents.count { if case .started = $0 { true } else { false } } == 1)
    }
}
