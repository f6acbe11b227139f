// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// What one may be told by about the machine.
public enum Sensor: String, Hashable, Sendable, Codable, CaseIterable {
    /// Sessions, their locks, inhibitors and sleep, by systemd-logind or elogind.
    case logind
    /// When the session was touched last, by GNOME's compositor.
    case idleMonitor = "idle-monitor"
    /// Whether the screen is locked, by the session's screen saver.
    case screenSaver = "screen-saver"
    /// When the user's terminals were typed into last.
    case terminals
    /// Whether the machine slept, by its clocks.
    case sleepClock = "sleep-clock"
    /// Power, by UPower.
    case upower
    /// Power, by the kernel.
    case powerSupply = "power-supply"
    /// Whether power is to be saved, by power-profiles-daemon.
    case powerProfiles = "power-profiles"
    /// Whether power is to be saved, by the firmware.
    case platformProfile = "platform-profile"
    /// How much waits for processors, disks and memory.
    case pressure
    /// The kernel's notices of sudden pressure, while something runs.
    case pressureTriggers = "pressure-triggers"
    /// How much others use the processors.
    case load
    /// Whether something is hot.
    case thermal
    /// How much is free on the store's disk.
    case disk
}

/// Which sensors there are, for those who want to know why something waits, or does not.
public struct MonitorReport: Hashable, Sendable, Codable {
    /// What became of a sensor.
    public enum State: Hashable, Sendable, Codable {
        /// It tells what it is there for.
        case inUse
        /// The machine has none; the text says what is missing, in one sentence.
        case absent(String)
        /// There is one that does not work; the text says what happened, in one sentence.
        case failed(String)
        /// It was not asked: nothing is owed, or nothing runs.
        case resting
    }
    /// A sensor and what became of it.
    public struct Line: Hashable, Sendable, Codable {
        /// The sensor.
        public var sensor: Sensor
        /// What became of it.
        public var state: State
    }
    /// How closely the machine is watched.
    public var mode: SchedulerAction.Sensing
    /// All sensors, in the order of ``Sensor``.
    public var sensors: [Line]

    /// What became of a sensor.
    public subscript(sensor: Sensor) -> State { sensors.first { $0.sensor == sensor }?.state ?? .resting }
}

extension MonitorReport.State {
    /// How much it says, where there are several ways to one thing: the one in use counts.
    var rank: Int {
        switch self {
        case .inUse: 3
        case .failed: 2
        case .absent: 1
        case .resting: 0
        }
    }
}
