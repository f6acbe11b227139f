// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Promises
import SearchlightEngine
import Testing

@testable import IdleScheduling

/// An extension that fails again and again, with real workers.
@Suite("An extension that keeps failing", .timeLimit(.minutes(10)))
struct SupervisionQuarantineTests {
    private let harness: Harness
    private let bundle: String

    init() throws {
        harness = try Harness()
        bundle = try harness.installFixture("by-name")
    }

    private func crash(_ engine: SearchlightEngine, _ item: String = "crash") async {
        let error = await #expect(throws: EngineError.self) {
            _ = try await engine.data(of: item, as: "public.utf8-plain-text", bundle: bundle)
        }
        guard case .extension(.crashed)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// The first request, made twice, loses two workers; the second loses one.
    private func crashIntoQuarantine(_ engine: SearchlightEngine) async throws {
        await crash(engine)
        #expect(engine.health(of: bundle).quarantine == nil)
        await crash(engine, "crash again")
        #expect(engine.health(of: bundle).quarantine != nil)
    }

    private func works(_ engine: SearchlightEngine) async throws {
        let payload = try await engine.data(of: "fine", as: "public.utf8-plain-text", bundle: bundle)
        #expect(try Delivery.collect(payload, limit: 100) == Array("fine".utf8))
    }

    private func quarantine(_ body: () async throws -> Void) async -> ExtensionHealth.Quarantine? {
        let error = await #expect(throws: EngineError.self) { try await body() }
        guard case .extension(.quarantined(bundle, let quarantine))? = error else {
            Issue.record("\(String(describing: error))")
            return nil
        }
        return quarantine
    }

    @Test("gets no requests after three crashes, even from other processes, until it is released")
    func released() async throws {
        try await harness.withEngine { engine async throws in
            try await crashIntoQuarantine(engine)
            let quarantine = await quarantine { _ = try await engine.reindexAll(bundle) }
            #expect(quarantine?.evidence.exit == .signalled(SIGABRT))
            #expect(quarantine?.evidence.lastOutput == ["last words about crash again"])
            // The record names no item.
            #expect(quarantine?.evidence.during == "provide an item as data of type public.utf8-plain-text")
            // The reindex stays pending and was not tried.
            #expect(engine.owedWork(for: bundle)?.work == .reindexAll)
            #expect(engine.owedWork(for: bundle)?.failures == 0)
        }
        #expect(harness.recordedEvents.count { if case .quarantined(bundle, _) = $0 { true } else { false } } == 1)
        #expect(harness.startedWorkers == 3)
        try await harness.withEngine { engine async throws in
            _ = await quarantine { try await works(engine) }
            #expect(harness.startedWorkers == 3)
            let before = try await engine.release(bundle)
            #expect(before.quarantine != nil && engine.health(of: bundle).isBlank)
            try await works(engine)
            #expect(try await engine.reindexOwed(bundle) == 1)
            await crash(engine)
        }
    }

    @Test("gets requests again after it was replaced", arguments: ["library.so", "Info.plist"])
    func replaced(file: String) async throws {
        try await harness.withEngine { engine async throws in
            try await crashIntoQuarantine(engine)
            _ = await quarantine { try await works(engine) }
            let path = URL(filePath: harness.extensions + "/\(bundle).searchext/\(file)")
            try Data(contentsOf: path).write(to: path, options: .atomic)
            try await works(engine)
            #expect(engine.health(of: bundle).isBlank)
        }
    }

    @Test("is reported with the remedy and its last output")
    func message() async throws {
        try await harness.withEngine { engine async throws in
            try await crashIntoQuarantine(engine)
            let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            let text = try #require(error).description
            #expect(text.contains("searchlight extensions release \(bundle)"))
            #expect(text.contains("  | last words about crash again"))
            #expect(text.contains("3 workers within 5 minutes"))
        }
    }

    @Test("gets no requests for a while, except from the user, and not after a success")
    func backOff() async throws {
        try await harness.withEngine { engine async throws in
            try Data("crash".utf8).write(to: URL(filePath: harness.extensions + "/\(bundle).searchext/mode"))
            await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            let failures = engine.owedWork(for: bundle)?.failures
            let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexOwed(bundle) }
            guard case .extension(.backingOff(bundle, let backOff, _))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(backOff.failures == 2)
            #expect(engine.owedWork(for: bundle)?.failures == failures)
            try Data("fine".utf8).write(to: URL(filePath: harness.extensions + "/\(bundle).searchext/mode"))
            #expect(try await engine.reindexAll(bundle) == 1)
            #expect(engine.health(of: bundle).backOff == nil)
            try await engine.reindexItems(["fine"], of: bundle, origin: .background)
        }
    }

    @Test("and is disabled is not used, keeps its items and jobs, and is used again after that")
    func disabled() async throws {
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            try await engine.setEnabled(false, bundle)
        }
        try await harness.withEngine { engine async throws in
            let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            #expect(error == .extension(.disabled(identifier: bundle)))
            #expect(try await engine.itemCounts() == [bundle: 1])
            #expect(engine.owedWork(for: bundle)?.work == .reindexAll)
            let release = try await engine.release(bundle)
            #expect(release.isDisabled && engine.health(of: bundle).isDisabled)
            try await engine.setEnabled(true, bundle)
            #expect(try await engine.reindexOwed(bundle) == 1)
            let unknown = await #expect(throws: EngineError.self) {
                try await engine.setEnabled(false, "com.example.nobody")
            }
            guard case .extension(.notFound)? = unknown else {
                Issue.record("\(String(describing: unknown))")
                return
            }
        }
    }

    @Test("because of its memory is reported with its own limit")
    func memory() async throws {
        // The kernel counts memory from before a process became a worker, so the test starts from a
        // small process.
        let command = Command(harness: try Harness())
        try command.harness.install(
            bundle, library: try CFixture.library("by-name"),
            manifest: ["Searchlight": ["MemoryLimit": 128 << 20]])
        let path = command.harness.extensions + "/\(bundle).searchext/mode"
        try Data("eat".utf8).write(to: URL(filePath: path))
        let (status, output) = try command("reindex", bundle)
        #expect(status == 7)
        #expect(output.contains("exceeded its memory limit of 128 MiB"), "\(output)")
        #expect(output.contains("MemoryLimit"))
        // The request was not retried, because it would fail in the same way again.
        try await command.harness.withEngine { engine async throws in
            #expect(engine.health(of: bundle).failures.map(\.kind) == [.memoryExceeded])
        }
    }

    @Test("waits as long as its jobs do")
    func sameBackOff() {
        for failures in 0..<40 {
            #expect(HealthPolicy().delay(afterFailures: failures) == Backoff.delay(afterFailures: failures))
        }
    }
}
