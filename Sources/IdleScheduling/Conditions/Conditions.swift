// SPDX-License-Identifier: Apache-2.0

/// What the machine is like at a moment, as far as anybody knows. What is unknown closes no gate: a machine without a
/// battery, or a session that tells nobody whether it is idle, is one on which work may be done.
///
/// Moments are seconds since 2001-01-01 UTC.
public struct Conditions: Hashable, Sendable, Codable {
    /// Whether somebody works at the machine.
    public enum Presence: Hashable, Sendable, Codable {
        /// Somebody does.
        case active
        /// Nobody has touched it since a moment.
        case away(since: Double)
    }
    /// Where the power comes from.
    public struct Power: Hashable, Sendable, Codable {
        /// Whether a battery is being discharged.
        public var isOnBattery: Bool
        /// How full the batteries are together, 0 to 100; `nil` if there are none, or nobody knows.
        public var percent: Double?

        /// Creates a power state.
        public init(isOnBattery: Bool, percent: Double? = nil) {
            self.isOnBattery = isOnBattery
            self.percent = percent
        }
    }
    /// How much of the last ten seconds some work was held up for want of something, each 0 to 1 (`some avg10` of
    /// `/proc/pressure`). It measures contention, and an indexer sees its own.
    public struct Pressure: Hashable, Sendable, Codable {
        /// For want of a processor.
        public var cpu: Double?
        /// For want of a disk.
        public var io: Double?
        /// For want of memory.
        public var memory: Double?

        /// Creates a measurement.
        public init(cpu: Double? = nil, io: Double? = nil, memory: Double? = nil) {
            (self.cpu, self.io, self.memory) = (cpu, io, memory)
        }
    }
    /// Somebody who asks that nothing begins.
    public struct Inhibitor: Hashable, Sendable, Codable, Comparable {
        /// Who: the name of a program.
        public var who: String
        /// Why, in that program's words.
        public var why: String
        /// Whether it is one of Searchlight's own (`searchlight inhibit`), which holds however long something has waited.
        public var isOwn: Bool

        /// Creates an inhibitor.
        public init(who: String, why: String, isOwn: Bool) {
            (self.who, self.why, self.isOwn) = (who, why, isOwn)
        }

        /// One's own come first.
        public static func < (one: Inhibitor, other: Inhibitor) -> Bool {
            (one.isOwn ? 0 : 1, one.who, one.why) < (other.isOwn ? 0 : 1, other.who, other.why)
        }
    }

    /// Whether somebody works at the machine.
    public var presence: Presence?
    /// Whether the session's screen is locked; then nobody works at it.
    public var isLocked: Bool?
    /// Whether the machine is about to sleep, or does.
    public var isAsleep = false
    /// When it last woke.
    public var resumed: Double?
    /// Who asks that nothing begins, sorted.
    public var inhibitors: [Inhibitor] = []
    /// Where the power comes from.
    public var power: Power?
    /// Whether a person chose to save power.
    public var isSavingPower: Bool?
    /// The share of all processors that others use, 0 to 1: what is not idle, less what Searchlight itself uses.
    public var otherLoad: Double?
    /// What others and this wait for.
    public var pressure = Pressure()
    /// Whether something is so hot that the machine slows itself down, or nearly.
    public var isHot: Bool?
    /// How many bytes are free on the store's disk.
    public var freeDisk: UInt64?

    /// Conditions of which nothing is known.
    public init() {}
}
