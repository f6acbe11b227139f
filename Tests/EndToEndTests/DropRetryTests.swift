// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Promises
import SearchlightEngine
import Testing

/// Crashes during a drop: one retry in total, no matter which component retries.
@Suite("A drop whose worker crashes", .timeLimit(.minutes(10)))
struct DropRetryTests {
    private static let bundle = "com.example.drops"
    private static let promise = Representation(type: "public.utf8-plain-text", form: .data)

    private func withDrops(_ body: (Harness, SearchlightEngine) async throws -> Void) async throws {
        let harness = try Harness()
        try harness.install(Self.bundle, library: try CFixture.library("drops"))
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(Self.bundle)
            try await body(harness, engine)
        }
    }

    @Test("is repeated once, and the caller is notified")
    func retried() async throws {
        try await withDrops { harness, engine in
            let item = try await engine.item(named: "once-1")
            let provided = try await engine.provide(Self.promise, of: item, mayRetry: true)
            #expect(provided.wasRetried)
            #expect(harness.retries == 1)
            let again = try await engine.provide(Self.promise, of: item, mayRetry: true)
            #expect(!again.wasRetried)
        }
    }

    @Test("is not repeated if it was already")
    func notRetried() async throws {
        try await withDrops { harness, engine in
            let item = try await engine.item(named: "once-1")
            let error = await #expect(throws: EngineError.self) {
                _ = try await engine.provide(Self.promise, of: item, mayRetry: false)
            }
            guard case .extension(.crashed)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(harness.retries == 0)
        }
    }

    @Test("is a crash after two attempts, and leaves nothing")
    func always() async throws {
        try await withDrops { harness, engine in
            let path = harness.folder + "/drop"
            let item = try await engine.item(named: "crash-1")
            let error = await #expect(throws: EngineError.self) {
                _ = try await engine.drag(item, accepted: ["public.text"], to: .file(path: path))
            }
            #expect(error.map(DragFailure.Kind.init) == .crashed)
            #expect(harness.retries == 1)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}
