// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchIndex

/// Checks a store that no engine has open, and repairs it if asked to. ``SearchlightEngine/verify(progress:)`` checks an open one.
package struct StoreCheck: Sendable {
    private let configuration: EngineConfiguration

    /// What came of a repair.
    package struct Repair: Sendable, Codable {
        /// What was done, a sentence each.
        package var done: [String]
        /// What a check finds afterwards.
        package var after: VerificationReport
    }

    /// A check of the store of a configuration.
    package init(_ configuration: EngineConfiguration) { self.configuration = configuration }

    /// Checks everything; changes nothing. Nobody else may change the store meanwhile. Blocks.
    ///
    /// - Parameter progress: Told how many items have been looked at, now and then.
    package func verify(progress: (Int) -> Void = { _ in }) throws(EngineError) -> VerificationReport {
        let directory = configuration.storeDirectory
        guard FileManager.default.fileExists(atPath: directory) else { throw .index(.noStore(path: directory)) }
        try StoreInspection.check(directory)
        let lock = try lockIfPossible()
        defer { lock?.release() }
        do throws(SearchIndexError) {
            var report = try StoreVerifier(directory: directory).verify(progress: progress)
            report.checkJobs(in: directory)
            return report
        } catch {
            throw .index(error)
        }
    }

    /// Opens the store so that everything is checked and mended, and checks it again.
    package func repair(progress: (Int) -> Void = { _ in }) async throws(EngineError) -> Repair {
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
}

extension SearchlightEngine {
    /// Checks everything in the store, as ``StoreCheck/verify(progress:)`` does, while it is used: nothing waits for that.
    ///
    /// - Parameter progress: Told how many items have been checked, now and then.
    /// - Throws: ``EngineError``; ``EngineError/query(_:)`` if the task was cancelled.
    package func verify(
        progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(EngineError) -> VerificationReport {
        let directory = configuration.storeDirectory
        try StoreInspection.check(directory)
        do throws(SearchIndexError) {
            guard var report = try await index.verify(progress: progress) else { throw .closed }
            report.checkJobs(in: directory)
            return report
        } catch {
            throw Task.isCancelled ? .query(.cancelled) : .index(error)
        }
    }
}

extension VerificationReport {
    fileprivate mutating func checkJobs(in directory: String) {
        let jobs = JobStore(directory: directory)
        let part = "jobs.json"
        if jobs.wasDamaged {
            findings.append(.init(part: part, problem: "it cannot be read", repair: .oweEverything))
        } else if jobs.wasMissing {
            findings.append(.init(part: part, problem: "it is missing", repair: .oweEverything))
        }
        checks.append(.init(what: "list of owed jobs", count: jobs.jobs.count))
    }
}
