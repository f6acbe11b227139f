// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Terminates a worker, and records the cause of its exit.
final class WorkerEnd: Sendable {
    private struct State {
        var wasHosts = false
        var hasBrokenProtocol = false
        var wasReported = false
        var wasStarved = false
        var request: String?
    }
    private let state = Mutex(State())
    private let process: WorkerProcess

    init(_ process: WorkerProcess) { self.process = process }

    /// Asks the worker to exit (SIGTERM).
    ///
    /// - Parameter request: The purpose of the request that caused it.
    func politely(after request: String) {
        noteHosts(request)
        process.askToEnd()
    }

    /// Terminates the worker at once (SIGKILL).
    ///
    /// - Parameter request: The purpose of the request that caused it; `nil` if the cause is not a
    ///   request.
    func now(after request: String? = nil) {
        noteHosts(request)
        process.terminate()
    }

    /// `true` if the worker is frozen, so that it cannot react to a request.
    var isFrozen: Bool { process.isFrozen }

    private func noteHosts(_ request: String?) {
        // A worker that has already exited was not terminated by the host.
        guard !process.hasEnded else { return }
        state.withLock { state in
            if !state.wasHosts { state.request = request }
            state.wasHosts = true
        }
    }

    /// The purpose of the request because of which the host terminated the worker; `nil` for other
    /// causes.
    var request: String? { state.withLock { $0.request } }

    /// Records that the worker broke the protocol, so that the host closed the connection.
    func noteBrokenProtocol() { state.withLock { $0.hasBrokenProtocol = true } }

    var hasBrokenProtocol: Bool { state.withLock { $0.hasBrokenProtocol } }

    /// `true` if the host terminated the worker for its own reasons.
    var wasHosts: Bool { state.withLock { $0.wasHosts } }

    /// Records that the worker is late, and whether the cause is that it got no processor time.
    func noteLate(isStarved: Bool) { state.withLock { $0.wasStarved = isStarved } }

    /// `true` if the last time the worker was late, the cause was that it got no processor time.
    var wasStarved: Bool { state.withLock { $0.wasStarved } }

    /// Returns the kind on the first call only, so that a worker's exit is recorded once.
    func report(_ kind: ExtensionHealth.FailureKind) -> ExtensionHealth.FailureKind? {
        state.withLock { state in
            guard !state.wasReported else { return nil }
            state.wasReported = true
            return kind
        }
    }
}
