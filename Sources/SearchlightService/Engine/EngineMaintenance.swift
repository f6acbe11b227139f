// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SearchlightEngine
import Synchronization

/// Checks and repairs the daemon's store.
final class EngineMaintenance: StoreMaintenance {
    private let engine: SharedEngine
    private let configuration: EngineConfiguration
    private let isChecking = Atomic(false)

    init(_ core: ServiceCore, _ configuration: EngineConfiguration) {
        (engine, self.configuration) = (core.engine, configuration)
    }

    /// Checks the store while it is in use. Only one check runs at a time, since each check copies
    /// the database.
    func verify() async throws(EngineError) -> VerificationReport {
        guard !isChecking.exchange(true, ordering: .acquiring) else {
            throw .service(
                .refused(during: "check its store", reason: "another check is in progress. Wait until it is done"))
        }
        defer { isChecking.store(false, ordering: .releasing) }
        do throws(EngineError) {
            return try await engine.use(.reading) { (engine) throws(EngineError) in try await engine.verify() }
        } catch {
            // The store could not even be opened for reading.
            guard error.isRefusedRepair else { throw error }
            return try StoreCheck(configuration).verify()
        }
    }

    /// Repairs the store with exclusive access. If the connection ends, the repair continues, so
    /// that no repair is left unfinished.
    func repair() async throws(EngineError) -> StoreCheck.Repair {
        let token = engine.activity.beginRequest()
        defer { token.end() }
        guard !engine.holder.isExclusive else { throw EngineError(EngineUnavailable.repairing) }
        return try await StoreCheck.Repair.perform(
            on: engine, verify: { () throws(EngineError) in try await verify() },
            exclusively: { () throws(EngineError) in try await repairAll() })
    }

    private func repairAll() async throws(EngineError) -> StoreCheck.Repair {
        let check = StoreCheck(configuration)
        let result: Result<StoreCheck.Repair, EngineError>
        do throws(EngineUnavailable) {
            result = try await engine.holder.exclusively {
                do throws(EngineError) { return .success(try await check.repair()) } catch { return .failure(error) }
            }
        } catch {
            throw EngineError(error)
        }
        return try result.get()
    }
}
