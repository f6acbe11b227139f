// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SystemSupport

/// The engine of the service, asked over a connection.
///
/// May be used from any task.
package final class RemoteEngine: EngineClient {
    let connection: EngineConnection

    private init(_ connection: EngineConnection) { self.connection = connection }

    /// How long a service may take to say hello.
    package static let standardPatience = Duration.seconds(5)

    /// Connects to the service of a store, if one listens at its socket. This starts none, but for one that systemd
    /// listens for.
    ///
    /// - Parameters:
    ///   - storeDirectory: The folder of the store.
    ///   - program: What this program is called, for the service's log.
    ///   - patience: How long the service may take to say hello.
    /// - Returns: `nil` if nobody listens, or whoever did has just ended.
    /// - Throws: ``EngineError/service(_:)``.
    package static func connect(
        storeDirectory: String, program: String, patience: Duration = standardPatience
    ) async throws(EngineError) -> RemoteEngine? {
        // One that ends while it is connected to may be followed by another, which systemd starts.
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

    /// Has the service perform a call.
    package func perform<Call: ClientCall>(
        _ call: Call, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Call.Answer {
        try await connection.perform(call, onEvent: onEvent)
    }

    /// Has the service end once what is in progress is done. Returns when it has taken this in.
    package func stopService() async throws(EngineError) {
        do throws(EngineError) {
            try await perform(StopCall())
        } catch .service(.ended) {
            // That it does this may be quicker than its answer.
        }
    }

    /// Ends the connection.
    package func close() async { connection.close() }
}
