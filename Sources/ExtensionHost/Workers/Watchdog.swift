// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A count that grows whenever a worker shows that it is alive and working.
final class WorkerProgress: Sendable {
    private let counter = Atomic<Int>(0)

    /// Notes that something happened.
    func note() { counter.wrappingAdd(1, ordering: .relaxed) }

    /// How often something happened.
    var count: Int { counter.load(ordering: .relaxed) }
}

/// How long a request may take.
struct RequestLimit: Sendable {
    /// Without any progress.
    var idle: Duration
    /// In all.
    var total: Duration
}

/// Acts once when a request exceeds its limit.
final class Watchdog: Sendable {
    private let expired: ExpiryFlag
    private let task: Task<Void, Never>

    private final class ExpiryFlag: Sendable {
        let value = Atomic<Bool>(false)
    }

    /// Starts watching. Progress is looked at once every `limit.idle`, so that a worker may be still for up to twice as
    /// long; in exchange a busy one costs nothing.
    init(
        _ limit: RequestLimit, clock: any Clock<Duration>, progress: WorkerProgress,
        onExpiry: @escaping @Sendable () -> Void
    ) {
        let flag = ExpiryFlag()
        expired = flag
        task = Task {
            var elapsed = Duration.zero
            while true {
                let seen = progress.count
                guard (try? await clock.sleep(for: limit.idle)) != nil else { return }
                elapsed += limit.idle
                if progress.count == seen || elapsed >= limit.total {
                    flag.value.store(true, ordering: .relaxed)
                    return onExpiry()
                }
            }
        }
    }

    /// Stops watching.
    func stop() { task.cancel() }

    /// Whether the limit was exceeded.
    var hasExpired: Bool { expired.value.load(ordering: .relaxed) }
}
