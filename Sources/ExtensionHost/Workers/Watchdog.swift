// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A count that grows whenever a worker shows that it is alive and working.
final class WorkerProgress: Sendable {
    private let counter = Atomic<Int>(0)
    private let hostWork = Atomic<Int>(0)

    /// Notes that something happened.
    func note() { counter.wrappingAdd(1, ordering: .relaxed) }

    /// Notes that the host does something for the worker, which cannot be held against it, however long it takes.
    func beginHostWork() { hostWork.wrappingAdd(1, ordering: .relaxed) }

    /// Notes that the host has done it; the worker has its time anew.
    func endHostWork() {
        note()
        hostWork.wrappingSubtract(1, ordering: .relaxed)
    }

    /// How often something happened.
    var count: Int { counter.load(ordering: .relaxed) }

    /// Whether it is the host that has something to do.
    var isHostAtWork: Bool { hostWork.load(ordering: .relaxed) > 0 }
}

/// How long a request may take.
struct RequestLimit: Sendable {
    /// Until the first sign of life.
    var first: Duration
    /// Without any further one.
    var idle: Duration
    /// In all.
    var total: Duration
}

/// Acts once when a request exceeds its limit.
final class Watchdog: Sendable {
    private let task: Task<Void, Never>

    /// Starts watching. Signs of life are looked for once every `limit.idle`, so that a worker may be still for up to twice
    /// as long; in exchange a busy one costs nothing.
    ///
    /// - Parameter onExpiry: Told which limit was exceeded.
    init(
        _ limit: RequestLimit, clock: any Clock<Duration>, progress: WorkerProgress,
        onExpiry: @escaping @Sendable (Duration) -> Void
    ) {
        // Here, for the task may begin late: what came before that is a sign of life.
        let atStart = progress.count
        task = Task {
            var elapsed = Duration.zero
            var seen = atStart
            var wait = min(limit.first, limit.total)
            while true {
                guard (try? await clock.sleep(for: wait)) != nil else { return }
                elapsed += wait
                if elapsed >= limit.total { return onExpiry(limit.total) }
                let count = progress.count
                if count == seen, !progress.isHostAtWork { return onExpiry(wait) }
                seen = count
                wait = min(limit.idle, limit.total - elapsed)
            }
        }
    }

    /// Stops watching.
    func stop() { task.cancel() }
}
