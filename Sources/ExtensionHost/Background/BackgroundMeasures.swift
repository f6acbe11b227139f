// SPDX-License-Identifier: Apache-2.0

/// What makes a background worker give way to everybody else.
public struct BackgroundMeasures: OptionSet, Hashable, Sendable, Codable {
    /// The bits of `csandbox_policy.h`.
    public let rawValue: UInt32
    /// Creates a set of these bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// It runs when nobody else wants the processor (`SCHED_IDLE`).
    public static let processor = Self(rawValue: 1 << 0)
    /// It reads and writes when nobody else wants the disk, where the disk's scheduler knows classes.
    public static let disk = Self(rawValue: 1 << 1)
    /// So does the session that it is alone in (autogroup 19); without that the first would only count within the session.
    public static let session = Self(rawValue: 1 << 2)
    /// Its timers may be late, so that they need not wake a processor for it alone.
    public static let timers = Self(rawValue: 1 << 3)
    /// It is ended before others when memory runs out.
    public static let memory = Self(rawValue: 1 << 4)

    /// Everything.
    public static let all: Self = [.processor, .disk, .session, .timers, .memory]

    /// How late its timers may be, in nanoseconds: a thousand times the kernel's own 50 µs, and not noticed by work that nobody
    /// waits for.
    static let timerSlack: UInt32 = 50_000_000
    /// Its `oom_score_adj`: as if it took half of the memory besides. systemd gives a user's programs 100 to 200.
    static let outOfMemoryScore: UInt32 = 500

    /// What each does, as "the kernel does not …" would end, in order.
    public var names: [String] {
        let table: [(Self, String)] = [
            (.processor, "have them yield processors (SCHED_IDLE)"), (.disk, "have them yield disks (ioprio)"),
            (.session, "have them yield processors to other sessions (autogroup)"),
            (.timers, "let their timers be late"), (.memory, "end them first when memory runs out"),
        ]
        return table.filter { contains($0.0) }.map(\.1)
    }
}
