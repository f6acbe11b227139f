// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import ExtensionHost
import Foundation
import Previews
import Promises
import SearchIndex
import SearchlightEngine
import Testing

/// The path of a correct C extension, with the real worker and store, and also loaded into this
/// process, as for a debugger.
@Suite("A native extension", .timeLimit(.minutes(10)))
struct NativeExtensionTests {
    @Test("is found, reindexed and searched", arguments: [false, true])
    func reindexAndSearch(inProcess: Bool) async throws {
        let harness = try Harness(inProcess: inProcess)
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            #expect(engine.registry.extensions.map(\.identifier) == [bundle])
            #expect(try await engine.reindexAll(bundle) == 3)
            #expect(engine.owedJobs.isEmpty)
            let (hits, total) = try await engine.search("beta she", bundle: nil, limit: 10)
            #expect(total == 1)
            let item = try #require(hits.first?.item)
            #expect(item.record.uniqueIdentifier == "beta")
            #expect(item.scope.bundle == bundle)
            #expect(item.record.attributes["pageCount"] == .integer(2))
            #expect(item.record.attributes["rankingHint"] == .double(12.5))
            #expect(item.record.attributes["userCreated"] == .boolean(true))
            #expect(item.record.attributes["contentCreationDate"] == .date(0))
            #expect(item.record.attributes["thumbnailData"] == .data([0x89, 0x50, 0x4E, 0x47]))
            #expect(item.record.texts("keywords") == ["stationery", "paper"])
            #expect(item.record.traits == ["com_example_binding": [.searchable, .searchableByDefault]])
            let bound = try await engine.search("spiral", bundle: nil, limit: 10)
            #expect(bound.hits.map(\.item.record.uniqueIdentifier) == ["beta"])
        }
        #expect(harness.messages == ["three sheets"])
    }

    @Test(
        "makes a batch and its client state durable together, and learns that the state is another",
        arguments: [false, true])
    func batches(inProcess: Bool) async throws {
        let harness = try Harness(inProcess: inProcess)
        let bundle = try harness.installFixture("batches")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 4)
            let scope = IndexScope(bundle: bundle, index: "notes")
            #expect(try await engine.clientState(of: scope) == Array("first".utf8))
            #expect(try await engine.search("note-2", bundle: bundle, limit: 10).hits.count == 1)
        }
        #expect(
            Set(harness.messages) == [
                "long state: 7", "bad expectation: 5", "no name: 5", "no completion: 5", "too large: 7", "none: 0",
                "committed: 0", "state: 0 first", "expected another state: 8",
            ])
    }

    @Test("is reindexed twice with the same result", arguments: [false, true])
    func reindexTwice(inProcess: Bool) async throws {
        let harness = try Harness(inProcess: inProcess)
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            let first = try await engine.item(named: "alpha").record
            #expect(try await engine.reindexAll(bundle) == 3)
            #expect(try await engine.item(named: "alpha").record == first)
        }
    }

    @Test("fulfils a small data promise, chosen by conformance", arguments: [false, true])
    func smallData(inProcess: Bool) async throws {
        let harness = try Harness(inProcess: inProcess)
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            let item = try await engine.item(named: "alpha", bundle: bundle)
            let path = harness.folder + "/drop.txt"
            // Plain text is preferred, since HTML conforms only to text.
            let dropped = try await engine.drag(
                item, accepted: ["public.plain-text", "public.text"], to: .file(path: path))
            #expect(dropped.representation == Representation(type: "public.utf8-plain-text", form: .data))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "alpha as public.utf8-plain-text")
        }
    }

    @Test("fulfils a promise of three megabytes through a stream", arguments: [false, true])
    func largeData(inProcess: Bool) async throws {
        let harness = try Harness(inProcess: inProcess)
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            let path = harness.folder + "/drop.html"
            let item = try await engine.item(named: "beta")
            let dropped = try await engine.drag(item, accepted: ["public.html"], to: .file(path: path))
            #expect(dropped.bytes == 3 << 20)
            let data = try Data(contentsOf: URL(filePath: path))
            #expect(data.count == 3 << 20)
            #expect(data.enumerated().allSatisfy { Int($0.element) == $0.offset % 251 })
        }
    }

    @Test("fulfils a file promise, and its own file is removed")
    func file() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            let path = harness.folder + "/drop.rtf"
            let item = try await engine.item(named: "alpha")
            let dropped = try await engine.drag(item, accepted: ["public.rtf"], to: .file(path: path))
            #expect(dropped.representation == Representation(type: "public.rtf", form: .file))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "{\\rtf1 alpha}")
        }
    }

    @Test("refuses by name, and no file appears", arguments: [false, true])
    func refusals(inProcess: Bool) async throws {
        let harness = try Harness(inProcess: inProcess)
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            let path = harness.folder + "/nothing"
            let gone = try await engine.item(named: "gamma")
            let notFound = await #expect(throws: EngineError.self) {
                _ = try await engine.drag(gone, accepted: ["public.html"], to: .file(path: path))
            }
            guard case .extension(.failed(_, _, .notFound, "gamma was torn out"))? = notFound else {
                Issue.record("\(String(describing: notFound))")
                return
            }
            // The host requests a missing item once more, to confirm that it is gone.
            let owed = engine.owedWork(for: bundle)
            #expect(owed?.work == .reindexItems(["gamma"]) && owed?.cause == .foundGone)
            let unsupported = await #expect(throws: EngineError.self) {
                _ = try await engine.drag(gone, accepted: ["public.image"], to: .file(path: path))
            }
            guard case .promise(.unsupportedType)? = unsupported else {
                Issue.record("\(String(describing: unsupported))")
                return
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: harness.folder)
            #expect(!names.contains { $0.contains("nothing") })
        }
    }

    @Test("renders previews under a content policy, or leaves it to the attributes", arguments: [false, true])
    func previews(inProcess: Bool) async throws {
        let harness = try Harness(inProcess: inProcess)
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            let rendered = try await engine.preview(of: try await engine.item(named: "alpha"), query: "ruled")
            #expect(rendered.source == .extension)
            #expect(rendered.title == "A sheet")
            let html = String(decoding: rendered.content, as: UTF8.self)
            #expect(html.hasPrefix("<!DOCTYPE html><html><head>" + ContentPolicy.metaElement))
            #expect(html.hasSuffix("<body><p>alpha <mark>ruled</mark></p></body></html>"))
            #expect(rendered.removals == [Removal(kind: .script, count: 1, example: "script")])
            let fallback = try await engine.preview(of: try await engine.item(named: "gamma"), query: "ruled")
            #expect(fallback.source == .attributes)
            #expect(fallback.problem == "gamma cannot be shown")
            #expect(String(decoding: fallback.content, as: UTF8.self).contains("<mark>ruled</mark> paper"))
        }
    }

    @Test("may be removed: its items stay findable, and a drop reports the missing extension")
    func removed() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        try await harness.withEngine { engine async throws in _ = try await engine.reindexAll(bundle) }
        try FileManager.default.removeItem(atPath: harness.extensions + "/\(bundle).searchext")
        try await harness.withEngine(.readOnly) { engine async throws in
            let item = try await engine.item(named: "alpha")
            let error = await #expect(throws: EngineError.self) {
                _ = try await engine.drag(item, accepted: ["public.html"], to: .file(path: harness.folder + "/x"))
            }
            guard case .extension(.notFound)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try await engine.preview(of: item, query: nil).source == .attributes)
        }
    }
}
