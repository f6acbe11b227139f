// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// Checks and repairs the store of a service.
public protocol StoreMaintenance: Sendable {
    /// Checks everything during use; changes nothing.
    ///
    /// - Throws: ``EngineError``.
    func verify() async throws(EngineError) -> VerificationReport
    /// Checks and repairs everything; requests wait.
    ///
    /// - Throws: ``EngineError``.
    func repair() async throws(EngineError) -> StoreCheck.Repair
}

struct VerifyCall: EngineCall {
    static let name = "verify"
    var purpose: String { "check its store" }

    func perform(_ desk: CallDesk) async throws(EngineError) -> VerificationReport {
        try await desk.maintenance(for: purpose).verify()
    }
}

struct RepairCall: EngineCall {
    static let name = "repair"
    var purpose: String { "repair its store" }

    func perform(_ desk: CallDesk) async throws(EngineError) -> StoreCheck.Repair {
        try await desk.maintenance(for: purpose).repair()
    }
}

extension CallDesk {
    fileprivate func maintenance(for purpose: String) throws(EngineError) -> any StoreMaintenance {
        guard let maintenance = control.maintenance() else {
            throw .service(.refused(during: purpose, reason: "it has not begun yet. Try again in a moment"))
        }
        return maintenance
    }
}

extension RemoteEngine: StoreMaintenance {
    /// See ``StoreMaintenance/verify()``.
    public func verify() async throws(EngineError) -> VerificationReport {
        try await connection.perform(VerifyCall()).answer
    }

    /// See ``StoreMaintenance/repair()``.
    public func repair() async throws(EngineError) -> StoreCheck.Repair {
        try await connection.perform(RepairCall()).answer
    }
}
