// SPDX-License-Identifier: Apache-2.0

/// The resource usage of a job or process.
public struct Usage: Hashable, Sendable, Codable {
    /// The processor time, in seconds.
    public var cpu: Double
    /// The bytes written to disks.
    public var written: UInt64
    /// The number of wakeups, measured as voluntary context switches.
    public var wakeUps: UInt64

    /// Creates a usage, zero by default.
    public init(cpu: Double = 0, written: UInt64 = 0, wakeUps: UInt64 = 0) {
        (self.cpu, self.written, self.wakeUps) = (cpu, written, wakeUps)
    }

    /// Returns the sum. Sizes and counts saturate at the largest number.
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
