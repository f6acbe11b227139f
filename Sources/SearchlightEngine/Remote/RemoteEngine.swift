// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SystemSupport

/// The service's engine, used over a connection.
///
/// May be used from any task.
package final class RemoteEngine: EngineClient {
    let connection: EngineConnection

    private init(_ connection: EngineConnection) { self.connection = connection }

    /// The default time limit of the handshake.
    package static let standardPatience = Duration.seconds(5)

    /// Connects to a store's service, if a process listens on its socket. It starts no service
    /// itself; systemd may start one by socket activation.
    ///
    /// - Parameters:
    ///   - storeDirectory: The store's folder.
    ///   - program: The name of this program, for the service's log.
    ///   - patience: The time limit for the handshake.
    /// - Returns: The connection; `nil` if no service listens, or if the service exited during the
    ///   handshake.
    /// - Throws: ``EngineError/service(_:)``.
    package static func connect(
        storeDirectory: String, program: String, patience: Duration = standardPatience
    ) async throws(EngineError) -> RemoteEngine? {
        // If the service exits during the handshake, systemd may start another one, so there is a
        // second attempt.
        for _ in 0..<2 {
            let socket: OwnedDescriptor?
            do throws(ServiceProblem) {
                socket = try ServiceLocator.connect(storeDirectory: storeDirectory)
            } catch {
                throw .service(error)
            }
            guard let socket else { return nil }
            do throws(EngineError) {
                return RemoteEngine(
                    try await EngineConnection.open(
                        over: socket, path: StoreLocation(folder: storeDirectory).socketPath, program: program,
                        patience: patience))
            } catch {
                guard case .service(.ended) = error else { throw error }
            }
        }
        return nil
    }

    /// Performs a call in the service.
    package func perform<Call: ClientCall>(
        _ call: Call, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Call.Answer {
        try await connection.perform(call, onEvent: onEvent)
    }

    /// Stops the service after the work in progress. Returns once the service has accepted the
    /// request.
    package func stopService() async throws(EngineError) {
        do throws(EngineError) {
            try await perform(StopCall())
        } catch .service(.ended) {
            // The service may exit before its reply arrives.
        }
    }

    /// Closes the connection.
    package func close() async { connection.close() }
}
