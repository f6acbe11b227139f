// SPDX-License-Identifier: Apache-2.0
import CSystem
import Synchronization

/// Releases caches and suspends libdispatch's pool monitor once the daemon has been idle for
/// several seconds. From then on, nothing wakes up the process until a request begins.
final class IdleReclaimer: Sendable {
    private enum Phase {
        /// The delay before caches are released, and the delay afterwards: the release frees memory
        /// that the allocator can then return to the kernel.
        case settling, released
        /// The monitor is suspended. Whether it still is will be checked again after this delay.
        case suspended(next: Duration)
    }
    private struct State {
        var timer: Task<Void, Never>?
        var phase = Phase.settling
        var hasEnded = false
    }
    /// Longer than the index takes to apply donations, so that no pending libdispatch timer is
    /// suspended.
    static let pause = Duration.seconds(3)
    /// The delay before the first check. libdispatch may arm its timers again while the monitor is
    /// suspended, since it still wakes up for a cancelled sleep.
    private static let firstCheck = Duration.seconds(5)
    private static let longestCheck = Duration.seconds(86400)

    private let state = Mutex(State())
    private let monitor: any Suspendable
    private let clock: any Clock<Duration>
    private let activity: @Sendable () -> ServiceActivity.Load
    private let release: @Sendable () async -> Void

    /// Creates a reclaimer.
    ///
    /// - Parameter release: Releases caches.
    init(
        clock: any Clock<Duration>, monitor: any Suspendable = DispatchPoolMonitor(),
        activity: @escaping @Sendable () -> ServiceActivity.Load, release: @escaping @Sendable () async -> Void
    ) {
        (self.clock, self.monitor, self.activity, self.release) = (clock, monitor, activity, release)
    }

    /// Call this when the number of requests changes between zero and non-zero.
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

    /// Resumes the monitor permanently.
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

    /// Continues with the next phase, if there have been no requests in the meantime.
    ///
    /// - Parameter total: The number of requests when the timer was armed.
    private func expire(_ total: UInt64) {
        state.withLock { state in
            guard !Task.isCancelled else { return }
            let load = activity()
            // The timer is armed again when the last request ends.
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
