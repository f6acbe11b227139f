// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// The Unix stream socket in a store's folder, through which clients find the service that has the store open.
public enum ServiceSocket {
    /// How many connections wait to be accepted; the kernel lets further clients wait in their own call.
    static let backlog: Int32 = 64
    /// How long connecting waits for a place among these, in seconds.
    public static let connectTimeout = 5

    /// Makes a listening socket that only this user may connect to (mode 0600).
    ///
    /// What a service that died left behind is replaced. That is safe only for the one who holds the store's lock: with
    /// the lock held no other service can be listening there.
    ///
    /// - Parameter folder: The store's folder, which exists.
    /// - Throws: ``ServiceSocketError``; `notASocket` when a file of another kind has the name.
    public static func listen(inFolder folder: String) throws(ServiceSocketError) -> OwnedDescriptor {
        let place = try SocketPlace(folder: folder, create: true)
        try place.removeSocket()
        let socket = try newSocket()
        // bind(2) gives the file this mode at once, so that there is no moment in which others may connect.
        guard fchmod(socket.number, 0o600) == 0 else { throw .system(operation: "restricting a socket", code: errno) }
        let bound = place.withAddress { bind(socket.number, $0, $1) == 0 ? 0 : errno }
        guard bound == 0 else { throw place.error("creating the socket \(place.path)", code: bound) }
        guard Glibc.listen(socket.number, backlog) == 0 else {
            throw .system(operation: "listening on \(place.path)", code: errno)
        }
        // What has the name now is what was just made, and nobody else's.
        guard try place.isOwnSocket() else { throw .notASocket(path: place.path) }
        return socket
    }

    /// Takes the socket away, so that clients see at once that no service runs. For the one who listens, before the
    /// store's lock is given back; not for a socket that a service manager made.
    public static func remove(inFolder folder: String) throws(ServiceSocketError) {
        try SocketPlace(folder: folder, create: true).removeSocket()
    }

    /// Connects to the service that listens in a store's folder, and makes sure that it is this user's: nothing is said to
    /// another one.
    ///
    /// - Throws: ``ServiceSocketError``: `absent` without a socket, `nobodyListens` when its service has died,
    ///   `anotherUser` when somebody else serves it.
    public static func connect(inFolder folder: String) throws(ServiceSocketError) -> OwnedDescriptor {
        try connect(inFolder: folder, servedBy: geteuid())
    }

    /// The same for the service of a user who is named.
    package static func connect(
        inFolder folder: String, servedBy user: uid_t
    ) throws(ServiceSocketError) -> OwnedDescriptor {
        let place = try SocketPlace(folder: folder, create: false)
        // A link would lead to what is served elsewhere.
        guard try place.isSocket() else { throw .notASocket(path: place.path) }
        let socket = try newSocket()
        try setSendTimeout(of: socket, seconds: connectTimeout)
        var code: Int32 = 0
        repeat {
            code = place.withAddress { Glibc.connect(socket.number, $0, $1) == 0 ? 0 : errno }
        } while code == EINTR
        switch code {
        case 0: break
        case ECONNREFUSED: throw try place.isSocket() ? .nobodyListens(path: place.path) : .notASocket(path: place.path)
        case EAGAIN: throw .busy(path: place.path)
        default: throw place.error("connecting to \(place.path)", code: code)
        }
        try setSendTimeout(of: socket, seconds: 0)
        try checkServer(socket, path: place.path, user: user)
        return socket
    }

    /// Makes sure that a user serves a connection, by who listened for it.
    static func checkServer(
        _ socket: OwnedDescriptor, path: String, user: uid_t
    ) throws(ServiceSocketError) {
        var (process, owner) = (pid_t(0), uid_t(0))
        guard csystem_peer(socket.number, &process, &owner) == 0 else {
            throw .system(operation: "asking who serves \(path)", code: errno)
        }
        guard owner == user else { throw .anotherUser(path: path, user: owner) }
    }

    private static func newSocket() throws(ServiceSocketError) -> OwnedDescriptor {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else { throw .system(operation: "creating a socket", code: errno) }
        return OwnedDescriptor(adopting: number)
    }

    private static func setSendTimeout(of socket: OwnedDescriptor, seconds: Int) throws(ServiceSocketError) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard setsockopt(socket.number, SOL_SOCKET, SO_SNDTIMEO, &time, size) == 0 else {
            throw .system(operation: "setting a socket's time limit", code: errno)
        }
    }
}
