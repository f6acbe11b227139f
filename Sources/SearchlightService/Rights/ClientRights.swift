// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ServiceMessages

/// A client's rights. They are determined once, from its identity and its first call.
package enum ClientRights: Sendable, Hashable {
    /// The client acts for one bundle.
    ///
    /// - Parameter isSandboxed: `true` if it has no access to other bundles at all, not even
    ///   through promises.
    case app(bundle: String, isSandboxed: Bool)
    /// The client has access to the whole index.
    case shell

    /// The kind of client. Each type of request declares the kinds that may send it.
    package var caller: Caller {
        switch self {
        case .app(_, isSandboxed: false): .app
        case .app(_, isSandboxed: true): .sandboxedApp
        case .shell: .shell
        }
    }

    /// Returns the reason why the client may not send a kind of request; `nil` if it may.
    package func denial(of kind: any ClientRequest.Type) -> AccessDenial? {
        guard !kind.callers.contains(caller) else { return nil }
        switch self {
        case .shell: return .appsOnly
        case .app(let bundle, isSandboxed: true) where kind.callers.contains(.app): return .noSandbox(bundle)
        case .app: return .shellsOnly
        }
    }

    /// The bundle that the client acts for, if any.
    package var bundle: String? { if case .app(let bundle, _) = self { bundle } else { nil } }

    /// Determines a client's rights.
    ///
    /// - Parameters:
    ///   - identity: The client's identity.
    ///   - user: The user who runs the service.
    ///   - hello: The client's first call.
    package init(_ identity: ClientIdentity, user: UInt32, hello: Hello) throws(AccessDenial) {
        guard identity.user == user else { throw .otherUser(identity.user) }
        let enclosing: String?
        switch identity.sandbox {
        case .none: enclosing = nil
        case .application(let name): enclosing = name
        case .undetermined(let reason): throw .undetermined(reason)
        }
        switch hello.role {
        case .shell:
            if let enclosing { throw .sandboxedShell(enclosing) }
            guard hello.bundle == nil else { throw .shellWithBundle }
            self = .shell
        case .app:
            if let enclosing, let claim = hello.bundle, claim != enclosing {
                throw .falseClaim(claim: claim, sandbox: enclosing)
            }
            guard let bundle = enclosing ?? hello.bundle else { throw .noBundle }
            guard ExtensionManifest.isAppIdentifier(bundle) else { throw .invalidBundle(bundle) }
            self = .app(bundle: bundle, isSandboxed: enclosing != nil)
        }
    }
}

/// The reason why a client is rejected.
package enum AccessDenial: Error, Sendable, Hashable, CustomStringConvertible {
    /// The client runs as another user.
    case otherUser(UInt32)
    /// The client cannot be identified.
    case undetermined(String)
    /// A sandboxed client requests access to the whole index.
    case sandboxedShell(String)
    /// The client requests access to the whole index and names a bundle.
    case shellWithBundle
    /// The client names a bundle that differs from its sandbox.
    case falseClaim(claim: String, sandbox: String)
    /// Neither the client nor a sandbox names a bundle.
    case noBundle
    /// The name is not a valid bundle identifier.
    case invalidBundle(String)
    /// A shell sends a request that only apps may send.
    case appsOnly
    /// An app sends a request that only shells may send.
    case shellsOnly
    /// A sandboxed app sends a request that only other apps may send.
    case noSandbox(String)

    /// The rejection, its reason and advice.
    package var description: String {
        switch self {
        case .otherUser(let user):
            "The client runs as user \(user), and this service belongs to another user. Use the service of user \(user)."
        case .undetermined(let reason):
            "The client is refused, because its sandbox cannot be determined: \(reason)."
        case .sandboxedShell(let name):
            "\(name.prefix(255)) runs in a sandbox and has no access to the whole index. Connect as an app."
        case .shellWithBundle:
            "A client with access to the whole index has no bundle. Connect as an app, or leave the bundle out."
        case .falseClaim(let claim, let sandbox):
            """
            The client claims the bundle \(claim.prefix(255).debugDescription), and its sandbox has the bundle \
            \(sandbox.prefix(255).debugDescription). Leave the bundle out; the sandbox names it.
            """
        case .noBundle:
            "The client has no bundle. Name it in the first call."
        case .invalidBundle(let name):
            """
            \(name.prefix(300).debugDescription) is not a bundle identifier. Use a reverse-DNS name such as \
            com.example.journal (letters, digits, '-', '_' and '.'; at most \
                \(ExtensionManifest.maximumIdentifierBytes) bytes).
            """
        case .appsOnly: "A client with access to the whole index has no bundle. Connect as an app."
        case .shellsOnly: "An app has access only to its own items. Connect as a shell, outside a sandbox."
        case .noSandbox(let bundle): "\(bundle) runs in a sandbox and has no access to data of other apps' items."
        }
    }
}
