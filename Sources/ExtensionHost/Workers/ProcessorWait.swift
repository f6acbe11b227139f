// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization

/// Detects workers that are late because they got no processor time. Such a worker is not hanging:
/// background workers yield to all other processes, and interactive workers share the processors of
/// a busy machine.
final class ProcessorWait: Sendable {
    /// The kernel's counters for all threads of a process, in nanoseconds.
    struct Sample: Hashable {
        /// The time of the sample, on a monotonic clock.
        var moment: UInt64
        /// The time for which the threads ran.
        var used: UInt64 = 0
        /// The time for which the threads were runnable but not running. A wait is added once it is
        /// over.
        var waited: UInt64 = 0
        /// The number of times that a thread was scheduled.
        var turns: UInt64 = 0
        /// `true` if a thread is running or runnable.
        var isReady = false

        /// The average interval between schedulings from which scheduling counts as rare. A process
        /// with a longer interval may be waiting to run for the first time in a long time.
        static let rareTurn: UInt64 = 100_000_000

        /// The shortest interval from which starvation can be concluded.
        static let shortest: UInt64 = 100_000_000

        /// Returns `true` if the process mostly waited since an earlier sample. A process with more
        /// threads than processors waits for its own threads, but it uses processor time, so it
        /// does not count as starved.
        func isStarved(since before: Sample) -> Bool {
            let elapsed = moment - min(moment, before.moment)
            guard elapsed >= Self.shortest, waited >= before.waited, used >= before.used, turns >= before.turns,
                used - before.used <= elapsed / 4
            else { return false }
            return waited - before.waited >= elapsed / 2
        }

        /// Returns `true` if the process may have waited since an earlier sample and may still be
        /// waiting: no counter includes such a wait yet. A process that sleeps and wakes
        /// periodically is scheduled more often.
        func mayWait(since before: Sample) -> Bool {
            let elapsed = moment - min(moment, before.moment)
            guard elapsed >= Self.shortest, used >= before.used, turns >= before.turns else { return false }
            return isReady && used - before.used <= elapsed / 4 && turns - before.turns <= elapsed / Self.rareTurn
        }

        /// Returns `true` if a process that may be waiting really is: it was not scheduled since an
        /// earlier sample. A thread that was only just woken would have been scheduled.
        func waits(since before: Sample) -> Bool { isReady && turns == before.turns && used == before.used }
    }
    private struct State {
        var before: Sample?
        var isStarved = false
    }
    private let state = Mutex(State())
    private let process: WorkerProcess

    init(_ process: WorkerProcess) { self.process = process }

    /// Starts the measurement.
    func begin() {
        let now = process.processorWait
        state.withLock { $0.before = now }
    }

    /// The time within which a woken thread is scheduled on a machine that is not overloaded.
    private static let patience = Duration.milliseconds(50)

    /// Takes a sample and starts a new measurement.
    ///
    /// - Returns: `true` if the process mostly waited since the last sample.
    func look(_ clock: any Clock<Duration>) async -> Bool {
        var isStarved = false
        let now = process.processorWait
        if let now, let before = state.withLock({ $0.before }) {
            isStarved = now.isStarved(since: before)
            if !isStarved, now.mayWait(since: before) {
                try? await clock.sleep(for: Self.patience)
                // If the wait has ended since, the counters include it.
                isStarved =
                    process.processorWait.map { $0.waits(since: now) || $0.isStarved(since: before) } ?? false
            }
        }
        state.withLock { $0 = State(before: now, isStarved: isStarved) }
        return isStarved
    }

    /// `true` if the process mostly waited between the last two samples.
    var isStarved: Bool { state.withLock { $0.isStarved } }
}

extension ProcessorWait.Sample {
    /// Takes a sample (Documentation/scheduler/sched-stats.rst); `nil` if the kernel has no such
    /// counters. The process must not be reaped yet, so that the kernel cannot reuse its number.
    init?(of process: pid_t) {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        self.init(moment: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
        let folder = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var isKnown = false
        for thread in threads.prefix(AttemptWatcher.maximumThreads) {
            guard let text = SmallFile.text(at: "\(folder)/\(thread)/schedstat", limit: 256) else { continue }
            let numbers = text.split(whereSeparator: \.isWhitespace).prefix(3).compactMap { UInt64($0) }
            guard numbers.count == 3 else { continue }
            (used, waited, turns) = (used &+ numbers[0], waited &+ numbers[1], turns &+ numbers[2])
            isKnown = true
            isReady = isReady || Self.isReady("\(folder)/\(thread)/stat")
        }
        if !isKnown { return nil }
    }

    /// Returns `true` if the state of a thread (proc_pid_stat(5)) is R, running or runnable. The
    /// state follows the name in parentheses.
    private static func isReady(_ stat: String) -> Bool {
        guard let text = SmallFile.text(at: stat, limit: 1024), let end = text.lastIndex(of: ")") else { return false }
        return text[end...].dropFirst(2).first == "R"
    }
}

extension ExtensionError {
    /// Returns the error for an operation that was late because other processes used the
    /// processors.
    static func noProcessor(for identifier: String, _ deed: String, within limit: Duration) -> ExtensionError {
        .workerUnavailable(
            reason: """
                Other programs used the processors, so \(identifier) could not \(deed) within \(limit). \
                Try again when the machine is less busy.
                """)
    }
}
