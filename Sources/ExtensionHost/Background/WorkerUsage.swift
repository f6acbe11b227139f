// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Foundation
import Glibc

/// What workers have cost.
public struct WorkerUsage: Hashable, Sendable, Codable {
    /// Seconds of processor time, of all threads.
    public var cpu: Double
    /// Bytes written to disks, or on their way there, and those that were donated, which the host writes.
    public var written: UInt64
    /// How often they waited and had to be woken (voluntary context switches).
    public var wakeUps: UInt64

    /// Creates a usage; nothing by default.
    public init(cpu: Double = 0, written: UInt64 = 0, wakeUps: UInt64 = 0) {
        (self.cpu, self.written, self.wakeUps) = (cpu, written, wakeUps)
    }

    /// What a process that was reaped has cost in all.
    init(_ cost: csandbox_cost) {
        self.init(cpu: Double(cost.cpu) / 1e9, written: cost.written, wakeUps: cost.wake_ups)
    }

    /// What a process has cost so far, as far as the kernel tells: the wake-ups of threads that have ended are told with the
    /// end of the process alone. Its number must still be its own.
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

    /// The larger of both in each: what is counted never becomes less.
    func grown(to other: WorkerUsage) -> WorkerUsage {
        WorkerUsage(
            cpu: max(cpu, other.cpu), written: max(written, other.written), wakeUps: max(wakeUps, other.wakeUps))
    }
}
