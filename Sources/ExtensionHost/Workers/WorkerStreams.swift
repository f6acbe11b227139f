// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The streams that a worker still fills after their requests are answered. The worker stays in use
/// until they end.
final class WorkerStreams: Sendable {
    private struct State {
        var open: UInt64 = 0
        var hasEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())

    /// `true` if the worker fills a stream.
    var isOpen: Bool { state.withLock { $0.open > 0 && !$0.hasEnded } }

    /// `true` if the worker has exited, or has filled a stream for longer than the limit.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Records the number of streams, which the worker has reported.
    func note(open: UInt64) {
        state.withLock { $0.open = open }
        if open == 0 { resume() }
    }

    /// Records that the worker has exited, or that a stream exceeded its limit. Streams no longer
    /// count.
    func noteEnd() {
        state.withLock { $0.hasEnded = true }
        resume()
    }

    /// Returns once the worker fills no stream.
    func end() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                guard state.open > 0, !state.hasEnded else { return false }
                state.waiting.append(continuation)
                return true
            }
            if !isOpen { continuation.resume() }
        }
    }

    private func resume() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
