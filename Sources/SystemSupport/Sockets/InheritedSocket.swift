// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc

/// Listening sockets that a service manager opened before it started this process (sd_listen_fds(3)).
public enum InheritedSocket {
    /// The number of the first descriptor that a service manager hands over (`SD_LISTEN_FDS_START`).
    public static let firstDescriptor: Int32 = 3
    /// The most descriptors that are checked.
    private static let maximumCount = 64

    /// Takes the one listening Unix stream socket that was handed over, if any was.
    ///
    /// Reads the variables `LISTEN_PID` and `LISTEN_FDS`, and closes what was handed over besides. Call it once, before
    /// other threads open descriptors, and do not give the variables to child processes.
    ///
    /// - Parameters:
    ///   - environment: The variables.
    ///   - process: This process.
    ///   - first: The number of the first descriptor.
    /// - Returns: `nil` when nothing was handed over to this process.
    /// - Throws: ``ServiceSocketError/notInherited(detail:)`` when it is something else.
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
            throw .notInherited(detail: "descriptor \(first) is something else")
        }
        // Who listened on it: this user, or the system's manager for this user.
        var (maker, owner) = (pid_t(0), uid_t(0))
        guard csystem_peer(taken[0].number, &maker, &owner) == 0, owner == geteuid() || owner == 0 else {
            throw .notInherited(detail: "user \(owner) listens on it, and this is user \(geteuid())")
        }
        guard fcntl(taken[0].number, F_SETFD, FD_CLOEXEC) == 0 else {
            throw .system(operation: "keeping the inherited socket from child processes", code: errno)
        }
        return taken[0]
    }

    /// An option of a socket; `nil` for a descriptor that is none.
    private static func option(_ name: Int32, of descriptor: OwnedDescriptor) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor.number, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }
}
