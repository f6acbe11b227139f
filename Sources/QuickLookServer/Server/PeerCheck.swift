// SPDX-License-Identifier: Apache-2.0
import CLoopback
import Foundation
import Glibc
import SystemSupport

/// Checks which user is at the other end of a connection before anything is read from it. Used by
/// one thread at a time.
package protocol PeerCheck: Sendable {
    /// Returns the user at the other end of a connection.
    func verdict(on connection: OwnedDescriptor) -> PeerVerdict
}

/// The user at the other end of a connection.
package enum PeerVerdict: Hashable, Sendable {
    /// This user.
    case own
    /// Another user, root included.
    case other(uid_t)
    /// The user cannot be determined, for example because the connection was closed. The value is
    /// the error code.
    case unknown(Int32)
}

/// Asks the kernel (`NETLINK_SOCK_DIAG`) who created the socket at the other end.
package struct KernelPeerCheck: PeerCheck {
    private let diag: OwnedDescriptor
    private let user: uid_t

    /// The error if the kernel does not report the creators of sockets.
    package struct Unavailable: Error, Hashable, Sendable {
        /// The reason.
        package var reason: String
    }

    /// Opens the netlink socket, and tests it with a connection within this process.
    package init() throws(Unavailable) {
        let number = cloopback_open()
        guard number >= 0 else { throw Unavailable(reason: String(cString: strerror(-number))) }
        diag = OwnedDescriptor(adopting: number)
        user = geteuid()
        let code = cloopback_check(diag.number)
        guard code == 0 else { throw Unavailable(reason: String(cString: strerror(-code))) }
        guard !Self.isAnybody(user) else { throw Unavailable(reason: "This user has no own user number.") }
    }

    package func verdict(on connection: OwnedDescriptor) -> PeerVerdict {
        var owner = uid_t.max
        let code = cloopback_owner(diag.number, connection.number, &owner)
        guard code == 0 else { return .unknown(-code) }
        return owner == user ? .own : .other(owner)
    }

    /// Returns `true` if the user ID is the overflow ID, which represents all users without an ID
    /// in this user namespace.
    private static func isAnybody(_ user: uid_t) -> Bool {
        func words(_ path: String) -> [UInt64] {
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return text.split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }
        }
        guard words("/proc/sys/kernel/overflowuid").first ?? 65534 == UInt64(user) else { return false }
        return words("/proc/self/uid_map") != [0, 0, UInt64(UInt32.max)]
    }
}
