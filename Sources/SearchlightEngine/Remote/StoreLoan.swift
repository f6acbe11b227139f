// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

/// A store that the service has given back for a while, so that this process may have it alone: to be checked and mended.
/// What others ask of the service waits meanwhile. The loan also ends with this process.
public final class StoreLoan: Sendable {
    private let connection: ServiceConnection

    /// How long a service may take to finish what is under way and close its store, or to open it again.
    public static let standardPatience = Duration.seconds(120)

    private init(_ connection: ServiceConnection) { self.connection = connection }

    /// Borrows the store of a service; waits until it has been given back.
    ///
    /// - Throws: ``EngineError/service(_:)``.
    public static func borrow(
        from engine: RemoteEngine, patience: Duration = standardPatience
    ) async throws(EngineError) -> StoreLoan {
        try await engine.connection.lend(.borrowStore, during: "give its store back for a while", patience)
        return StoreLoan(engine.connection)
    }

    /// Gives the store to the service again; waits until it has it.
    ///
    /// - Throws: ``EngineError/service(_:)``.
    public func giveBack(patience: Duration = standardPatience) async throws(EngineError) {
        try await connection.lend(.returnStore, during: "take its store again", patience)
    }
}

extension ServiceConnection {
    fileprivate func lend(
        _ request: ShellRequest, during purpose: String, _ patience: Duration
    ) async throws(EngineError) {
        do throws(EngineError) {
            try await ask(request, during: purpose, patience: patience)
        } catch {
            guard case .query(.cancelled) = error, !Task.isCancelled else { throw error }
            let seconds = patience.components.seconds
            throw .service(
                .refused(
                    during: purpose,
                    reason: "it was not done within \(seconds) s. Wait until what is under way is done and try again."))
        }
    }
}
