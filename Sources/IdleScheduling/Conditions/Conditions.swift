// SPDX-License-Identifier: Apache-2.0

/// The conditions of the machine at a moment, as far as they are known.
///
/// An unknown condition closes no gate. Work may run on a machine without a battery, or in a
/// session that does not report whether it is idle.
///
/// Moments are seconds since 2001-01-01 UTC.
public struct Conditions: Hashable, Sendable, Codable {
    /// The presence of a user at the machine.
    public enum Presence: Hashable, Sendable, Codable {
        /// The user is active.
        case active
        /// No input has arrived since this moment.
        case away(since: Double)
    }
    /// The power supply.
    public struct Power: Hashable, Sendable, Codable {
        /// `true` if a battery is discharging.
        public var isOnBattery: Bool
        /// The charge of all batteries together, 0 to 100; `nil` if there is no battery or the
        /// charge is unknown.
        public var percent: Double?

        /// Creates a power state.
        public init(isOnBattery: Bool, percent: Double? = nil) {
            self.isOnBattery = isOnBattery
            self.percent = percent
        }
    }
    /// The shares of the last ten seconds, each 0 to 1, in which some task was stalled on a
    /// resource (`some avg10` of `/proc/pressure`). They measure contention, and include the stalls
    /// of the indexer itself.
    public struct Pressure: Hashable, Sendable, Codable {
        /// The share stalled on the processors.
        public var cpu: Double?
        /// The share stalled on disk I/O.
        public var io: Double?
        /// The share stalled on memory.
        public var memory: Double?

        /// Creates a measurement.
        public init(cpu: Double? = nil, io: Double? = nil, memory: Double? = nil) {
            (self.cpu, self.io, self.memory) = (cpu, io, memory)
        }
    }
    /// A program that asks for no new background work.
    public struct Inhibitor: Hashable, Sendable, Codable, Comparable {
        /// The name of the program.
        public var who: String
        /// The reason that the program gives.
        public var why: String
        /// `true` if it is an inhibitor of Searchlight (`searchlight inhibit`). No job may pass it,
        /// however long it has waited.
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

    /// The presence of a user.
    public var presence: Presence?
    /// `true` if the screen of the session is locked. The user then counts as absent.
    public var isLocked: Bool?
    /// `true` if the machine is about to sleep or is asleep.
    public var isAsleep = false
    /// The time of the last resume from sleep.
    public var resumed: Double?
    /// The programs that ask for no new background work, sorted.
    public var inhibitors: [Inhibitor] = []
    /// The power supply.
    public var power: Power?
    /// `true` if the user chose to save power.
    public var isSavingPower: Bool?
    /// The share of all processors that other programs use, 0 to 1: the total load less the load of
    /// Searchlight itself.
    public var otherLoad: Double?
    /// The resource stalls of all programs, including Searchlight.
    public var pressure = Pressure()
    /// `true` if the machine is so hot that it throttles itself, or nearly.
    public var isHot: Bool?
    /// The free space on the disk of the store, in bytes.
    public var freeDisk: UInt64?

    /// Creates conditions of which nothing is known.
    public init() {}
}
