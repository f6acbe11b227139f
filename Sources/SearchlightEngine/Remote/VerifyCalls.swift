// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// Checks and repairs a service's store.
package protocol StoreMaintenance: Sendable {
    /// Checks everything while the store is in use; changes nothing.
    func verify() async throws(EngineError) -> VerificationReport
    /// Checks and repairs everything. Other requests wait until it is done.
    func repair() async throws(EngineError) -> StoreCheck.Repair
}

struct VerifyCall: ClientCall {
    var purpose: String { "check its store" }

    func perform(_ context: CallContext) async throws(EngineError) -> VerificationReport {
        try await context.maintenance(for: purpose).verify()
    }
}

struct RepairCall: ClientCall {
    var purpose: String { "repair its store" }

    func perform(_ context: CallContext) async throws(EngineError) -> StoreCheck.Repair {
        try await context.maintenance(for: purpose).repair()
    }
}

extension CallContext {
    fileprivate func maintenance(for purpose: String) throws(EngineError) -> any StoreMaintenance {
        guard let maintenance = try service(for: purpose).maintenance() else {
            throw .service(.refused(during: purpose, reason: "it has not started yet. Try again in a moment"))
        }
        return maintenance
    }
}

extension RemoteEngine: StoreMaintenance {
    package func verify() async throws(EngineError) -> VerificationReport {
        try await perform(VerifyCall())
    }

    package func repair() async throws(EngineError) -> StoreCheck.Repair {
        try await perform(RepairCall())
    }
}
