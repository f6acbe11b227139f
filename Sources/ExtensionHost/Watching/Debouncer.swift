// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A debouncer: after a change it waits until no more changes occur, and then handles all of them
/// at once. No timer runs while there are no changes.
final class Debouncer: Sendable {
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

    /// Creates a debouncer.
    ///
    /// - Parameters:
    ///   - quiet: The time without changes before `act` is called.
    ///   - patience: The number of such intervals with changes after which `act` is called anyway.
    ///   - clock: The clock that measures the intervals. It must run while the service is
    ///     suspended.
    ///   - hold: Called when a wait starts. The returned closure is called when the changes have
    ///     been handled.
    ///   - act: Handles the changes. Never called concurrently.
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

    /// Records a change. Never blocks.
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

    /// Cancels the wait. Does not wait for an `act` in progress.
    func end() {
        let settling = state.withLock { state in
            state.hasEnded = true
            defer { state.settling = nil }
            return state.settling
        }
        settling?.cancel()
    }
}
