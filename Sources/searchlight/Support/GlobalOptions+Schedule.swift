// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import CommandSupport
import IdleScheduling
import SearchlightEngine

extension GlobalOptions {
    /// Returns the scheduling policy from the user's file.
    func schedulingPolicy() throws(CommandFailure) -> SchedulingPolicy {
        do throws(PolicyFile.Failure) { return try PolicyFile(environment: environment).policy() } catch {
            throw CommandFailure(message: error.description, status: .usage)
        }
    }

    /// Returns the scheduler of background work: the service, or this process if no service is
    /// running.
    func schedule(of store: any EngineClient) throws -> any ScheduleService {
        if let service = store as? RemoteEngine { return service }
        guard let engine = store as? SearchlightEngine else {
            throw CommandFailure(
                message: "This store has no scheduler. Pass another store with --store.", status: .failure)
        }
        return LocalSchedule(engine, policy: try schedulingPolicy(), roots: .machine(environment: environment))
    }

    /// Runs a closure with the scheduler.
    func withSchedule<Value>(
        _ use: StoreUse, _ body: (any ScheduleService) async throws -> Value
    ) async throws -> Value {
        try await withStore(use) { store in try await body(try schedule(of: store)) }
    }
}

extension EngineClient {
    /// Throws an error for jobs whose bundles are neither installed nor have pending work.
    ///
    /// - Throws: ``EngineError``.
    func checkKnown(_ keys: [ScheduledJob.Key]) async throws {
        let installed = try await perform(ExtensionsCall())
        let owed = Set(try await perform(PendingReindexesCall()).map(\.bundle))
        for bundle in keys.compactMap(\.bundle)
        where !installed.identifiers.contains(bundle) && !owed.contains(bundle) {
            throw EngineError.extension(
                .notFound(identifier: bundle, searchPath: installed.searchPath, known: installed.identifiers))
        }
    }
}
