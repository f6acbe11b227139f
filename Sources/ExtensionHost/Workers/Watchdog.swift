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
    var total: Duration
}

/// Acts once when a request exceeds its limit.
///
/// Most requests are answered before a task and a timer could be made for them, which would take as long as the request; so
/// it begins to count once ``LongCalls`` has found that it is not one of these.
final class Watchdog: Sendable {
    private enum State {
        case waiting(@Sendable () async -> Void)
        case running(Task<Void, Never>)
        case stopped
    }
    private let state: Mutex<State>

    /// Starts watching. Signs of life are looked for once every `limit.idle`, so that a worker may be still for up to twice
    /// as long; in exchange a busy one costs nothing.
    ///
    /// - Parameters:
    ///   - pauses: How long the worker was made to stand still; that does not count.
    ///   - isStarved: Whether the worker was given no processor since it was last asked, or since it began to count. Then it could
    ///     show no sign of life, and only the limit for the whole request holds.
    ///   - onBegin: Called when it begins to count, and after each sign of life.
    ///   - onExpiry: Told which limit was exceeded.
    init(
        _ limit: RequestLimit, clock: any Clock<Duration>, progress: WorkerProgress, pauses: PausedTime? = nil,
        isStarved: @escaping @Sendable () async -> Bool = { false }, onBegin: @escaping @Sendable () -> Void = {},
        onExpiry: @escaping @Sendable (Duration) -> Void
    ) {
        // Here, for the task begins late: what came before that is a sign of life.
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
                // What it stood still of that does not count.
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
                    if !isStarved { return onExpiry(wait) }
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

    /// Begins to count.
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

/// Finds the requests that take longer than most, and has their watchdogs begin. One timer for all of them, on the real clock,
/// and none once there was nothing to look at for one interval; a limit is so much later at most.
final class LongCalls: Sendable {
    static let shared = LongCalls()

    /// How often it looks: a request is found after one to two of it, far below any limit.
    private static let interval = Duration.milliseconds(20)

    private struct State {
        /// Those that have been under way at the last look, and since.
        var old: [Watchdog] = []
        var new: [Watchdog] = []
        var isTicking = false
    }
    private let state = Mutex(State())

    /// Looks after a watchdog until it begins or is stopped.
    func add(_ watchdog: Watchdog) {
        let isFirst = state.withLock { state in
            state.new.append(watchdog)
            // In a host that is asked all the time, what has ended goes with the next look.
            defer { state.isTicking = true }
            return !state.isTicking
        }
        guard isFirst else { return }
        // Not the clock of the limits: this decides nothing but when that is first looked at. And one that counts while
        // libdispatch's own timers are put away (`DispatchPoolMonitor`).
        Task.detached { [self] in
            repeat { try? await ContinuousClock().sleep(for: Self.interval) } while look()
        }
    }

    /// - Returns: Whether there is more to look at.
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
