// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// Finds the service of a store by its socket.
enum ServiceLocator {
    /// Connects to the socket of a store. Blocks for a few seconds if the service's backlog is
    /// full.
    ///
    /// - Returns: The connected socket; `nil` if there is no socket or no process listens.
    static func connect(storeDirectory: String) throws(ServiceProblem) -> OwnedDescriptor? {
        // Opening the store reports problems with its folder, so this function does not.
        guard access(storeDirectory, X_OK) == 0 else { return nil }
        let socket = StoreLocation(folder: storeDirectory).socketPath
        do throws(ServiceSocketError) { return try ServiceSocket.connect(inFolder: storeDirectory) } catch {
            switch error {
            case .absent, .nobodyListens, .notASocket: return nil
            case .busy(let path): throw .notAnswering(path: path, seconds: ServiceSocket.connectTimeout)
            case .notPermitted(let path): throw .cannotConnect(path: path, reason: String(cString: strerror(EACCES)))
            case .anotherUser(let path, let user):
                throw .cannotConnect(
                    path: path, reason: "it belongs to user \(user) and not to this user (\(geteuid()))"
                )
            case .system(_, let code): throw .cannotConnect(path: socket, reason: String(cString: strerror(code)))
            case .notInherited(let detail): throw .cannotConnect(path: socket, reason: detail)
            }
        }
    }
}
