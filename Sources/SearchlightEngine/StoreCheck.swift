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

        package init(done: [String], after: VerificationReport) { (self.done, self.after) = (done, after) }

        /// Repairs the store of an open engine. Protected indexes are repaired first, from the
        /// items in memory. If only they are damaged, they stay unlocked; the exclusive access for
        /// the rest locks them.
        ///
        /// - Parameters:
        ///   - verify: Checks the open store.
        ///   - exclusively: Closes the engine, performs ``StoreCheck/repair(progress:)``, and opens
        ///     it again.
        package static func perform(
            on engine: some EngineSource, verify: @Sendable () async throws(EngineError) -> VerificationReport,
            exclusively: @Sendable () async throws(EngineError) -> Repair
        ) async throws(EngineError) -> Repair {
            guard let done = try await protectionRepairs(engine) else { return try await exclusively() }
            let before = try await verify()
            let protected = before.protectionFindings
            guard before.findings != protected else { return Repair(done: done, after: before) }
            let (isUnlocked, lost) = try await engine.use(.reading) { (engine) throws(EngineError) in
                (engine.protectionStatus.isUnlocked, await engine.vault.removedFiles())
            }
            guard lost.isEmpty else {
                let reason = """
                    Nothing else was repaired, because only the service still has \(lost.joined(separator: " and ")). To \
                    keep the items: searchlight unlock, then searchlight verify --repair. To give them up: end the service, \
                    then searchlight verify --repair
                    """
                return Repair(done: done + [reason], after: before)
            }
            var repair = try await exclusively()
            repair.done = done + repair.done
            if isUnlocked {
                repair.done.append(
                    "The service closed the store, so protected items are locked now. To unlock them: searchlight unlock"
                )
            }
            // Without the keys, some of the problems are not found again.
            for finding in protected where !repair.after.findings.contains(where: { $0.problem == finding.problem }) {
                repair.after.findings.append(finding)
            }
            return repair
        }

        /// Repairs the protected indexes.
        ///
        /// - Returns: The actions; `nil` if the store has no protected indexes, or if its engine
        ///   cannot be used.
        private static func protectionRepairs(_ engine: some EngineSource) async throws(EngineError) -> [String]? {
            let result: Result<[String], EngineError>?
            do throws(EngineError) {
                result = try await engine.use(.changing) {
                    (engine) throws(EngineError) -> Result<[String], EngineError>? in
                    let status = engine.protectionStatus
                    guard !status.indexes.isEmpty || !status.findings.isEmpty else { return nil }
                    do throws(EngineError) { return .success(try await engine.repairProtection()) } catch {
                        return .failure(error)
                    }
                }
            } catch {
                // A repair may fix the reason.
                return nil
            }
            return try result?.get()
        }
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
            report.checkProtection(await vault.inspection())
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
