// SPDX-License-Identifier: Apache-2.0
import CSystem
import Synchronization

/// Gives memory back that is only kept for reuse, and suspends libdispatch's pool monitor, once the daemon has been idle for some
/// seconds. From then on nothing wakes the process until a request begins.
final class IdleReclaimer: Sendable {
    private enum Phase {
        /// The pause before memory is released, and the one after it: the release leaves more for the allocator to give back.
        case settling, released
        /// The monitor is suspended; the next check of that follows after this pause.
        case suspended(next: Duration)
    }
    private struct State {
        var timer: Task<Void, Never>?
        var phase = Phase.settling
        var hasEnded = false
    }
    /// Longer than the index takes to apply donations, so that no timer of libdispatch's is left that has to run.
    static let pause = Duration.seconds(3)
    /// libdispatch may arm its timers again while the monitor is suspended: for a sleep that was cancelled, it wakes all the same.
    private static let firstCheck = Duration.seconds(15)
    private static let longestCheck = Duration.seconds(86400)

    private let state = Mutex(State())
    private let monitor: any Suspendable
    private let clock: any Clock<Duration>
    private let activity: @Sendable () -> ServiceActivity.Load
    private let release: @Sendable () async -> Void

    /// - Parameter release: Gives back memory that is only kept for reuse.
    init(
        clock: any Clock<Duration>, monitor: any Suspendable = DispatchPoolMonitor(),
        activity: @escaping @Sendable () -> ServiceActivity.Load, release: @escaping @Sendable () async -> Void
    ) {
        (self.clock, self.monitor, self.activity, self.release) = (clock, monitor, activity, release)
    }

    /// The number of requests has become zero, or is not zero any more.
    func update() {
        state.withLock { state in
            if activity().requests > 0 {
                guard case .suspended = state.phase else { return }
                monitor.resume()
                state.timer?.cancel()
                (state.timer, state.phase) = (nil, .settling)
            } else if state.timer == nil {
                wait(Self.pause, .settling, &state)
            }
        }
    }

    /// Resumes the monitor for good.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.timer?.cancel()
            monitor.resume()
        }
    }

    private func wait(_ pause: Duration, _ phase: Phase, _ state: inout State) {
        guard !state.hasEnded else { return }
        state.phase = phase
        let total = activity().total
        state.timer = clock.timer(after: pause) { [weak self] in self?.expire(total) }
    }

    /// - Parameter total: How many requests there had been when the timer was armed.
    private func expire(_ total: UInt64) {
        state.withLock { state in
            guard !Task.isCancelled else { return }
            let load = activity()
            // The end of the last request arms the timer again.
            guard load.requests == 0 else { return state.timer = nil }
            guard load.total == total else { return wait(Self.pause, .settling, &state) }
            switch state.phase {
            case .settling:
                Task { [release] in await release() }
                wait(Self.pause, .released, &state)
            case .released:
                MappedCode.release()
                csystem_trim_memory()
                suspend(next: Self.firstCheck, &state)
            case .suspended(let next): suspend(next: min(next * 60, Self.longestCheck), &state)
            }
        }
    }

    private func suspend(next: Duration, _ state: inout State) {
        let isSuspended = monitor.suspend()
        wait(isSuspended ? next : Self.pause, isSuspended ? .suspended(next: next) : .released, &state)
    }
}
