// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization

/// Whether a worker is late because the machine gave it no processor. That is nobody's fault, and no reason to think that it
/// hangs: a background worker yields to everybody else, and a person's to many who want the same.
final class ProcessorWait: Sendable {
    /// What the kernel says of all threads of a process, in nanoseconds.
    struct Sample: Hashable {
        /// When, by a clock that goes on.
        var moment: UInt64
        /// How long they ran.
        var used: UInt64 = 0
        /// How long they were ready to run, and did not. A wait counts once it is over.
        var waited: UInt64 = 0
        /// How often they came to run.
        var turns: UInt64 = 0
        /// Whether one of them runs or is ready to.
        var isReady = false

        /// A process that comes to run less often than this waits for its first turn in a long while.
        static let rareTurn: UInt64 = 100_000_000

        /// In less time than this nothing is to be concluded from waits.
        static let shortest: UInt64 = 100_000_000

        /// Whether a process mostly waited since another sample. One that has more threads than there are processors waits for
        /// itself, and uses them.
        func isStarved(since before: Sample) -> Bool {
            let elapsed = moment - min(moment, before.moment)
            guard elapsed >= Self.shortest, waited >= before.waited, used >= before.used, turns >= before.turns,
                used - before.used <= elapsed / 4
            else { return false }
            return waited - before.waited >= elapsed / 2
        }

        /// Whether a process may have waited since another sample, and waits still: such a wait is in no sum. A process that sleeps
        /// and looks around now and then had more turns.
        func mayWait(since before: Sample) -> Bool {
            let elapsed = moment - min(moment, before.moment)
            guard elapsed >= Self.shortest, used >= before.used, turns >= before.turns else { return false }
            return isReady && used - before.used <= elapsed / 4 && turns - before.turns <= elapsed / Self.rareTurn
        }

        /// Whether a process that may wait does: it has not come to run since another sample. One that was only just woken has.
        func waits(since before: Sample) -> Bool { isReady && turns == before.turns && used == before.used }
    }
    private struct State {
        var before: Sample?
        var isStarved = false
    }
    private let state = Mutex(State())
    private let process: WorkerProcess

    init(_ process: WorkerProcess) { self.process = process }

    /// Begins to count.
    func begin() {
        let now = process.processorWait
        state.withLock { $0.before = now }
    }

    /// How long a thread that was woken gets to come to run.
    private static let patience = Duration.milliseconds(50)

    /// Counts, and begins again.
    ///
    /// - Returns: Whether it mostly waited since the last look.
    func look(_ clock: any Clock<Duration>) async -> Bool {
        var isStarved = false
        let now = process.processorWait
        if let now, let before = state.withLock({ $0.before }) {
            isStarved = now.isStarved(since: before)
            if !isStarved, now.mayWait(since: before) {
                try? await clock.sleep(for: Self.patience)
                isStarved = process.processorWait?.waits(since: now) ?? false
            }
        }
        state.withLock { $0 = State(before: now, isStarved: isStarved) }
        return isStarved
    }

    /// Whether it mostly waited between the last two looks.
    var isStarved: Bool { state.withLock { $0.isStarved } }
}

extension ProcessorWait.Sample {
    /// What the kernel says now (Documentation/scheduler/sched-stats.rst); `nil` where it counts no such thing. The process's
    /// number must still be its own.
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

    /// Whether the state of a thread (proc_pid_stat(5)) is that it runs or is ready to. It follows the name in parentheses.
    private static func isReady(_ stat: String) -> Bool {
        guard let text = SmallFile.text(at: stat, limit: 1024), let end = text.lastIndex(of: ")") else { return false }
        return text[end...].dropFirst(2).first == "R"
    }
}

extension ExtensionError {
    /// A worker could not do something in time because others used the processors.
    static func noProcessor(for identifier: String, _ deed: String, within limit: Duration) -> ExtensionError {
        .workerUnavailable(
            reason: """
                Others used the processors, so that \(identifier) could not \(deed) within \(limit). \
                Try again once the machine has less to do.
                """)
    }
}
