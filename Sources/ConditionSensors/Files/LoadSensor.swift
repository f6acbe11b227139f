// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The share of the processors that other programs use: the busy time in `/proc/stat` since the
/// last reading, minus the time of this process, its children and its workers.
///
/// Waiting for a disk is counted as idle. Time that a hypervisor took (steal) is left out, so the
/// share refers to the remaining time. All numbers are in ticks, usually of 10 ms, which the kernel
/// counts per processor and may correct by a few.
final class LoadSensor: FileSensor {
    struct Sample: Hashable {
        /// The used, idle and I/O wait times, in ticks summed over all processors.
        var used: UInt64
        var idle: UInt64
        var waiting: UInt64
        /// The ticks that this program has used.
        var own: UInt64
        /// The time, in seconds.
        var moment: Double
    }
    private struct State {
        var last: Sample?
        var share: Double?
    }
    private let state = Mutex(State())
    private let roots: SensorRoots
    private let ownProcesses: @Sendable () -> [pid_t]

    /// The maximum number of workers whose time is included.
    private static let maximumProcesses = 256
    /// The minimum interval, in seconds, that gives a result, because ticks are too coarse for
    /// shorter ones.
    static let shortest = 0.25

    var sensor: Sensor { .load }

    init(roots: SensorRoots, ownProcesses: @escaping @Sendable () -> [pid_t]) {
        (self.roots, self.ownProcesses) = (roots, ownProcesses)
    }

    func read() -> FileReading {
        let sample: Sample
        do throws(SensorFile.Failure) {
            let text = try SensorFile.text("\(roots.proc)/stat", limit: 1024)
            guard let read = Self.sample(text, own: own(), moment: roots.elapsed()) else {
                let text = "The first line of \(roots.proc)/stat is not the line of all processors."
                return FileReading(state: .failed(text)) { $0.otherLoad = nil }
            }
            sample = read
        } catch {
            return FileReading(state: error.state) { $0.otherLoad = nil }
        }
        let share = state.withLock { state in
            guard let last = state.last, sample.moment >= last.moment else {
                state = State(last: sample)
                return state.share
            }
            guard sample.moment - last.moment >= Self.shortest else { return state.share }
            state = State(last: sample, share: Self.share(from: last, to: sample))
            return state.share
        }
        return FileReading(state: .inUse) { $0.otherLoad = share }
    }

    /// Returns the share of the available time that other programs used, rounded to hundredths;
    /// `nil` if no time was available.
    static func share(from old: Sample, to new: Sample) -> Double? {
        func grown(_ field: KeyPath<Sample, UInt64>) -> Double {
            new[keyPath: field] > old[keyPath: field] ? Double(new[keyPath: field] - old[keyPath: field]) : 0
        }
        let (used, own) = (grown(\.used), grown(\.own))
        let all = used + grown(\.idle) + grown(\.waiting)
        guard all > 0 else { return nil }
        return (max(used - own, 0) / all * 100).rounded() / 100
    }

    /// Parses `cpu user nice system idle iowait irq softirq steal …` (proc_stat(5)). The user and
    /// nice times include guests.
    static func sample(_ text: String, own: UInt64, moment: Double) -> Sample? {
        guard let line = text.split(separator: "\n", maxSplits: 1).first else { return nil }
        let words = line.split(separator: " ")
        let fields = words.dropFirst().compactMap { UInt64($0) }
        guard words.first == "cpu", fields.count == words.count - 1, fields.count >= 4 else { return nil }
        func field(_ index: Int) -> UInt64 { index < fields.count ? fields[index] : 0 }
        var used: UInt64 = 0
        for index in [0, 1, 2, 5, 6] { used = used.addingReportingOverflow(field(index)).partialValue }
        return Sample(used: used, idle: field(3), waiting: field(4), own: own, moment: moment)
    }

    /// Returns the ticks of this process, its terminated children, and its workers. A worker that
    /// exits during the reads is counted twice rather than not at all.
    private func own() -> UInt64 {
        var ticks: UInt64 = 0
        for process in ownProcesses().prefix(Self.maximumProcesses) where process > 0 {
            ticks &+= self.ticks(of: "\(process)")
        }
        return ticks &+ self.ticks(of: "self")
    }

    private func ticks(of process: String) -> UInt64 {
        (try? SensorFile.text("\(roots.proc)/\(process)/stat", limit: 2048)).map(Self.ticks) ?? 0
    }

    /// Returns the sum of utime, stime, cutime and cstime (proc_pid_stat(5)). The process name that
    /// precedes them is in parentheses and may contain any character.
    static func ticks(_ text: String) -> UInt64 {
        guard let end = text.lastIndex(of: ")") else { return 0 }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 14 else { return 0 }
        return fields[11...14].reduce(0) { $0 &+ (UInt64($1) ?? 0) }
    }
}
