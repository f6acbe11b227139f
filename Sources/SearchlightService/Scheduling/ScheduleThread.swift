// SPDX-License-Identifier: Apache-2.0
import CSystem
import Dispatch
import Glibc
import Synchronization
import SystemSupport

/// The thread on which is decided what is done in the background, and which sleeps until it is time to decide again.
///
/// A look at the machine is due as long as something is owed, and is to cost one wake-up. With Swift's pool it would cost a
/// dozen: libdispatch wakes for the time, has a thread of its pool go on, which looks for more to do five seconds later and
/// ends, and looks at its pools once a second until the service rests again (``PoolWatch``). Here one thread waits for both,
/// for the time and for work, in one `read` of a timer descriptor, which work makes expire at once. The time goes on while the
/// machine is asleep.
final class ScheduleThread: TaskExecutor {
    private struct Sleeper {
        var deadline: ContinuousClock.Instant
        var continuation: CheckedContinuation<Void, any Error>
    }
    private struct State {
        var jobs: [UnownedJob] = []
        var sleepers: [UInt64: Sleeper] = [:]
        /// Those that were given up before they slept.
        var givenUp: Set<UInt64> = []
        var count: UInt64 = 0
        /// Whether the thread waits, so that it has to be woken.
        var isWaiting = false
        var isToEnd = false
        var hasEnded = false
    }
    private enum Deed {
        case run([UnownedJob])
        case wake([CheckedContinuation<Void, any Error>])
        case wait
        case end
    }
    private let state = Mutex(State())
    private let timer: OwnedDescriptor

    /// Starts it; `nil` where there is no descriptor or no thread for it.
    init?(name: String = "schedule") {
        let number = csystem_timer_descriptor()
        guard number >= 0 else { return nil }
        timer = OwnedDescriptor(adopting: number)
        guard OwnThread.start(name, { self.run() }) == 0 else { return nil }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.jobs.append(job)
            wake(&state)
            return true
        }
        // What is left of a task that nobody waits for.
        if !isTaken { DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) } }
    }

    /// Has the thread end once nothing is left to do.
    func end() {
        state.withLock { state in
            state.isToEnd = true
            wake(&state)
        }
    }

    /// Whether there is a thread yet.
    var isThere: Bool { state.withLock { !$0.hasEnded } }

    /// Returns at a moment, or throws `CancellationError` before.
    func sleep(until deadline: ContinuousClock.Instant) async throws {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isGivenUp = state.withLock { state in
                    if state.givenUp.remove(number) != nil || state.hasEnded { return true }
                    state.sleepers[number] = Sleeper(deadline: deadline, continuation: continuation)
                    wake(&state)
                    return false
                }
                if isGivenUp { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: number)
                if sleeper == nil { state.givenUp.insert(number) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        // Given up just when it was over.
        state.withLock { _ = $0.givenUp.remove(number) }
    }

    /// Called under the lock, so that the thread does not set its time afterwards.
    private func wake(_ state: inout State) {
        guard state.isWaiting else { return }
        state.isWaiting = false
        _ = csystem_set_timer(timer.number, 1)
    }

    private func run() {
        while true {
            switch next() {
            case .run(let jobs): for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            case .wake(let sleepers): for sleeper in sleepers { sleeper.resume() }
            case .wait:
                var count: UInt64 = 0
                _ = read(timer.number, &count, 8)
            case .end: return
            }
        }
    }

    private func next() -> Deed {
        state.withLock { state in
            state.isWaiting = false
            guard state.jobs.isEmpty else {
                defer { state.jobs = [] }
                return .run(state.jobs)
            }
            let now = ContinuousClock.now
            let over = state.sleepers.filter { $0.value.deadline <= now }
            guard over.isEmpty else {
                for number in over.keys { state.sleepers[number] = nil }
                return .wake(over.values.map(\.continuation))
            }
            if state.isToEnd && state.sleepers.isEmpty {
                state.hasEnded = true
                return .end
            }
            let left = state.sleepers.values.map { now.duration(to: $0.deadline) }.min()
            _ = csystem_set_timer(timer.number, left.map { max(1, $0.nanoseconds) } ?? 0)
            state.isWaiting = true
            return .wait
        }
    }
}

extension Duration {
    /// Bounded to a century.
    fileprivate var nanoseconds: Int {
        let (seconds, attoseconds) = min(self, .seconds(3_155_760_000)).components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}

/// The continuous clock, on which is slept with the thread of the schedule.
struct ScheduleClock: Clock {
    let thread: ScheduleThread

    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { ContinuousClock().minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await thread.sleep(until: deadline)
    }
}
