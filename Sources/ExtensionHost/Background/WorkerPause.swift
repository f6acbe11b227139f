// SPDX-License-Identifier: Apache-2.0
import ServiceMessages
import Synchronization

/// Has one worker be quiet, and go on.
///
/// It is told, has a grace to heed that, and then stands still whatever it is doing: `SIGSTOP`, which no process can block,
/// handle or outlive its host with (a stopped process dies of `SIGKILL` too, the kernel's at the end of the host). Not the
/// freezer of control groups: it needs a group of the worker's own that the host may write, which it has under systemd with
/// delegation only, and does the same to a process that can start no others.
final class WorkerPause: Sendable {
    private enum Phase {
        case running
        case paused(Task<PauseOutcome, Never>)
        case over
    }
    private struct State {
        var phase = Phase.running
        /// Grows with each change, so that what belongs to a pause that is over does nothing.
        var number: UInt64 = 0
        /// The number of the last pause, whose worker hears what it is told although others need all processors.
        var last: UInt64 = 0
    }
    private let state = Mutex(State())
    private let process: WorkerProcess
    private let limits: WorkerConfiguration.Limits
    private let clock: any Clock<Duration>
    private let tell: @Sendable (WorkerRequest) -> Void
    private let end: @Sendable () -> Void
    /// How long it was made to stand still, and had for heeding that.
    let time: PausedTime

    /// How much processor time a worker that has heeded may still use in the second half of its grace, in nanoseconds.
    private static let quiet: UInt64 = 1_000_000
    /// How long, and how often, it is looked whether all threads stand still. One that waits for a disk does so without using
    /// a processor, and stops before it does anything else.
    private static let look = (interval: Duration.milliseconds(1), times: 50)
    /// How long is waited, and how often, where the kernel takes no more changes of sessions: one every tenth of a second.
    private static let yielding = (interval: Duration.milliseconds(110), times: 10)

    /// - Parameters:
    ///   - tell: Sends something that has no answer to the worker; must not wait.
    ///   - end: Ends the worker, and what it was asked as if nobody waited for it any more.
    init(
        _ process: WorkerProcess, _ configuration: WorkerConfiguration,
        tell: @escaping @Sendable (WorkerRequest) -> Void, end: @escaping @Sendable () -> Void
    ) {
        (self.process, limits, clock) = (process, configuration.limits, configuration.clock)
        (self.tell, self.end) = (tell, end)
        time = PausedTime(clock: configuration.clock)
    }

    var isPaused: Bool { state.withLock { if case .paused = $0.phase { true } else { false } } }

    /// Has it be quiet; returns once it is. Whoever comes while it is learns the same.
    func pause(_ notice: ThrottleNotice) async -> PauseOutcome {
        let task = state.withLock { state -> Task<PauseOutcome, Never>? in
            switch state.phase {
            case .over: return nil
            case .paused(let task): return task
            case .running:
                state.number += 1
                state.last = state.number
                time.begin()
                // Where others need all processors, one that yields to them would hear of it when it is too late.
                _ = process.setYielding(false)
                // Under the lock, so that this and what is told when it goes on keep their order.
                tell(.didThrottle(notice))
                let task = Task { [number = state.number] in
                    let outcome = await quieten(number)
                    Task { await yield(number) }
                    return outcome
                }
                state.phase = .paused(task)
                return task
            }
        }
        return await task?.value ?? .notRunning
    }

    /// Lets it go on, if it was to be quiet.
    func resume() {
        state.withLock { state in
            guard case .paused(let task) = state.phase else { return }
            task.cancel()
            state.number += 1
            state.phase = .running
            process.thaw()
            time.end()
            tell(.didFinishThrottle)
        }
    }

    func noteEnd() {
        state.withLock { state in
            if case .paused(let task) = state.phase { task.cancel() }
            state.phase = .over
            state.number += 1
            time.end()
        }
    }

    private func quieten(_ number: UInt64) async -> PauseOutcome {
        guard (try? await clock.sleep(for: limits.pauseGrace / 2)) != nil else { return calledOff }
        let half = process.processorTime
        guard (try? await clock.sleep(for: limits.pauseGrace / 2)) != nil else { return calledOff }
        // It has ended, or has no process of its own that could be frozen.
        guard let half, let full = process.processorTime else { return .notRunning }
        let heeds = full - min(full, half) <= Self.quiet
        guard whileIts(number, process.freeze) else { return calledOff }
        await standStill()
        if process.holdsLocks {
            guard whileIts(number, process.thaw) else { return calledOff }
            guard (try? await clock.sleep(for: limits.lockGrace)) != nil else { return calledOff }
            guard whileIts(number, process.freeze) else { return calledOff }
            await standStill()
            if process.holdsLocks { return whileIts(number, end) ? .ended : calledOff }
        }
        guard whileIts(number, {}) else { return calledOff }
        return heeds ? .heeded : .frozen
    }

    /// Has it yield to others again.
    private func yield(_ number: UInt64) async {
        for _ in 0..<Self.yielding.times {
            // A pause that came meanwhile does so at its own end.
            guard state.withLock({ $0.last == number && !process.setYielding(true) }) else { return }
            guard (try? await ContinuousClock().sleep(for: Self.yielding.interval)) != nil else { return }
        }
    }

    private func standStill() async {
        for _ in 0..<Self.look.times where !process.isStopped {
            // The kernel's time, whatever the clock of the limits is.
            guard (try? await ContinuousClock().sleep(for: Self.look.interval)) != nil else { return }
        }
    }

    /// Does something, unless the pause is over.
    private func whileIts(_ number: UInt64, _ body: () -> Void) -> Bool {
        state.withLock { state in
            guard state.number == number else { return false }
            body()
            return true
        }
    }

    /// What became of a pause that somebody or the worker's end has ended.
    private var calledOff: PauseOutcome {
        state.withLock { if case .over = $0.phase { .notRunning } else { .resumed } }
    }
}
