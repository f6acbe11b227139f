// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Waits after a change until no more come, and then has something done about all of them at once. Measures time only
/// while changes come.
final class ChangeSettler: Sendable {
    private struct State {
        var changes: UInt64 = 0
        var settling: Task<Void, Never>?
        var hasEnded = false
    }
    private let state = Mutex(State())
    private let quiet: Duration
    private let patience: Int
    private let clock: any Clock<Duration>
    private let hold: @Sendable () -> @Sendable () -> Void
    private let act: @Sendable () async -> Void

    /// - Parameters:
    ///   - quiet: How long no change may come.
    ///   - patience: After how many such pauses with changes something is done all the same.
    ///   - clock: What measures it; one that goes on while the service rests.
    ///   - hold: Called when changes begin to be waited for; what it gives back, when that is over.
    ///   - act: Does something about the changes; never called twice at the same time.
    init(
        quiet: Duration, patience: Int = 10, clock: any Clock<Duration>,
        hold: @escaping @Sendable () -> @Sendable () -> Void, act: @escaping @Sendable () async -> Void
    ) {
        self.quiet = quiet
        self.patience = patience
        self.clock = clock
        self.hold = hold
        self.act = act
    }

    /// Notes a change. Never blocks.
    func note() {
        state.withLock { state in
            state.changes += 1
            guard state.settling == nil, !state.hasEnded else { return }
            let release = hold()
            state.settling = Task { [self] in
                await settle()
                release()
            }
        }
    }

    private func settle() async {
        while true {
            var last = state.withLock { $0.changes }
            for _ in 0..<patience {
                guard (try? await clock.sleep(for: quiet)) != nil else { return end() }
                let now = state.withLock { $0.changes }
                if now == last { break }
                last = now
            }
            last = state.withLock { $0.changes }
            await act()
            let isDone = state.withLock { state in
                guard state.changes == last || state.hasEnded else { return false }
                state.settling = nil
                return true
            }
            if isDone { return }
        }
    }

    /// Ends the waiting; what is being done is not waited for.
    func end() {
        let settling = state.withLock { state in
            state.hasEnded = true
            defer { state.settling = nil }
            return state.settling
        }
        settling?.cancel()
    }
}
