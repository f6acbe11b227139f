// SPDX-License-Identifier: Apache-2.0

/// The measures that make a background worker yield to all other processes.
public struct BackgroundMeasures: OptionSet, Hashable, Sendable, Codable {
    /// The bits, with the values of `csandbox_policy.h`.
    public let rawValue: UInt32
    /// Creates a set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The worker only gets processor time that no other process wants (`SCHED_IDLE`).
    public static let processor = Self(rawValue: 1 << 0)
    /// The worker only gets disk time that no other process wants (idle I/O class), if the disk's
    /// scheduler supports classes.
    public static let disk = Self(rawValue: 1 << 1)
    /// The worker has a session of its own, which yields to other sessions (autogroup nice 19).
    /// Without this measure, `SCHED_IDLE` only has an effect within the session.
    public static let session = Self(rawValue: 1 << 2)
    /// The kernel may fire the worker's timers late, so that several share one processor wake-up.
    public static let timers = Self(rawValue: 1 << 3)
    /// The kernel kills the worker first when memory runs out.
    public static let memory = Self(rawValue: 1 << 4)

    /// All measures.
    public static let all: Self = [.processor, .disk, .session, .timers, .memory]

    /// The timer slack, in nanoseconds: a thousand times the kernel's default of 50 µs. Background
    /// work does not notice it.
    static let timerSlack: UInt32 = 50_000_000
    /// The worker's `oom_score_adj`. The kernel treats the worker as if it used half of the memory
    /// in addition to its own. systemd gives a user's programs 100 to 200.
    static let outOfMemoryScore: UInt32 = 500

    /// The effect of each measure in the set, to complete “the kernel does not …”, in bit order.
    public var names: [String] {
        let table: [(Self, String)] = [
            (.processor, "lower their processor priority (SCHED_IDLE)"), (.disk, "lower their disk priority (ioprio)"),
            (.session, "lower their priority among sessions (autogroup)"),
            (.timers, "relax their timers"), (.memory, "end them first if memory runs out"),
        ]
        return table.filter { contains($0.0) }.map(\.1)
    }
}
