// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Has a service end that nobody needs: one timer, and none while somebody is connected or something is owed that nobody else
/// would do.
final class IdleTimer: Sendable {
    private let limit: Duration
    private let clock: any Clock<Duration>
    private let activity: @Sendable () -> ServiceActivity.Load
    private let onIdle: @Sendable () -> Void
    private let timer = Mutex<Task<Void, Never>?>(nil)

    init(
        limit: Duration, clock: any Clock<Duration>, activity: @escaping @Sendable () -> ServiceActivity.Load,
        onIdle: @escaping @Sendable () -> Void
    ) {
        self.limit = limit
        self.clock = clock
        self.activity = activity
        self.onIdle = onIdle
    }

    /// Somebody has come or gone, or something has begun or ended.
    func update() {
        timer.withLock { timer in
            timer?.cancel()
            timer = nil
            guard Self.isIdle(activity()) else { return }
            timer = Task { [clock, limit, activity, onIdle] in
                guard (try? await clock.sleep(for: limit)) != nil, Self.isIdle(activity()) else { return }
                onIdle()
            }
        }
    }

    func cancel() {
        timer.withLock { timer in
            timer?.cancel()
            timer = nil
        }
    }

    private static func isIdle(_ load: ServiceActivity.Load) -> Bool {
        load.requests == 0 && load.connections == 0 && load.senders == 0 && !load.isOwing
    }
}
