// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// Listening sockets that a service manager opened before it started this process
/// (sd_listen_fds(3)).
public enum InheritedSocket {
    /// The number of the first inherited descriptor (`SD_LISTEN_FDS_START`).
    public static let firstDescriptor: Int32 = 3
    /// The maximum number of descriptors to check.
    private static let maximumCount = 64

    /// Takes ownership of the inherited listening Unix stream socket, if there is one.
    ///
    /// Reads the environment variables `LISTEN_PID` and `LISTEN_FDS`, and closes other inherited
    /// descriptors. Call it once, before other threads open descriptors, and do not pass the
    /// variables on to child processes.
    ///
    /// - Parameters:
    ///   - environment: The variables.
    ///   - process: The ID of this process.
    ///   - first: The number of the first descriptor.
    /// - Returns: The socket; `nil` if this process did not inherit one.
    /// - Throws: ``ServiceSocketError/notInherited(detail:)`` if the descriptor is something else.
    public static func take(
        environment: [String: String], process: pid_t = getpid(), first: Int32 = firstDescriptor
    ) throws(ServiceSocketError) -> OwnedDescriptor? {
        guard let receiver = environment["LISTEN_PID"].flatMap({ pid_t($0) }), receiver == process,
            let text = environment["LISTEN_FDS"]
        else { return nil }
        guard let count = Int(text), (0...maximumCount).contains(count) else {
            throw .notInherited(detail: "LISTEN_FDS is not a number up to \(maximumCount)")
        }
        guard count > 0 else { return nil }
        let taken = (0..<Int32(count)).map { OwnedDescriptor(adopting: first + $0) }
        guard count == 1 else { throw .notInherited(detail: "it handed over \(count) descriptors instead of one") }
        guard option(SO_DOMAIN, of: taken[0]) == AF_UNIX,
            option(SO_TYPE, of: taken[0]) == Int32(SOCK_STREAM.rawValue), option(SO_ACCEPTCONN, of: taken[0]) == 1
        else {
            throw .notInherited(detail: "descriptor \(first) is not such a socket")
        }
        // The user listening on the socket must be this user, or root in the case of the system's
        // service manager.
        var (maker, owner) = (pid_t(0), uid_t(0))
        guard csystem_peer(taken[0].number, &maker, &owner) == 0, owner == geteuid() || owner == 0 else {
            throw .notInherited(detail: "user \(owner) listens on it, but this is user \(geteuid())")
        }
        guard fcntl(taken[0].number, F_SETFD, FD_CLOEXEC) == 0 else {
            throw .system(operation: "closing the inherited socket in child processes", code: errno)
        }
        return taken[0]
    }

    /// Returns a socket option; `nil` if the descriptor is not a socket.
    private static func option(_ name: Int32, of descriptor: OwnedDescriptor) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor.number, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }
}
