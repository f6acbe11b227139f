// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// A client's identity, as reported by the kernel and never by the client.
package struct ClientIdentity: Sendable, Hashable {
    /// A client's sandbox.
    package enum Sandbox: Sendable, Hashable {
        /// No sandbox: a regular program of the user.
        case none
        /// A Flatpak or Snap sandbox, with the name of its application.
        case application(String)
        /// The sandbox cannot be determined; such a client is rejected.
        case undetermined(reason: String)
    }
    /// The user ID of the process.
    package var user: UInt32
    /// The process ID.
    package var process: Int32
    /// The sandbox of the process.
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
    /// - Throws: `PeerIdentityError`. A client that cannot be identified is rejected.
    @Sendable package init(of socket: OwnedDescriptor) throws(PeerIdentityError) {
        self.init(try PeerIdentity(of: socket))
    }

    /// Creates the identity of a process that has already been examined.
    package init(_ peer: PeerIdentity) {
        let sandbox: Sandbox
        switch peer.sandbox {
        case .none: sandbox = .none
        case .flatpak(let application): sandbox = .application(application)
        // Snap names have no dots, so they cannot collide with Flatpak application IDs.
        case .snap(let name): sandbox = .application("snap." + name)
        }
        self.init(user: peer.user, process: peer.process, sandbox: sandbox)
    }
}
