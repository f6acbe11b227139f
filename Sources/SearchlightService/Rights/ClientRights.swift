// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ServiceMessages

/// What a client may do, decided once, by its identity and its first call.
package enum ClientRights: Sendable, Hashable {
    /// It acts for one bundle.
    ///
    /// - Parameter isSandboxed: Whether it sees nothing of other bundles at all, not even by promises.
    case app(bundle: String, isSandboxed: Bool)
    /// It sees the whole index.
    case shell

    /// The kind of client, by which requests declare whom they are for.
    package var caller: Caller {
        switch self {
        case .app(_, isSandboxed: false): .app
        case .app(_, isSandboxed: true): .sandboxedApp
        case .shell: .shell
        }
    }

    /// Why it may not make a kind of request; `nil` if it may.
    package func denial(of kind: any ClientRequest.Type) -> AccessDenial? {
        guard !kind.callers.contains(caller) else { return nil }
        switch self {
        case .shell: return .appsOnly
        case .app(let bundle, isSandboxed: true) where kind.callers.contains(.app): return .noSandbox(bundle)
        case .app: return .shellsOnly
        }
    }

    /// The bundle it acts for, if any.
    package var bundle: String? { if case .app(let bundle, _) = self { bundle } else { nil } }

    /// Decides.
    ///
    /// - Parameters:
    ///   - identity: Who it is.
    ///   - user: Whose service this is.
    ///   - hello: What it says.
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

/// Why a client is refused.
package enum AccessDenial: Error, Sendable, Hashable, CustomStringConvertible {
    /// It runs as another user.
    case otherUser(UInt32)
    /// Who it is cannot be told.
    case undetermined(String)
    /// It is sandboxed and wants the whole index.
    case sandboxedShell(String)
    /// It wants the whole index and to act for a bundle.
    case shellWithBundle
    /// Its sandbox says something else than it does.
    case falseClaim(claim: String, sandbox: String)
    /// It does not say which bundle it acts for, and no sandbox does.
    case noBundle
    /// The name is no name of a bundle.
    case invalidBundle(String)
    /// It sees the whole index and asks for what only apps may.
    case appsOnly
    /// It is an app and asks for what only shells may.
    case shellsOnly
    /// It is an app in a sandbox and asks for what others may.
    case noSandbox(String)

    /// What was refused, why, and what to do.
    package var description: String {
        switch self {
        case .otherUser(let user):
            "The client runs as user \(user), and this service is another user's. Use the service of that user."
        case .undetermined(let reason):
            "The client is refused, because it cannot be told whether it is sandboxed: \(reason)."
        case .sandboxedShell(let name):
            "\(name.prefix(255)) runs in a sandbox and may not see the whole index. Connect as an app."
        case .shellWithBundle:
            "A client that sees the whole index acts for no bundle. Connect as an app, or leave the bundle out."
        case .falseClaim(let claim, let sandbox):
            """
            The client says that it is \(claim.prefix(255).debugDescription), and its sandbox that it is \
            \(sandbox.prefix(255).debugDescription). Leave the bundle out; the sandbox names it.
            """
        case .noBundle:
            "The client does not say which bundle it acts for. Name it in the first call."
        case .invalidBundle(let name):
            """
            \(name.prefix(300).debugDescription) is no bundle identifier. Use a reverse-DNS name such as \
            com.example.journal (letters, digits, '-', '_' and '.'; at most \
                \(ExtensionManifest.maximumIdentifierBytes) bytes).
            """
        case .appsOnly: "A client that sees the whole index acts for no bundle. Connect as an app."
        case .shellsOnly: "An app sees its own items only. Connect as a shell, from outside of a sandbox."
        case .noSandbox(let bundle): "\(bundle) runs in a sandbox and may not fetch data of items of others."
        }
    }
}
