// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The sign of life to the service manager: given while something is under way, and not expected otherwise, so that an
/// idle service is never woken. Nor is it once the service ends, whose manager then waits for that; nor before it is ready.
final class ServiceWatchdog: Sendable {
    private let limit: Duration
    private let clock: any Clock<Duration>
    private let notify: @Sendable (String) -> Void
    private let activity: @Sendable () -> ServiceActivity.Load
    /// Proves that the service can still read its store. What waits to be indexed is not waited for: that may take longer.
    private let prove: @Sendable () async -> Void
    private struct State {
        var hasBegun = false
        var isArmed = false
        var hasEnded = false
        var timer: Task<Void, Never>?
    }
    /// Held while something is said, so that nothing is before the beginning or after the end.
    private let state = Mutex(State())

    init(
        limit: Duration, clock: any Clock<Duration>, notify: @escaping @Sendable (String) -> Void,
        activity: @escaping @Sendable () -> ServiceActivity.Load, prove: @escaping @Sendable () async -> Void
    ) {
        self.limit = limit
        self.clock = clock
        self.notify = notify
        self.activity = activity
        self.prove = prove
    }

    /// What to say so that no sign of life is expected.
    static let disarming = "WATCHDOG_USEC=0"

    /// Says that the service is ready. What is under way by then is watched from the next ``update()`` on: a sign of life
    /// before it would be taken back by ``disarming``, which goes with it.
    func begin(saying text: String) {
        state.withLock { state in
            notify(text)
            state.hasBegun = true
        }
    }

    /// Something may be under way now.
    func update() {
        guard activity().requests > 0 else { return }
        let components = limit.components
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        let arms = state.withLock { state in
            guard state.hasBegun, !state.isArmed, !state.hasEnded else { return false }
            state.isArmed = true
            notify("WATCHDOG_USEC=\(microseconds)\nWATCHDOG=1")
            return true
        }
        if arms { wait(activity().total) }
    }

    private func wait(_ total: UInt64) {
        let timer = clock.timer(after: limit / 3) { [weak self] in self?.expire(total) }
        state.withLock { $0.timer = timer }
    }

    /// - Parameter total: How many requests there had been at the last sign of life.
    private func expire(_ total: UInt64) {
        let load = activity()
        if load.requests == 0, load.total == total {
            say(Self.disarming) { $0.isArmed = false }
            // What began in between found it armed.
            return update()
        }
        Task {
            await prove()
            if say("WATCHDOG=1") { wait(load.total) }
        }
    }

    /// Says something, unless it has ended.
    @discardableResult
    private func say(_ text: String, _ change: (inout State) -> Void = { _ in }) -> Bool {
        state.withLock { state in
            change(&state)
            if !state.hasEnded { notify(text) }
            return !state.hasEnded
        }
    }

    /// Says nothing any more.
    func end() { state.withLock { $0.hasEnded = true } }
}
