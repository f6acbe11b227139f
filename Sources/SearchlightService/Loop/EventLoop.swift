// SPDX-License-Identifier: Apache-2.0
import CSystem
import Dispatch
import Glibc
import Synchronization
import SystemSupport

/// The daemon's event loop: a thread that runs the tasks that prefer it, and owns all deadlines.
///
/// The thread blocks in one `read` of a timerfd, which is armed for the next deadline. An enqueued
/// task makes the timer expire immediately. The timer's clock, `CLOCK_BOOTTIME`, includes system
/// suspends.
///
/// A deadline costs one wake-up. The same sleep on Swift's pool costs a dozen: libdispatch wakes up
/// for the timer and passes the task to a pool thread, which lives for another five seconds. It
/// also samples its pools once a second (``DispatchPoolMonitor``).
///
/// ```swift
/// let loop = EventLoop()
/// configuration.clock = loop.clock
/// let timer = configuration.clock.timer(after: .seconds(10)) { close() }
/// ```
package final class EventLoop: TaskExecutor {
    private struct Sleeper {
        var deadline: ContinuousClock.Instant
        var number: UInt64
        var continuation: CheckedContinuation<Void, any Error>
    }
    private struct State {
        var jobs: [UnownedJob] = []
        /// The sleeping tasks, sorted by descending deadline: the last one is due first.
        var sleepers: [Sleeper] = []
        var lastNumber: UInt64 = 0
        /// The expiry of the timerfd; `nil` while the thread is running.
        var wakeUp: ContinuousClock.Instant?
        var isToEnd = false
        var hasEnded = false

        mutating func insert(_ sleeper: Sleeper) {
            var (low, high) = (0, sleepers.count)
            while low < high {
                let middle = (low + high) / 2
                if sleepers[middle].deadline > sleeper.deadline { low = middle + 1 } else { high = middle }
            }
            sleepers.insert(sleeper, at: low)
        }

        mutating func remove(_ number: UInt64) -> Sleeper? {
            sleepers.firstIndex { $0.number == number }.map { sleepers.remove(at: $0) }
        }

        mutating func removeDue(at now: ContinuousClock.Instant) -> [Sleeper] {
            let count = sleepers.reversed().prefix { $0.deadline <= now }.count
            defer { sleepers.removeLast(count) }
            return sleepers.suffix(count).reversed()
        }
    }
    private enum Step {
        case run([UnownedJob])
        case resume([Sleeper])
        case wait
        case end
    }
    private let state = Mutex(State())
    private let timer: OwnedDescriptor

    /// Starts the thread.
    ///
    /// - Parameter name: The thread's name, up to 15 bytes.
    /// - Throws: ``EventLoop/Failure`` if the process cannot create the descriptor or the thread.
    package init(name: String = "loop") throws(Failure) {
        let number = csystem_timer_descriptor()
        guard number >= 0 else { throw Failure(operation: "create a timer descriptor", code: errno) }
        timer = OwnedDescriptor(adopting: number)
        let code = OwnThread.start(name) { self.run() }
        guard code == 0 else { throw Failure(operation: "start the thread of the event loop", code: code) }
    }

    /// A failed system call.
    package struct Failure: Error, Hashable, CustomStringConvertible {
        let operation: String
        let code: Int32

        /// The error in one sentence.
        package var description: String { "Could not \(operation): \(String(cString: strerror(code)))." }
    }

    /// The clock whose sleeps are deadlines of this loop.
    package var clock: LoopClock { LoopClock(loop: self) }

    /// Runs a job on the thread, after all previously enqueued jobs.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.jobs.append(job)
            wake(&state)
            return true
        }
        // A task may outlive the loop; its remaining jobs run on libdispatch.
        if !isTaken { DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) } }
    }

    /// Ends the thread once it has neither jobs nor deadlines.
    func end() {
        state.withLock { state in
            state.isToEnd = true
            wake(&state)
        }
    }

    /// `true` until the thread has ended.
    var isRunning: Bool { state.withLock { !$0.hasEnded } }

    /// Returns when a deadline is reached.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the deadline, or if the thread
    ///   has ended.
    fileprivate func sleep(until deadline: ContinuousClock.Instant) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isAccepted = state.withLock { state in
                    // If the task was cancelled before this line, there was no sleeper to remove.
                    guard !Task.isCancelled, !state.hasEnded else { return false }
                    state.insert(Sleeper(deadline: deadline, number: number, continuation: continuation))
                    if let wakeUp = state.wakeUp, deadline < wakeUp { wake(&state) }
                    return true
                }
                if !isAccepted { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.remove(number)
                if state.isToEnd { wake(&state) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Makes the timer expire now. The caller must hold the lock, so that the thread cannot arm the
    /// timer afterwards.
    private func wake(_ state: inout State) {
        guard state.wakeUp != nil else { return }
        state.wakeUp = nil
        _ = csystem_set_timer(timer.number, 1)
    }

    private func run() {
        while true {
            switch next() {
            case .run(let jobs): for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            case .resume(let sleepers): for sleeper in sleepers { sleeper.continuation.resume() }
            case .wait:
                var expirations: UInt64 = 0
                _ = read(timer.number, &expirations, 8)
            case .end: return
            }
        }
    }

    private func next() -> Step {
        state.withLock { state in
            state.wakeUp = nil
            guard state.jobs.isEmpty else {
                defer { state.jobs = [] }
                return .run(state.jobs)
            }
            let now = ContinuousClock.now
            let due = state.removeDue(at: now)
            guard due.isEmpty else { return .resume(due) }
            if state.isToEnd && state.sleepers.isEmpty {
                state.hasEnded = true
                return .end
            }
            // At most a century, which fits into 64-bit nanoseconds. At least 1, since 0 would
            // disarm the timer.
            let wakeUp = min(state.sleepers.last?.deadline ?? now + Self.longestWait, now + Self.longestWait)
            _ = csystem_set_timer(timer.number, max(1, Int(now.duration(to: wakeUp) / .nanoseconds(1))))
            state.wakeUp = wakeUp
            return .wait
        }
    }

    private static let longestWait = Duration.seconds(3_155_760_000)
}

/// The continuous clock, with an ``EventLoop`` that owns the deadlines of its sleeps.
package struct LoopClock: Clock {
    let loop: EventLoop

    /// The current instant.
    package var now: ContinuousClock.Instant { .now }
    /// The resolution of the continuous clock.
    package var minimumResolution: Duration { ContinuousClock().minimumResolution }

    /// Returns when a deadline is reached, never earlier.
    package func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await loop.sleep(until: deadline)
    }
}

extension Clock where Duration == Swift.Duration {
    /// The loop that owns this clock's deadlines; `nil` for other clocks, whose tasks run on
    /// Swift's pool.
    var eventLoop: EventLoop? { (self as? LoopClock)?.loop }

    /// Runs an action once after a delay, on the event loop. Cancel the task to disarm the timer.
    /// The action must be short, since it delays other deadlines.
    func timer(after pause: Duration, _ action: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task(executorPreference: eventLoop) {
            guard (try? await sleep(for: pause)) != nil, !Task.isCancelled else { return }
            action()
        }
    }
}
