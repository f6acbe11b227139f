// SPDX-License-Identifier: Apache-2.0

/// The conditions of the machine at one point in time, as far as they are known.
///
/// An unknown condition does not close a gate. Work may run on a machine without a battery, or in a
/// session that does not report whether it is idle.
///
/// Times are in seconds since 2001-01-01 UTC.
public struct Conditions: Hashable, Sendable, Codable {
    /// The user's presence at the machine.
    public enum Presence: Hashable, Sendable, Codable {
        /// The user is active.
        case active
        /// No input has arrived since this time.
        case away(since: Double)
    }
    /// The power supply.
    public struct Power: Hashable, Sendable, Codable {
        /// `true` if a battery is discharging.
        public var isOnBattery: Bool
        /// The combined charge of all batteries, 0 to 100; `nil` if there is no battery or the
        /// charge is unknown.
        public var percent: Double?

        /// Creates a power state.
        public init(isOnBattery: Bool, percent: Double? = nil) {
            self.isOnBattery = isOnBattery
            self.percent = percent
        }
    }
    /// The share of the last ten seconds, 0 to 1, during which some task was stalled on each
    /// resource (`some avg10` of `/proc/pressure`). The shares measure contention, and include the
    /// indexer's own stalls.
    public struct Pressure: Hashable, Sendable, Codable {
        /// The share of processor stalls.
        public var cpu: Double?
        /// The share of disk I/O stalls.
        public var io: Double?
        /// The share of memory stalls.
        public var memory: Double?

        /// Creates a measurement.
        public init(cpu: Double? = nil, io: Double? = nil, memory: Double? = nil) {
            (self.cpu, self.io, self.memory) = (cpu, io, memory)
        }
    }
    /// A program that has requested that no new background work start.
    public struct Inhibitor: Hashable, Sendable, Codable, Comparable {
        /// The name of the program.
        public var who: String
        /// The reason given by the program.
        public var why: String
        /// `true` if it is Searchlight's own inhibitor (`searchlight inhibit`). No job may pass it,
        /// no matter how long the job has waited.
        public var isOwn: Bool

        /// Creates an inhibitor.
        public init(who: String, why: String, isOwn: Bool) {
            (self.who, self.why, self.isOwn) = (who, why, isOwn)
        }

        /// Orders Searchlight's own inhibitors first, then by name and reason.
        public static func < (one: Inhibitor, other: Inhibitor) -> Bool {
            (one.isOwn ? 0 : 1, one.who, one.why) < (other.isOwn ? 0 : 1, other.who, other.why)
        }
    }

    /// The user's presence.
    public var presence: Presence?
    /// `true` if the session's screen is locked. The user is then considered absent.
    public var isLocked: Bool?
    /// `true` if the machine is about to sleep or is asleep.
    public var isAsleep = false
    /// The time at which the machine last resumed from sleep.
    public var resumed: Double?
    /// The programs that have requested that no new background work start, sorted.
    public var inhibitors: [Inhibitor] = []
    /// The power supply.
    public var power: Power?
    /// `true` if the user has chosen to save power.
    public var isSavingPower: Bool?
    /// The share of all processors used by other programs, 0 to 1: the total load minus
    /// Searchlight's own load.
    public var otherLoad: Double?
    /// The resource stalls of all programs, including Searchlight.
    public var pressure = Pressure()
    /// `true` if the machine is so hot that it throttles itself, or is about to.
    public var isHot: Bool?
    /// The free space on the store's disk, in bytes.
    public var freeDisk: UInt64?

    /// Creates conditions in which nothing is known.
    public init() {}
}
