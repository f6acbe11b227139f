// SPDX-License-Identifier: Apache-2.0

/// What something has cost.
public struct Usage: Hashable, Sendable, Codable {
    /// Seconds of processor time.
    public var cpu: Double
    /// Bytes written to disks.
    public var written: UInt64
    /// How often a processor had to be woken for it, as far as the kernel tells (voluntary context switches).
    public var wakeUps: UInt64

    /// Creates a usage; nothing by default.
    public init(cpu: Double = 0, written: UInt64 = 0, wakeUps: UInt64 = 0) {
        (self.cpu, self.written, self.wakeUps) = (cpu, written, wakeUps)
    }

    /// The sum; sizes and counts stay at the largest number.
    public static func + (one: Usage, other: Usage) -> Usage {
        Usage(
            cpu: one.cpu + other.cpu, written: one.written.addingClamped(other.written),
            wakeUps: one.wakeUps.addingClamped(other.wakeUps))
    }
    /// Adds another usage.
    public static func += (one: inout Usage, other: Usage) { one = one + other }
}

extension UInt64 {
    fileprivate func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
