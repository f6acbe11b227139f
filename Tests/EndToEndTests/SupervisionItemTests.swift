// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import IdleScheduling
import SearchlightEngine
import TestSupport
import Testing

/// Items that make an extension fail.
@Suite("An item that makes its extension fail", .timeLimit(.minutes(10)))
struct SupervisionItemTests {
    private let harness: Harness
    private let bundle: String

    init() throws {
        harness = try Harness()
        bundle = try harness.installFixture("by-name")
    }

    private func setAside(_ engine: SearchlightEngine) -> Set<String> {
        Set(engine.itemsSetAside(of: bundle).map(\.identifier))
    }

    @Test("is found among others and skip-listed alone; this does not count as crashes of the extension")
    func one() async throws {
        try await harness.withEngine { engine async throws in
            let good = Set((0..<40).map { "good \($0)" })
            try await engine.reindexItems(good.union(["crash"]), of: bundle)
            #expect(Set(try await engine.identifiers(bundle)) == good)
            #expect(setAside(engine) == ["crash"])
            #expect(engine.owedJobs.isEmpty)
            let health = engine.health(of: bundle)
            #expect(health.quarantine == nil && health.failures.isEmpty && health.backOff == nil)
            #expect(health.itemsSetAside.first?.reason.contains("signal 6") == true)
            let told = harness.recordedEvents.compactMap { event in
                if case .setAside(bundle, let item, _) = event { item } else { nil }
            }
            #expect(told == ["crash"] && harness.retries == 1)

            // Only the user requests the item, or the host after a release.
            let workers = harness.startedWorkers
            try await engine.reindexItems(["crash", "good 1"], of: bundle, origin: .background)
            // In the background a separate worker serves the other item.
            #expect(harness.startedWorkers == workers + 1 && engine.owedJobs.isEmpty)
            try await engine.release(bundle)
            #expect(engine.owedWork(for: bundle)?.work == .reindexItems(["crash"]))
            #expect(setAside(engine).isEmpty)
        }
    }

    @Test("and several others do too, each in its own way")
    func several() async throws {
        let clock = ManualClock()
        harness.endHangs(by: clock)
        try await harness.withEngine(clock: clock) { engine async throws in
            let good = Set((0..<20).map { "good \($0)" })
            try await engine.reindexItems(good.union(["crash 1", "crash 2", "exit", "hang"]), of: bundle)
            #expect(Set(try await engine.identifiers(bundle)) == good)
            #expect(setAside(engine) == ["crash 1", "crash 2", "exit", "hang"])
            #expect(engine.health(of: bundle).failures.isEmpty)
        }
    }

    @Test("alone is skip-listed too, and counts as one failure, because the cause is unknown")
    func alone() async throws {
        try await harness.withEngine { engine async throws in
            try await engine.reindexItems(["crash"], of: bundle)
            #expect(setAside(engine) == ["crash"])
            #expect(engine.health(of: bundle).failures.map(\.kind) == [.crashed])
            // An item that the user names is tried. It did no harm this time.
            try await engine.reindexItems(["crash", "good"], of: bundle)
            #expect(setAside(engine) == ["crash"])
        }
        #expect(harness.startedWorkers > 2)
    }

    @Test("is removed from the skip list by a reindex of everything")
    func everything() async throws {
        try await harness.withEngine { engine async throws in
            try await engine.reindexItems(["crash", "good"], of: bundle)
            #expect(setAside(engine) == ["crash"])
            _ = try await engine.reindexAll(bundle)
            #expect(setAside(engine).isEmpty)
        }
    }

    @Test("is not blamed if all fail: then the extension is at fault, and its jobs stay pending")
    func all() async throws {
        try await harness.withEngine { engine async throws in
            let items = Set((0..<40).map { "crash \($0)" })
            for round in 1...3 {
                let error = await #expect(throws: EngineError.self) {
                    try await engine.reindexItems(items, of: bundle)
                }
                guard case .extension(.crashed)? = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(setAside(engine).isEmpty)
                #expect(engine.owedWork(for: bundle)?.failures == round)
                #expect((engine.health(of: bundle).quarantine != nil) == (round == 3))
            }
        }
    }

    @Test("does not hide a refusal by the extension")
    func refuses() async throws {
        try await harness.withEngine { engine async throws in
            let error = await #expect(throws: EngineError.self) {
                try await engine.reindexItems(["good", "refuse"], of: bundle)
            }
            guard case .extension(.failed(_, _, .failed, "not today"))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(harness.startedWorkers == 1 && engine.health(of: bundle).isBlank)
        }
    }
}
