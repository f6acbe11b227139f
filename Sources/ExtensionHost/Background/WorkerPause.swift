// SPDX-License-Identifier: Apache-2.0
import ServiceMessages
import Synchronization

/// The pause and resume mechanism of one worker.
///
/// A pause notifies the worker, waits for a grace period, and then sends `SIGSTOP`, which no
/// process can block or handle. A stopped process cannot outlive its host: the kernel sends it
/// `SIGKILL` when the host exits.
///
/// The cgroup freezer is not used. It needs a separate cgroup that the host may write to, and the
/// host only has one under systemd with delegation. A worker cannot start processes, so `SIGSTOP`
/// has the same effect.
final class WorkerPause: Sendable {
    private enum Phase {
        case running
        case paused(Task<PauseOutcome, Never>)
        case over
    }
    private struct State {
        var phase = Phase.running
        /// The number of the current phase. It grows with each change, so that tasks of an earlier
        /// pause have no effect.
        var number: UInt64 = 0
        /// The number of the last pause. Only that pause makes the worker yield processors again.
        var last: UInt64 = 0
    }
    private let state = Mutex(State())
    private let process: WorkerProcess
    private let limits: WorkerConfiguration.Limits
    private let clock: any Clock<Duration>
    private let tell: @Sendable (WorkerRequest) -> Void
    private let end: @Sendable () -> Void
    /// The paused time, including the grace periods.
    let time: PausedTime

    /// The maximum processor time of a worker that obeys the notice, in the second half of its
    /// grace period, in nanoseconds.
    private static let quiet: UInt64 = 1_000_000
    /// The interval and the number of checks whether all threads are stopped. A thread that waits
    /// for a disk uses no processor time, and stops before it does anything else.
    private static let look = (interval: Duration.milliseconds(1), times: 50)
    /// The interval and the number of attempts while the kernel rejects a change to the session's
    /// priority: it accepts one every tenth of a second.
    private static let yielding = (interval: Duration.milliseconds(110), times: 10)

    /// Creates the mechanism for a running worker.
    ///
    /// - Parameters:
    ///   - tell: Sends a notification to the worker; must not block.
    ///   - end: Terminates the worker and cancels its requests.
    init(
        _ process: WorkerProcess, _ configuration: WorkerConfiguration,
        tell: @escaping @Sendable (WorkerRequest) -> Void, end: @escaping @Sendable () -> Void
    ) {
        (self.process, limits, clock) = (process, configuration.limits, configuration.clock)
        (self.tell, self.end) = (tell, end)
        time = PausedTime(clock: configuration.clock)
    }

    var isPaused: Bool { state.withLock { if case .paused = $0.phase { true } else { false } } }

    /// Pauses the worker. Returns once it is paused. Concurrent calls return the same outcome.
    func pause(_ notice: ThrottleNotice) async -> PauseOutcome {
        let task = state.withLock { state -> Task<PauseOutcome, Never>? in
            switch state.phase {
            case .over: return nil
            case .paused(let task): return task
            case .running:
                state.number += 1
                state.last = state.number
                time.begin()
                // On a busy machine, a worker that yields its processors would read the notice too
                // late.
                _ = process.setYielding(false)
                // Sent under the lock, so that the notices of pause and resume stay in order.
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

    /// Resumes the worker, if it is paused or about to be.
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
        // If the processor time is unknown, the worker has exited or has no process of its own that
        // could be frozen.
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

    /// Makes the worker yield processors again.
    private func yield(_ number: UInt64) async {
        for _ in 0..<Self.yielding.times {
            // A newer pause makes the worker yield when it has finished.
            guard state.withLock({ $0.last == number && !process.setYielding(true) }) else { return }
            guard (try? await ContinuousClock().sleep(for: Self.yielding.interval)) != nil else { return }
        }
    }

    private func standStill() async {
        for _ in 0..<Self.look.times where !process.isStopped {
            // Uses the system clock even if the limits use another one, because this waits for the
            // kernel.
            guard (try? await ContinuousClock().sleep(for: Self.look.interval)) != nil else { return }
        }
    }

    /// Runs a closure, unless the pause with this number is over.
    private func whileIts(_ number: UInt64, _ body: () -> Void) -> Bool {
        state.withLock { state in
            guard state.number == number else { return false }
            body()
            return true
        }
    }

    /// The outcome of a pause that was cut short by a resume or by the worker's exit.
    private var calledOff: PauseOutcome {
        state.withLock { if case .over = $0.phase { .notRunning } else { .resumed } }
    }
}
