// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchlightEngine
import TestSupport
import Testing

/// Extensions that stop on request, and report their progress.
@Suite("A cooperative extension", .timeLimit(.minutes(10)))
struct SupervisionCooperationTests {
    private let harness: Harness
    private let bundle: String
    private let clock = ManualClock()

    init() throws {
        harness = try Harness()
        bundle = try harness.installFixture("by-name")
    }

    private func data(_ item: String, _ engine: SearchlightEngine) async throws {
        _ = try await engine.data(of: item, as: "public.utf8-plain-text", bundle: bundle)
    }

    @Test("keeps its worker when a request is cancelled", arguments: [true, false])
    func cancelled(isReindex: Bool) async throws {
        try Data("wait".utf8).write(to: URL(filePath: harness.extensions + "/\(bundle).searchext/mode"))
        try await harness.withEngine(clock: clock) { engine async throws in
            let asking = Task {
                if isReindex { _ = try await engine.reindexAll(bundle) } else { try await data("wait", engine) }
            }
            await harness.wait(forMessage: "waiting")
            asking.cancel()
            let error = await #expect(throws: (any Error).self) { try await asking.value }
            #expect(error as? EngineError == .extension(.cancelled))
            #expect(engine.health(of: bundle).isBlank)
            #expect(engine.owedWork(for: bundle)?.failures == (isReindex ? 0 : nil))
            try await data("good", engine)
            #expect(harness.startedWorkers == 1)
        }
    }

    @Test("that reacts only to the request to end gets no more requests, though it still answers")
    func leaving() async throws {
        var limits = WorkerConfiguration.Limits.patient
        limits.cancelGrace = .seconds(30)
        try await harness.withEngine(limits: limits, clock: clock) { engine async throws in
            let asking = Task { try await data("last", engine) }
            await harness.wait(forMessage: "waiting")
            asking.cancel()
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(30))
            let error = await #expect(throws: (any Error).self) { try await asking.value }
            #expect(error as? EngineError == .extension(.cancelled))
            try await data("good", engine)
            #expect(harness.startedWorkers == 2 && harness.retries == 0)
            #expect(engine.health(of: bundle).isBlank)
        }
    }

    @Test("keeps its worker after a late answer, and gets no background requests for a while")
    func late() async throws {
        var limits = WorkerConfiguration.Limits.patient
        // More than the clock advances.
        limits.cancelGrace = .seconds(600)
        try await harness.withEngine(limits: limits, clock: clock) { engine async throws in
            let asking = Task { try await data("wait", engine) }
            await harness.wait(forMessage: "waiting")
            // The start was a sign of life.
            for _ in 0..<2 {
                await clock.waitForSleepers()
                clock.advance(by: .seconds(60))
            }
            let error = await #expect(throws: (any Error).self) { try await asking.value }
            guard case EngineError.extension(.timedOut)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(engine.health(of: bundle).failures.map(\.kind) == [.late])
            await #expect(throws: EngineError.self) {
                try await engine.reindexItems(["good"], of: bundle, origin: .background)
            }
            try await data("good", engine)
            #expect(harness.startedWorkers == 1 && engine.health(of: bundle).backOff == nil)
        }
    }

    @Test("has its progress reported, at a bounded rate")
    func progress() async throws {
        try await harness.withEngine(clock: clock) { engine async throws in
            try await data("steps", engine)
            let steps = harness.recordedEvents.compactMap { event -> UInt64? in
                guard case .progress(bundle, let completed, 100) = event else { return nil }
                return completed
            }
            // The clock of this test is frozen.
            #expect(steps.count == 1)
        }
    }
}
