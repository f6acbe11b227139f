// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Protection
import SearchIndex

/// Checks, and on request repairs, a store that no engine has opened. For an open store, use
/// ``SearchlightEngine/verify(progress:)``.
package struct StoreCheck: Sendable {
    private let configuration: EngineConfiguration

    /// The result of a repair.
    package struct Repair: Sendable, Codable {
        /// The actions, one sentence each.
        package var done: [String]
        /// The findings of a check after the repair.
        package var after: VerificationReport
    }

    /// Creates a check for the store in a configuration.
    package init(_ configuration: EngineConfiguration) { self.configuration = configuration }

    /// Checks everything without changing anything. Blocks. If the store can be written, the check
    /// holds the write lock.
    ///
    /// - Parameter progress: Called from time to time with the number of checked items.
    package func verify(progress: (Int) -> Void = { _ in }) throws(EngineError) -> VerificationReport {
        let directory = configuration.storeDirectory
        guard FileManager.default.fileExists(atPath: directory) else { throw .index(.noStore(path: directory)) }
        try StoreInspection.check(directory)
        let lock = try lockIfPossible()
        defer { lock?.release() }
        do throws(SearchIndexError) {
            var report = try StoreVerifier(directory: directory).verify(progress: progress)
            report.checkJobs(in: directory)
            report.checkProtection(
                ProtectionInspection(store: directory, reads: true, files: configuration.storeHooks.logFiles))
            return report
        } catch {
            throw .index(error)
        }
    }

    /// Opens the store with a full check and repair, then checks it again. The repair may lose
    /// items that no extension can donate again.
    package func repair(progress: (Int) -> Void = { _ in }) async throws(EngineError) -> Repair {
        let verifier = StoreVerifier(directory: configuration.storeDirectory)
        verifier.requestRepair()
        try StoreInspection.check(configuration.storeDirectory)
        var done = verifier.restrictModes()
        var configuration = configuration
        (configuration.access, configuration.acceptsLosses) = (.readWrite, true)
        let engine = try SearchlightEngine(configuration)
        done += engine.recovery.findings
        for job in engine.jobStore.jobs { done.append("A reindex of \(job.bundle) is pending.") }
        await engine.close()
        return Repair(done: done, after: try verify(progress: progress))
    }

    /// Takes the write lock; `nil` if the store cannot be written.
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
    /// Checks everything in the store, like ``StoreCheck/verify(progress:)``, while the store is in
    /// use. Other requests do not wait for the check.
    ///
    /// - Parameter progress: Called from time to time with the number of checked items.
    /// - Throws: ``EngineError``; ``EngineError/query(_:)`` if the task was cancelled.
    package func verify(
        progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(EngineError) -> VerificationReport {
        let directory = configuration.storeDirectory
        try StoreInspection.check(directory)
        do throws(SearchIndexError) {
            guard var report = try await index.verify(progress: progress) else { throw .closed }
            report.checkJobs(in: directory)
            // Donations must not append during the check.
            let (files, vault) = (configuration.storeHooks.logFiles, vault)
            let inspection = await vault.serially {
                try? await onFiles { () throws(ProtectionError) in
                    ProtectionInspection(store: directory, reads: true, files: files)
                }
            }
            let status = vault.status
            report.checkProtection(inspection ?? .init(), known: status.findings, isUnlocked: status.isUnlocked)
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
        checks.append(.init(what: "list of pending jobs", count: jobs.jobs.count))
    }
}
