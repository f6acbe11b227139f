// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Foundation
import Glibc

/// The resources that workers have used.
public struct WorkerUsage: Hashable, Sendable, Codable {
    /// The processor time of all threads, in seconds.
    public var cpu: Double
    /// The bytes written to disks or queued for writing, plus donated bytes, which the host writes.
    public var written: UInt64
    /// The number of waits that ended with a wake-up (voluntary context switches).
    public var wakeUps: UInt64

    /// Creates a usage. It is zero by default.
    public init(cpu: Double = 0, written: UInt64 = 0, wakeUps: UInt64 = 0) {
        (self.cpu, self.written, self.wakeUps) = (cpu, written, wakeUps)
    }

    /// Creates the total usage of a process that was reaped.
    init(_ cost: csandbox_cost) {
        self.init(cpu: Double(cost.cpu) / 1e9, written: cost.written, wakeUps: cost.wake_ups)
    }

    /// Creates the usage so far of a running process, from the kernel's counters. It lacks the
    /// wake-ups of exited threads, which the kernel only reports when the process exits. The
    /// process must not be reaped yet, so that the kernel cannot reuse its number.
    init(of process: pid_t) {
        self.init()
        var nanoseconds: UInt64 = 0
        if csandbox_processor_time(process, &nanoseconds) == 0 { cpu = Double(nanoseconds) / 1e9 }
        written = Self.number(after: "\nwrite_bytes: ", in: "/proc/\(process)/io") ?? 0
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        for thread in threads.prefix(AttemptWatcher.maximumThreads) {
            wakeUps +=
                Self.number(after: "\nvoluntary_ctxt_switches:\t", in: "/proc/\(process)/task/\(thread)/status") ?? 0
        }
    }

    private static func number(after key: String, in path: String) -> UInt64? {
        guard let text = SmallFile.text(at: path, limit: 16 << 10), let place = text.range(of: key) else { return nil }
        return UInt64(text[place.upperBound...].prefix { $0.isNumber })
    }

    static func + (one: WorkerUsage, other: WorkerUsage) -> WorkerUsage {
        WorkerUsage(
            cpu: one.cpu + other.cpu, written: one.written &+ other.written, wakeUps: one.wakeUps &+ other.wakeUps)
    }

    /// Returns the larger value of each counter, so that counters never decrease.
    func grown(to other: WorkerUsage) -> WorkerUsage {
        WorkerUsage(
            cpu: max(cpu, other.cpu), written: max(written, other.written), wakeUps: max(wakeUps, other.wakeUps))
    }
}
