// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SearchlightEngine
import Synchronization

/// Checks and repairs the store of the daemon.
final class EngineMaintenance: StoreMaintenance {
    private let engine: SharedEngine
    private let configuration: EngineConfiguration
    private let isChecking = Atomic(false)

    init(_ core: ServiceCore, _ configuration: EngineConfiguration) {
        (engine, self.configuration) = (core.engine, configuration)
    }

    /// Checks the store during use; one check at a time, since each takes a copy of the database.
    func verify() async throws(EngineError) -> VerificationReport {
        guard !isChecking.exchange(true, ordering: .acquiring) else {
            throw .service(
                .refused(during: "check its store", reason: "another check is in progress. Wait until it is done"))
        }
        defer { isChecking.store(false, ordering: .releasing) }
        return try await engine.use(.reading) { (engine) throws(EngineError) in try await engine.verify() }
    }

    /// Repairs the store while nobody uses it. Not cancelled by the end of the connection, so that it is whole.
    func repair() async throws(EngineError) -> StoreCheck.Repair {
        let token = engine.activity.beginRequest()
        defer { token.end() }
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
