// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// The Unix stream socket in a store's folder, through which clients find the store's service.
public enum ServiceSocket {
    /// The maximum number of connections that wait for `accept`. Further clients block in
    /// `connect`.
    static let backlog: Int32 = 64
    /// The time limit of such a `connect`, in seconds.
    public static let connectTimeout = 5

    /// Creates a listening socket that only this user may connect to (mode 0600).
    ///
    /// Replaces the socket of an earlier service. The caller must hold the store's write lock, so
    /// that no other service can be listening on that socket.
    ///
    /// - Parameter folder: The store's folder, which must exist.
    /// - Throws: ``ServiceSocketError``; `notASocket` if the file with this name is not a socket.
    public static func listen(inFolder folder: String) throws(ServiceSocketError) -> OwnedDescriptor {
        let place = try SocketPlace(folder: folder, create: true)
        try place.removeSocket()
        let socket = try newSocket()
        // bind(2) creates the file with this mode, so other users can never connect.
        guard fchmod(socket.number, 0o600) == 0 else { throw .system(operation: "restricting a socket", code: errno) }
        let bound = place.withAddress { bind(socket.number, $0, $1) == 0 ? 0 : errno }
        guard bound == 0 else { throw place.error("creating the socket \(place.path)", code: bound) }
        guard Glibc.listen(socket.number, backlog) == 0 else {
            throw .system(operation: "listening on \(place.path)", code: errno)
        }
        // The path must lead to the socket that was just created.
        guard try place.isOwnSocket() else { throw .notASocket(path: place.path) }
        return socket
    }

    /// Removes the socket, so that clients can tell immediately that no service is running. Only
    /// the listener may call this, before the store's lock is released, and not for a socket that
    /// belongs to a service manager.
    public static func remove(inFolder folder: String) throws(ServiceSocketError) {
        try SocketPlace(folder: folder, create: true).removeSocket()
    }

    /// Connects to the service in a store's folder and verifies that it belongs to this user before
    /// anything is sent.
    ///
    /// - Throws: ``ServiceSocketError``: `absent` if there is no socket, `nobodyListens` if its
    ///   service has died, `anotherUser` if it is served by another user.
    public static func connect(inFolder folder: String) throws(ServiceSocketError) -> OwnedDescriptor {
        try connect(inFolder: folder, servedBy: geteuid())
    }

    /// Connects to the service of a given user.
    package static func connect(
        inFolder folder: String, servedBy user: uid_t
    ) throws(ServiceSocketError) -> OwnedDescriptor {
        let place = try SocketPlace(folder: folder, create: false)
        // A symbolic link could lead to another service.
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

    /// Verifies which user is listening on the other end of a connection.
    static func checkServer(
        _ socket: OwnedDescriptor, path: String, user: uid_t
    ) throws(ServiceSocketError) {
        var (process, owner) = (pid_t(0), uid_t(0))
        guard csystem_peer(socket.number, &process, &owner) == 0 else {
            throw .system(operation: "getting the user of the service at \(path)", code: errno)
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
