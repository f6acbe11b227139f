// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Counts a worker's signs of life.
final class WorkerProgress: Sendable {
    private let counter = Atomic<Int>(0)
    private let hostWork = Atomic<Int>(0)

    /// Records a sign of life.
    func note() { counter.wrappingAdd(1, ordering: .relaxed) }

    /// Records that the host starts work for the worker. This work does not count towards the
    /// worker's time limits.
    func beginHostWork() { hostWork.wrappingAdd(1, ordering: .relaxed) }

    /// Records that the work ends. The worker's time limits start again.
    func endHostWork() {
        note()
        hostWork.wrappingSubtract(1, ordering: .relaxed)
    }

    /// The number of signs of life.
    var count: Int { counter.load(ordering: .relaxed) }

    /// `true` while the host does work for the worker.
    var isHostAtWork: Bool { hostWork.load(ordering: .relaxed) > 0 }
}

/// The time limits for a request.
struct RequestLimit: Sendable {
    /// The limit until the first sign of life.
    var first: Duration
    /// The limit between two signs of life.
    var idle: Duration
    var total: Duration
}

/// A timer that fires once when a request exceeds its limit.
///
/// Creating a task and a timer takes as long as most requests. So the watchdog only starts once
/// ``LongCalls`` has found that the request takes longer.
final class Watchdog: Sendable {
    private enum State {
        case waiting(@Sendable () async -> Void)
        case running(Task<Void, Never>)
        case stopped
    }
    private let state: Mutex<State>

    /// Creates a watchdog. It checks for signs of life once every `limit.idle`, so a worker may be
    /// silent for up to twice as long. In return, watching a busy worker costs nothing.
    ///
    /// - Parameters:
    ///   - pauses: The worker's paused time, which does not count.
    ///   - isStarved: Returns `true` if the worker got no processor time since the last call, or
    ///     since the watchdog started. Then only the total limit applies.
    ///   - onBegin: Called when the watchdog starts, and after each sign of life.
    ///   - onExpiry: Called with the limit that was exceeded.
    init(
        _ limit: RequestLimit, clock: any Clock<Duration>, progress: WorkerProgress, pauses: PausedTime? = nil,
        isStarved: @escaping @Sendable () async -> Bool = { false }, onBegin: @escaping @Sendable () -> Void = {},
        onExpiry: @escaping @Sendable (Duration) -> Void
    ) {
        // The count is read here, because the task may start late. Progress in between counts as a
        // sign of life.
        let atStart = progress.count
        let now = stopwatch(clock)
        let watch: @Sendable () async -> Void = {
            onBegin()
            var elapsed = Duration.zero
            var seen = atStart
            var wait = min(limit.first, limit.total)
            while true {
                let (begun, paused) = (now(), pauses?.soFar ?? .zero)
                guard (try? await clock.sleep(for: wait)) != nil else { return }
                // Paused time does not count.
                while let all = await pauses?.total(), case let left = wait - (now() - begun) + (all - paused),
                    left > .zero
                {
                    guard (try? await clock.sleep(for: left)) != nil else { return }
                }
                guard !Task.isCancelled else { return }
                elapsed += wait
                let isOver = elapsed >= limit.total
                let count = progress.count
                if isOver || count == seen && !progress.isHostAtWork {
                    let isStarved = await isStarved()
                    guard !Task.isCancelled else { return }
                    if isOver { return onExpiry(limit.total) }
                    // The worker may have given a sign of life during the check.
                    if !isStarved, progress.count == count, !progress.isHostAtWork { return onExpiry(wait) }
                } else {
                    onBegin()
                }
                seen = count
                wait = min(limit.idle, limit.total - elapsed)
            }
        }
        state = Mutex(.waiting(watch))
        LongCalls.shared.add(self)
    }

    var isStopped: Bool { state.withLock { if case .stopped = $0 { true } else { false } } }

    /// Starts the watchdog.
    func run() {
        state.withLock { state in
            guard case .waiting(let watch) = state else { return }
            state = .running(Task { await watch() })
        }
    }

    func stop() {
        let task: Task<Void, Never>? = state.withLock { state in
            defer { state = .stopped }
            if case .running(let task) = state { return task }
            return nil
        }
        task?.cancel()
    }
}

/// A list of recent requests that starts the watchdogs of long requests. One timer on the real
/// clock serves all of them. It stops after an interval without requests. The timer delays the
/// detection of an exceeded limit by at most two intervals.
final class LongCalls: Sendable {
    static let shared = LongCalls()

    /// The interval of the checks. A long request is found after one to two intervals, far below
    /// any limit.
    private static let interval = Duration.milliseconds(20)

    private struct State {
        /// The requests that were in progress at the last check.
        var old: [Watchdog] = []
        var new: [Watchdog] = []
        var isTicking = false
    }
    private let state = Mutex(State())

    /// Adds a watchdog until it is started or stopped.
    func add(_ watchdog: Watchdog) {
        let isFirst = state.withLock { state in
            state.new.append(watchdog)
            // The next check removes requests that have ended.
            defer { state.isTicking = true }
            return !state.isTicking
        }
        guard isFirst else { return }
        // Uses the system clock instead of the limits' clock, because this only decides when a
        // watchdog starts. The clock must also run while libdispatch's timers are suspended
        // (`DispatchPoolMonitor`).
        Task.detached { [self] in
            repeat { try? await ContinuousClock().sleep(for: Self.interval) } while look()
        }
    }

    /// Starts the watchdogs of the requests that were in progress at the last check.
    ///
    /// - Returns: `true` if there are more requests to check.
    private func look() -> Bool {
        let (due, goesOn) = state.withLock { state -> ([Watchdog], Bool) in
            let due = state.old
            state.old = state.new.filter { !$0.isStopped }
            state.new = []
            state.isTicking = !state.old.isEmpty
            return (due, state.isTicking)
        }
        for watchdog in due { watchdog.run() }
        return goesOn
    }
}
