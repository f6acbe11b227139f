// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SearchlightEngine
import TestSupport
import Testing

@testable import SearchlightEngine

/// Workers that yield to all other processes.
@Suite("A background worker", .timeLimit(.minutes(10)))
struct BackgroundWorkerTests {
    private let harness: Harness
    /// SCHED_IDLE of <sched.h>, which Swift does not import.
    private static let idle: Int32 = 5

    init() throws { harness = try Harness() }

    private var reports: [SandboxReport] {
        harness.recordedEvents.compactMap { if case .confined(_, let report) = $0 { report } else { nil } }
    }

    @Test("runs in the idle classes, cannot leave them, and reports them; a worker for the user does not")
    func classes() async throws {
        let bundle = try harness.installBackground("classes 1")
        try await harness.withEngine { engine async throws in
            _ = try await engine.host.reindexAll(bundle, origin: .background)
            let report = try #require(reports.first)
            let measures = try #require(report.background)
            #expect(measures.union(try #require(report.backgroundMissing)) == .all)
            // Every supported kernel provides these measures.
            #expect(measures.isSuperset(of: [.processor, .disk, .timers, .memory]))
            #expect(harness.messages.contains("classes: scheduler 5, disk 3, slack 50000000, oom 500"))
            #expect(harness.messages.contains("left: 0 0 0"))
            let worker = harness.lastWorker.identifier
            #expect(getsid(worker) == worker && sched_getscheduler(worker) == Self.idle)
            if let group = try? String(contentsOfFile: "/proc/\(worker)/autogroup", encoding: .utf8) {
                #expect(group.contains("nice 19") && measures.contains(.session), "\(group)")
            }
            _ = try await engine.data(of: "x", as: "public.utf8-plain-text", bundle: bundle)
            let other = harness.lastWorker.identifier
            #expect(other != worker && sched_getscheduler(other) == SCHED_OTHER && getsid(other) == getsid(0))
            #expect(reports.last?.background == nil)
            #expect(Set(engine.host.processIdentifiers) == [worker, other])
        }
        #expect(try await harness.statusOfAnother().sandbox.history.bundles[bundle]?.report?.background != nil)
    }

    @Test("that cannot have a session of its own does not slow down others, and reports it")
    func withoutSession() async throws {
        let bundle = try harness.installBackground("classes 1")
        let engine = try harness.engine { $0.hasBackgroundSessions = false }
        _ = try await engine.host.reindexAll(bundle, origin: .background)
        #expect(reports.first?.backgroundMissing == .session)
        if let own = try? String(contentsOfFile: "/proc/self/autogroup", encoding: .utf8) {
            #expect(!own.contains("nice 19"))
        }
        await engine.close()
    }

    @Test("takes no slot of the user's requests, and at most two run")
    func places() async throws {
        let bundles = try (0..<3).map { number in
            let identifier = "com.example.number-\(number)"
            try harness.install(identifier, library: try CFixture.library("background"))
            try Data("spins\n".utf8)
                .write(to: URL(filePath: harness.marks + "/\(identifier).searchext.mode"))
            return identifier
        }
        var limits = WorkerConfiguration.Limits.patient
        (limits.workers, limits.reserve) = (1, 0)
        try await harness.withEngine(limits: limits) { engine async throws in
            let busy = bundles.prefix(2).map { bundle in
                Task { try await engine.host.reindexAll(bundle, origin: .background) }
            }
            await harness.wait(forMessage: "working", count: 2)
            let error = await #expect(throws: ExtensionError.self) {
                try await engine.host.reindexAll(bundles[2], origin: .background)
            }
            guard case .workerUnavailable? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            _ = try await engine.data(of: "x", as: "public.utf8-plain-text", bundle: bundles[2])
            #expect(await engine.host.workerCount == 3)
            for bundle in bundles { await engine.host.endBackground(bundle) }
            for task in busy { await #expect(throws: ExtensionError.cancelled) { try await task.value } }
        }
    }

    @Test("is kept for a moment only, and its cost is reported at its end")
    func cost() async throws {
        let bundle = try harness.installBackground("ignoring 20")
        let clock = ManualClock()
        var limits = WorkerConfiguration.Limits.patient
        limits.backgroundLinger = .seconds(2)
        try await harness.withEngine(limits: limits, clock: clock) { engine async throws in
            #expect(engine.host.usage(of: bundle, for: .background) == nil)
            _ = try await engine.host.reindexAll(bundle, origin: .background)
            let first = try #require(engine.host.usage(of: bundle, for: .background))
            #expect(first.cpu > 0 && first.wakeUps > 0)
            // Data that the host writes on behalf of the worker is counted too.
            #expect(first.written >= 20)
            await clock.waitForSleepers()
            clock.advance(by: .seconds(2))
            await engine.wait(forWorkers: 0)
            while !engine.host.processIdentifiers.isEmpty { await Task.yield() }
            let ended = try #require(engine.host.usage(of: bundle, for: .background))
            #expect(ended.cpu >= first.cpu && ended.wakeUps >= first.wakeUps && ended.written >= first.written)
            _ = try await engine.host.reindexAll(bundle, origin: .background)
            let second = try #require(engine.host.usage(of: bundle, for: .background))
            #expect(second.cpu > ended.cpu && second.wakeUps > ended.wakeUps)
            // Requests from the user are accounted separately.
            #expect(engine.host.usage(of: bundle, for: .person) == nil)
            _ = try await engine.data(of: "x", as: "public.utf8-plain-text", bundle: bundle)
            #expect(try #require(engine.host.usage(of: bundle, for: .person)).cpu > 0)
            #expect(harness.startedWorkers == 3)
        }
    }
}
