// SPDX-License-Identifier: Apache-2.0

/// Who a client is, as the kernel says; never as the client does.
public struct ClientIdentity: Sendable, Hashable {
    /// What a client may be enclosed in.
    public enum Sandbox: Sendable, Hashable {
        /// Nothing: a program of the user's like any other.
        case none
        /// A Flatpak sandbox, with the name of its application.
        case application(String)
        /// It cannot be told; such a client gets nothing.
        case undetermined(reason: String)
    }
    /// The user it runs as.
    public var user: UInt32
    /// Its process.
    public var process: Int32
    /// What encloses it.
    public var sandbox: Sandbox

    /// Creates an identity.
    public init(user: UInt32, process: Int32, sandbox: Sandbox) {
        self.user = user
        self.process = process
        self.sandbox = sandbox
    }
}
