// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchIndex

/// Checks a store as it is, and mends it if asked to.
public struct StoreCheck: Sendable {
    private let configuration: EngineConfiguration

    /// What came of a repair.
    public struct Repair: Sendable {
        /// What was done, a sentence each.
        public var done: [String]
        /// What a check finds afterwards.
        public var after: VerificationReport
    }

    /// A check of the store of a configuration.
    public init(_ configuration: EngineConfiguration) { self.configuration = configuration }

    /// Checks everything; changes nothing. Nobody else may change the store meanwhile. Blocks.
    ///
    /// - Parameter progress: Told how many items have been looked at, now and then.
    /// - Throws: ``EngineError``.
    public func verify(progress: (Int) -> Void = { _ in }) throws(EngineError) -> VerificationReport {
        let directory = configuration.storeDirectory
        guard FileManager.default.fileExists(atPath: directory) else { throw .index(.noStore(path: directory)) }
        try StoreInspection.check(directory)
        let lock = try lockIfPossible()
        defer { lock?.release() }
        do throws(SearchIndexError) {
            var report = try StoreVerifier(directory: directory).verify(progress: progress)
            report.checks.append(.init(what: "list of owed jobs", count: checkJobs(&report)))
            return report
        } catch {
            throw .index(error)
        }
    }

    /// Opens the store so that everything is checked and mended, and checks it again.
    ///
    /// - Throws: ``EngineError``.
    public func repair(progress: (Int) -> Void = { _ in }) async throws(EngineError) -> Repair {
        let verifier = StoreVerifier(directory: configuration.storeDirectory)
        verifier.requestRepair()
        try StoreInspection.check(configuration.storeDirectory)
        var done = verifier.restrictModes()
        var configuration = configuration
        configuration.access = .readWrite
        let engine = try SearchlightEngine(configuration)
        done += engine.recovery.findings
        for job in engine.jobStore.jobs { done.append("A reindex of \(job.bundle) is owed.") }
        await engine.close()
        return Repair(done: done, after: try verify(progress: progress))
    }

    /// The lock, or none where the store cannot be written, by others neither.
    private func lockIfPossible() throws(EngineError) -> StoreLock? {
        do throws(EngineError) {
            return try StoreLock(directory: configuration.storeDirectory)
        } catch {
            if case .storeFile = error { return nil }
            throw error
        }
    }

    private func checkJobs(_ report: inout VerificationReport) -> Int {
        let jobs = JobStore(directory: configuration.storeDirectory)
        let part = "jobs.json"
        if jobs.wasDamaged {
            report.findings.append(.init(part: part, problem: "it cannot be read", repair: .oweEverything))
        } else if jobs.wasMissing {
            report.findings.append(.init(part: part, problem: "it is missing", repair: .oweEverything))
        }
        return jobs.jobs.count
    }
}
