// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why a service's socket cannot be listened on, or not be connected to.
public enum ServiceSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no socket: no service has run on this store, or it ended in order.
    case absent(path: String)
    /// There is a socket, and nobody listens: the service died.
    case nobodyListens(path: String)
    /// The file system does not let this user in.
    case notPermitted(path: String)
    /// Something that is no socket has its name.
    case notASocket(path: String)
    /// A service listens and did not take the connection in time.
    case busy(path: String)
    /// Another user's process serves it, which is told nothing.
    case anotherUser(path: String, user: uid_t)
    /// What the service manager handed over is not what was asked for.
    case notInherited(detail: String)
    /// A system call failed.
    case system(operation: String, code: Int32)

    /// The error in one or two sentences.
    public var description: String {
        switch self {
        case .absent(let path): "No service runs on this store: there is no socket at \(path). Start searchlightd."
        case .nobodyListens(let path):
            "The service of this store has ended: nobody listens on \(path). Start searchlightd."
        case .notPermitted(let path): "The socket at \(path) may not be used by this user. Check who owns its folder."
        case .notASocket(let path):
            "The file at \(path) has the name of the service's socket and is none. Move it away and try again."
        case .busy(let path):
            "The service that listens on \(path) takes no connections. Wait until it has done its work, or restart it."
        case .anotherUser(let path, let user):
            """
            The service that listens on \(path) is user \(user)'s and not this user's (\(geteuid())), so it is told nothing. \
            Check who owns that folder, or use a store of your own.
            """
        case .notInherited(let detail):
            "The service manager did not hand over a listening Unix stream socket: \(detail). Check the socket unit."
        case .system(let operation, let code): "\(operation) failed: \(String(cString: strerror(code)))."
        }
    }
}
