// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// Finds a store's service by its socket.
enum ServiceLocator {
    /// Connects to a store's socket. Blocks for a few seconds if the service's backlog is full.
    ///
    /// - Returns: The connected socket; `nil` if there is no socket or no process is listening.
    static func connect(storeDirectory: String) throws(ServiceProblem) -> OwnedDescriptor? {
        // Problems with the store's folder are reported when the store is opened, so this function
        // does not report them.
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
