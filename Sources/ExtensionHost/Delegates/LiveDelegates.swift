// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The apps that are registered as delegates of their bundles. The newest registration of a bundle is asked; an older one
/// again when the newer has gone. May be used from any thread.
public final class LiveDelegates: Sendable {
    /// The most registrations of one bundle: an app may run more than once.
    public static let maximumForBundle = 64
    /// The most registrations in all.
    public static let maximum = 4096
    /// So many delegates are asked one after the other before it is the extension's turn: an app that registers anew
    /// whenever it is asked must not be waited for without end.
    static let maximumAsked = 4

    private struct State {
        var isClosed = false
        /// In the order in which they registered.
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

    /// Nobody is registered.
    ///
    /// - Parameter configuration: Its limits hold for delegates as for workers.
    public init(_ configuration: WorkerConfiguration) { self.configuration = configuration }

    /// Registers an app; it is the one that is asked about its bundle from now on.
    ///
    /// - Returns: What ``unregister(_:)`` and ``noteProgress(_:)`` are told.
    /// - Throws: ``ExtensionError/delegateUnavailable(identifier:during:reason:)`` if there are too many.
    public func register(
        _ delegate: any LiveDelegate, for bundle: String
    ) throws(ExtensionError) -> DelegateToken {
        let (token, problem) = state.withLock { state -> (DelegateToken, String?) in
            // Of the process: a token that outlives its engine must not be one of the engine that follows.
            let token = DelegateToken(number: Self.last.add(1, ordering: .relaxed).newValue)
            if state.isClosed { return (token, "the host is being shut down") }
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

    /// Ends a registration. What the delegate is being asked is asked of the next responder.
    ///
    /// - Returns: Whether it was still there; a second call does nothing.
    @discardableResult
    public func unregister(_ token: DelegateToken) -> Bool {
        let responder = state.withLock { $0.remove(token) }
        responder?.end()
        return responder != nil
    }

    /// Notes that the app shows that it works: something it sent was kept. It has its time anew to answer what it is asked.
    public func noteProgress(_ token: DelegateToken) {
        state.withLock { $0.tokens[token] }?.noteProgress()
    }

    /// Whether an app is registered for a bundle.
    public func isRegistered(for bundle: String) -> Bool { state.withLock { $0.bundles[bundle] != nil } }

    /// Whether a registration has not ended.
    public func isRegistered(_ token: DelegateToken) -> Bool { state.withLock { $0.tokens[token] != nil } }

    /// The newest registration of a bundle that has not been asked yet.
    ///
    /// - Parameter includingSilent: Whether one that let its last request time out, and has shown no sign of life since,
    ///   is worth asking, after all others.
    func newest(
        for bundle: String, excluding asked: Set<DelegateToken>, includingSilent: Bool
    ) -> DelegateResponder? {
        let candidates = state.withLock { $0.bundles[bundle] ?? [] }.filter { !asked.contains($0.token) }
        return candidates.last { !$0.isSilent } ?? (includingSilent ? candidates.last : nil)
    }

    /// Ends all registrations and accepts none any more.
    func close() {
        let all = state.withLock { state in
            state.isClosed = true
            defer { (state.tokens, state.bundles) = ([:], [:]) }
            return Array(state.tokens.values)
        }
        for responder in all { responder.end() }
    }
}
