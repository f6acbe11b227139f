// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The watchdog notifications to systemd. They are enabled while requests are in progress and
/// disabled otherwise, so that an idle service is never woken up. None are sent before the service
/// is ready, or once it is stopping, when systemd applies its stop timeout.
final class ServiceWatchdog: Sendable {
    private let limit: Duration
    private let clock: any Clock<Duration>
    private let notify: @Sendable (String) -> Void
    private let activity: @Sendable () -> ServiceActivity.Load
    /// Reads from the store, as proof of progress. It does not wait for pending donations, since
    /// indexing may take longer than the limit.
    private let prove: @Sendable () async -> Void
    private struct State {
        var hasBegun = false
        var isArmed = false
        var hasEnded = false
        var timer: Task<Void, Never>?
    }
    /// Held during each notification, so that none is sent before the beginning or after the end.
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

    /// The notification that disables the watchdog.
    static let disarming = "WATCHDOG_USEC=0"

    /// Notifies systemd that the service is ready. From the next ``update()`` on, the watchdog
    /// covers requests in progress. An earlier keep-alive would be revoked by ``disarming``, which
    /// is part of this notification.
    func begin(saying text: String) {
        state.withLock { state in
            notify(text)
            state.hasBegun = true
        }
    }

    /// Enables the watchdog if requests are in progress.
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

    /// Sends a keep-alive, or disables the watchdog if there have been no requests since the last
    /// keep-alive.
    ///
    /// - Parameter total: The number of requests at the last keep-alive.
    private func expire(_ total: UInt64) {
        let load = activity()
        if load.requests == 0, load.total == total {
            say(Self.disarming) { $0.isArmed = false }
            // If a request began during this call, it found the watchdog enabled, so the state is
            // checked again.
            return update()
        }
        Task {
            await prove()
            if say("WATCHDOG=1") { wait(load.total) }
        }
    }

    /// Sends a notification unless the watchdog has ended, in which case it returns `false`.
    @discardableResult
    private func say(_ text: String, _ change: (inout State) -> Void = { _ in }) -> Bool {
        state.withLock { state in
            change(&state)
            if !state.hasEnded { notify(text) }
            return !state.hasEnded
        }
    }

    /// Ends all notifications.
    func end() { state.withLock { $0.hasEnded = true } }
}
