// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import IdleScheduling
import SearchlightEngine
import TestSupport

/// Requests reindexes of all kinds and runs pending jobs concurrently, until none is pending or the
/// process is killed. Like the extensions (jobs.c), it writes its intentions and results to
/// `marks/jobs.log`, and also to standard output:
///
///     opened                     jobs that extensions need at their opening are recorded
///     want BUNDLE all            is about to be requested, or "want BUNDLE items NAME..."
///     wanted BUNDLE all          is recorded
///     look, looked               items that are about to expire may be requested in between
///     run BUNDLE                 its pending job is about to run
///     struck BUNDLE              the job is removed from the list
struct JobsTrial {
    let folder: String
    let extensions: String
    let worker: String
    let seed: UInt64
    let now: Double

    private static let requests = 24

    func run() async throws {
        let now = now
        // Long limits, since other load on the processors does not make a job fail.
        var limits = WorkerConfiguration.Limits()
        (limits.load, limits.firstSign, limits.place) = (.seconds(60), .seconds(60), .seconds(60))
        var configuration = EngineConfiguration(
            storeDirectory: folder + "/store", access: .readWrite, extensionSearchPath: [extensions],
            worker: WorkerConfiguration(
                workerPath: worker, frameworkFolder: nil, environment: ProcessInfo.processInfo.environment,
                limits: limits), now: { now })
        configuration.tracksExtensions = true
        let engine = try SearchlightEngine(configuration)
        try note("opened")
        let asking = Task { try await ask(engine) }
        let (changes, changed) = AsyncStream.makeStream(of: Void.self)
        engine.onJobsChange { changed.yield() }
        let running = Task {
            for await _ in changes {
                while let job = engine.scheduledJobs().first { try await carryOut(job.key, engine) }
            }
        }
        changed.yield()
        try await asking.value
        changed.finish()
        try await running.value
        // The remaining jobs.
        if let next = engine.nextLook, next <= now { try await look(engine) }
        while let job = engine.scheduledJobs().first { try await carryOut(job.key, engine) }
        guard engine.owedJobs.isEmpty else { throw Failure(description: "pending jobs: \(engine.owedJobs)") }
        await engine.close()
        try note("closed")
    }

    private struct Failure: Error, CustomStringConvertible { let description: String }

    private func carryOut(_ key: ScheduledJob.Key, _ engine: SearchlightEngine) async throws {
        guard let bundle = key.bundle else {
            try await care(key, engine)
            return
        }
        try note("run \(bundle)")
        if try await engine.run(key) != nil { try note("struck \(bundle)") }
    }

    private func ask(_ engine: SearchlightEngine) async throws {
        var random = SplitMix64(seed: seed)
        let bundles = engine.registry.extensions.map(\.identifier)
        for number in 0..<Self.requests {
            let bundle = random.pick(bundles)
            switch random.below(10) {
            case 0: try await look(engine)
            case 1: try await care(.maintenance(random.pick(MaintenanceTask.allCases)), engine)
            case 2, 3:
                try note("want \(bundle) all")
                try engine.owe(.reindexAll, of: bundle, cause: .asked)
                try note("wanted \(bundle) all")
            default:
                // Some names are new, and others have been requested before.
                let names = Set(
                    (0..<(1 + random.below(4))).map {
                        random.below(4) == 0 ? "again-\(random.below(5))" : "n\(seed)-\(number)-\($0)"
                    })
                let text = "\(bundle) items \(names.sorted().joined(separator: " "))"
                try note("want \(text)")
                try engine.owe(.reindexItems(names), of: bundle, cause: random.pick([.asked, .givenBack]))
                try note("wanted \(text)")
            }
            // Sometimes lets other tasks run in between, since the requests would otherwise be
            // merged.
            if random.below(3) > 0 { try await engine.settle() }
        }
    }

    /// Runs a maintenance job. Before a purge, it checks for items that are about to expire.
    private func care(_ key: ScheduledJob.Key, _ engine: SearchlightEngine) async throws {
        try note("look")
        try await engine.run(key)
        try note("looked")
    }

    private func look(_ engine: SearchlightEngine) async throws {
        try note("look")
        try await engine.lookAhead()
        try note("looked")
    }

    private func note(_ text: String) throws {
        let line = Array((text + "\n").utf8)
        let file = open(folder + "/Documents/marks/jobs.log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        guard file >= 0, write(file, line, line.count) == line.count else { throw Failure(description: "no log") }
        _ = write(STDOUT_FILENO, line, line.count)
    }
}
