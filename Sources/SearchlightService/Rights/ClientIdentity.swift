// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// Who a client is, as the kernel says; never as the client does.
package struct ClientIdentity: Sendable, Hashable {
    /// What a client may be enclosed in.
    package enum Sandbox: Sendable, Hashable {
        /// Nothing: a program of the user's like any other.
        case none
        /// A Flatpak sandbox, with the name of its application.
        case application(String)
        /// It cannot be told; such a client gets nothing.
        case undetermined(reason: String)
    }
    /// The user it runs as.
    package var user: UInt32
    /// Its process.
    package var process: Int32
    /// What encloses it.
    package var sandbox: Sandbox

    package init(user: UInt32, process: Int32, sandbox: Sandbox) {
        self.user = user
        self.process = process
        self.sandbox = sandbox
    }
}

extension ClientIdentity {
    /// Identifies the process at the other end of a connection.
    ///
    /// - Throws: `PeerIdentityError`; what cannot be determined is refused.
    @Sendable package init(of socket: OwnedDescriptor) throws(PeerIdentityError) {
        self.init(try PeerIdentity(of: socket))
    }

    /// The same of what was found out about a process.
    package init(_ peer: PeerIdentity) {
        let sandbox: Sandbox
        switch peer.sandbox {
        case .none: sandbox = .none
        case .flatpak(let application): sandbox = .application(application)
        // The names of snaps have no dots, so that none can pass for a Flatpak's.
        case .snap(let name): sandbox = .application("snap." + name)
        }
        self.init(user: peer.user, process: peer.process, sandbox: sandbox)
    }
}
