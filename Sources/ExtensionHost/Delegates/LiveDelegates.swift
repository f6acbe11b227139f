// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The apps that are registered as delegates of their bundles. The newest registration for a bundle
/// receives requests first. May be used from any thread.
public final class LiveDelegates: Sendable {
    /// The maximum number of registrations for one bundle. An app may run several times.
    public static let maximumForBundle = 64
    /// The maximum number of registrations for all bundles.
    public static let maximum = 4096
    /// The maximum number of delegates to try before the extension. It bounds a request to an app
    /// that registers again with each request.
    static let maximumAsked = 4

    private struct State {
        var isClosed = false
        /// The registrations of each bundle, oldest first.
        var bundles: [String: [DelegateResponder]] = [:]
        var tokens: [DelegateToken: DelegateResponder] = [:]

        mutating func remove(_ token: DelegateToken) -> DelegateResponder? {
            guard let responder = tokens.removeValue(forKey: token) else { return nil }
            bundles[responder.bundle]?.removeAll { $0.token == token }
            if bundles[responder.bundle]?.isEmpty == true { bundles[responder.bundle] = nil }
            return responder
        }
    }
    private static let last = Atomic<UInt64>(0)
    private let state = Mutex(State())
    private let configuration: WorkerConfiguration

    /// Creates an empty set of delegates.
    ///
    /// - Parameter configuration: Its time limits apply to delegates as well as to workers.
    public init(_ configuration: WorkerConfiguration) { self.configuration = configuration }

    /// Registers an app. From now on it receives requests for its bundle first.
    ///
    /// - Returns: The token for ``unregister(_:)`` and ``noteProgress(_:)``.
    /// - Throws: ``ExtensionError/delegateUnavailable(identifier:during:reason:)`` if there are too
    ///   many registrations or the host is shutting down.
    public func register(
        _ delegate: any LiveDelegate, for bundle: String
    ) throws(ExtensionError) -> DelegateToken {
        let (token, problem) = state.withLock { state -> (DelegateToken, String?) in
            // Numbers are unique in the process: a token that outlives its engine must not match a
            // token of the next engine.
            let token = DelegateToken(number: Self.last.add(1, ordering: .relaxed).newValue)
            if state.isClosed { return (token, "the host is shutting down") }
            let count = state.bundles[bundle]?.count ?? 0
            if count >= Self.maximumForBundle {
                return (token, "\(count) apps are registered for it; the limit is \(Self.maximumForBundle)")
            }
            if state.tokens.count >= Self.maximum {
                return (token, "\(state.tokens.count) apps are registered; the limit is \(Self.maximum)")
            }
            let responder = DelegateResponder(
                delegate, token: token, bundle: bundle, configuration: configuration,
                onDisconnect: { [weak self] in self?.unregister(token) })
            state.bundles[bundle, default: []].append(responder)
            state.tokens[token] = responder
            return (token, nil)
        }
        if let problem { throw .delegateUnavailable(identifier: bundle, during: "register", reason: problem) }
        return token
    }

    /// Ends a registration. A request in progress goes to the next responder.
    ///
    /// - Returns: `true` if the registration existed; a second call does nothing.
    @discardableResult
    public func unregister(_ token: DelegateToken) -> Bool {
        let responder = state.withLock { $0.remove(token) }
        responder?.end()
        return responder != nil
    }

    /// Records that the app made progress: one of its donations was stored. The time limit of its
    /// current request starts again.
    public func noteProgress(_ token: DelegateToken) {
        state.withLock { $0.tokens[token] }?.noteProgress()
    }

    /// Returns `true` if an app is registered for a bundle.
    public func isRegistered(for bundle: String) -> Bool { state.withLock { $0.bundles[bundle] != nil } }

    /// Returns `true` if a registration has not ended.
    public func isRegistered(_ token: DelegateToken) -> Bool { state.withLock { $0.tokens[token] != nil } }

    /// Returns the newest registration for a bundle that has not been tried yet.
    ///
    /// - Parameter includingSilent: `true` to return an unresponsive delegate if no other is left.
    ///   Its last request timed out, and it has shown no progress since.
    func newest(
        for bundle: String, excluding asked: Set<DelegateToken>, includingSilent: Bool
    ) -> DelegateResponder? {
        let candidates = state.withLock { $0.bundles[bundle] ?? [] }.filter { !asked.contains($0.token) }
        return candidates.last { !$0.isSilent } ?? (includingSilent ? candidates.last : nil)
    }

    /// Ends all registrations and rejects new ones.
    func close() {
        let all = state.withLock { state in
            state.isClosed = true
            defer { (state.tokens, state.bundles) = ([:], [:]) }
            return Array(state.tokens.values)
        }
        for responder in all { responder.end() }
    }
}
