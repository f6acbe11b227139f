// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An error that occurred while listening on a service's socket or connecting to it.
public enum ServiceSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no socket: no service has run on this store, or the service exited normally.
    case absent(path: String)
    /// There is a socket but no listener: the service died.
    case nobodyListens(path: String)
    /// The file system denies access to this user.
    case notPermitted(path: String)
    /// The file with the socket's name is not a socket.
    case notASocket(path: String)
    /// The service did not accept the connection in time.
    case busy(path: String)
    /// Another user's process serves the socket; nothing is sent to it.
    case anotherUser(path: String, user: uid_t)
    /// The descriptor from the service manager is not the expected socket.
    case notInherited(detail: String)
    /// A system call failed.
    case system(operation: String, code: Int32)

    /// The error in one or two sentences.
    public var description: String {
        switch self {
        case .absent(let path): "No service runs on this store: there is no socket at \(path). Start searchlightd."
        case .nobodyListens(let path):
            "The service of this store has ended: no process listens on \(path). Start searchlightd."
        case .notPermitted(let path): "You may not use the socket at \(path). Check the owner of its folder."
        case .notASocket(let path):
            "The file at \(path) has the name of the service's socket but is not a socket. Move it away and try again."
        case .busy(let path):
            "The service at \(path) does not accept connections. Wait until it is less busy, or restart it."
        case .anotherUser(let path, let user):
            """
            The service at \(path) belongs to user \(user), but you are user \(geteuid()). Nothing was sent to it. \
            Check the owner of that folder, or use a store of your own.
            """
        case .notInherited(let detail):
            "The service manager did not hand over a listening Unix stream socket: \(detail). Check the socket unit."
        case .system(let operation, let code): "\(operation) failed: \(String(cString: strerror(code)))."
        }
    }
}
