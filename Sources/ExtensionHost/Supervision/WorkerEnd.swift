// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How a worker is ended, and whose doing its end was.
final class WorkerEnd: Sendable {
    private struct State {
        var wasHosts = false
        var hasBrokenProtocol = false
        var wasReported = false
        var wasStarved = false
    }
    private let state = Mutex(State())
    private let process: WorkerProcess

    init(_ process: WorkerProcess) { self.process = process }

    /// Asks the worker to end.
    func politely() {
        noteHosts()
        process.askToEnd()
    }

    /// Ends the worker at once.
    func now() {
        noteHosts()
        process.terminate()
    }

    /// Whether the worker stands still, so that asking it anything is in vain.
    var isFrozen: Bool { process.isFrozen }

    private func noteHosts() {
        // One that has ended by itself has done so.
        guard !process.hasEnded else { return }
        state.withLock { $0.wasHosts = true }
    }

    /// Notes that the worker broke the protocol, so that the host ended the connection.
    func noteBrokenProtocol() { state.withLock { $0.hasBrokenProtocol = true } }

    var hasBrokenProtocol: Bool { state.withLock { $0.hasBrokenProtocol } }

    /// Whether the host ended the worker for a reason of its own.
    var wasHosts: Bool { state.withLock { $0.wasHosts } }

    /// Notes that it is late, and whether because it got no processor.
    func noteLate(isStarved: Bool) { state.withLock { $0.wasStarved = isStarved } }

    /// Whether it was last late because it got no processor.
    var wasStarved: Bool { state.withLock { $0.wasStarved } }

    /// Gives the kind back the first time, so that the end of one worker is noted once.
    func report(_ kind: ExtensionHealth.FailureKind) -> ExtensionHealth.FailureKind? {
        state.withLock { state in
            guard !state.wasReported else { return nil }
            state.wasReported = true
            return kind
        }
    }
}
