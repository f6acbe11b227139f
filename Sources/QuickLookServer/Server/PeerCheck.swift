// SPDX-License-Identifier: Apache-2.0
import CLoopback
import Foundation
import Glibc
import SystemSupport

/// Tells whose a connection is, before anything is read from it. Used by one thread at a time.
package protocol PeerCheck: Sendable {
    /// Tells who has the other end of a connection.
    func verdict(on connection: OwnedDescriptor) -> PeerVerdict
}

/// Who has the other end of a connection.
package enum PeerVerdict: Hashable, Sendable {
    /// This user.
    case own
    /// Another user, root included.
    case other(uid_t)
    /// It cannot be determined, for a reason as the system says it: it was closed, for example.
    case unknown(Int32)
}

/// Asks the kernel (`NETLINK_SOCK_DIAG`) who created the socket at the other end.
package struct KernelPeerCheck: PeerCheck {
    private let diag: OwnedDescriptor
    private let user: uid_t

    /// The kernel does not say who connects.
    package struct Unavailable: Error, Hashable, Sendable {
        /// Why.
        package var reason: String
    }

    /// Opens a way to ask, and tries it with a connection of this process.
    package init() throws(Unavailable) {
        let number = cloopback_open()
        guard number >= 0 else { throw Unavailable(reason: String(cString: strerror(-number))) }
        diag = OwnedDescriptor(adopting: number)
        user = geteuid()
        let code = cloopback_check(diag.number)
        guard code == 0 else { throw Unavailable(reason: String(cString: strerror(-code))) }
        guard !Self.isAnybody(user) else { throw Unavailable(reason: "This user has no number of their own here.") }
    }

    package func verdict(on connection: OwnedDescriptor) -> PeerVerdict {
        var owner = uid_t.max
        let code = cloopback_owner(diag.number, connection.number, &owner)
        guard code == 0 else { return .unknown(-code) }
        return owner == user ? .own : .other(owner)
    }

    /// Whether a user's number stands for all users who have none in this user namespace.
    private static func isAnybody(_ user: uid_t) -> Bool {
        func words(_ path: String) -> [UInt64] {
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return text.split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }
        }
        guard words("/proc/sys/kernel/overflowuid").first ?? 65534 == UInt64(user) else { return false }
        return words("/proc/self/uid_map") != [0, 0, UInt64(UInt32.max)]
    }
}
