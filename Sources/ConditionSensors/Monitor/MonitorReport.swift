// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// The sources of information about the machine.
public enum Sensor: String, Hashable, Sendable, Codable, CaseIterable {
    /// Sessions, their locks, inhibitors and sleep, as systemd-logind or elogind reports them.
    case logind
    /// The last input in the session, as GNOME's compositor reports it.
    case idleMonitor = "idle-monitor"
    /// The lock state of the screen, as the session's screen saver reports it.
    case screenSaver = "screen-saver"
    /// The last input in the user's terminals.
    case terminals
    /// Sleep of the machine, derived from two clocks.
    case sleepClock = "sleep-clock"
    /// The power supply, as UPower reports it.
    case upower
    /// The power supply, as the kernel reports it.
    case powerSupply = "power-supply"
    /// The power profile, as power-profiles-daemon reports it.
    case powerProfiles = "power-profiles"
    /// The power profile, as the firmware reports it.
    case platformProfile = "platform-profile"
    /// The pressure on processors, disks and memory.
    case pressure
    /// The kernel's triggers for sudden pressure, while a job runs.
    case pressureTriggers = "pressure-triggers"
    /// The load of other programs.
    case load
    /// The temperature.
    case thermal
    /// The free space on the store's disk.
    case disk
}

/// A report on the sensors, for diagnosing why a job is waiting or running.
public struct MonitorReport: Hashable, Sendable, Codable {
    /// The state of a sensor.
    public enum State: Hashable, Sendable, Codable {
        /// The sensor reports readings.
        case inUse
        /// The machine lacks the sensor. The text names the missing part in one sentence.
        case absent(String)
        /// The sensor does not work. The text describes the failure in one sentence.
        case failed(String)
        /// The sensor is off because no job is pending or running.
        case resting
    }
    /// A sensor and its state.
    public struct Line: Hashable, Sendable, Codable {
        /// The sensor.
        public var sensor: Sensor
        /// The state of the sensor.
        public var state: State
    }
    /// The sensing mode.
    public var mode: SchedulerAction.Sensing
    /// All sensors, in the order of ``Sensor``.
    public var sensors: [Line]

    /// Returns the state of a sensor.
    public subscript(sensor: Sensor) -> State { sensors.first { $0.sensor == sensor }?.state ?? .resting }
}

extension MonitorReport.State {
    /// The rank of a state among several sources for the same sensor. The state with the highest
    /// rank is shown.
    var rank: Int {
        switch self {
        case .inUse: 3
        case .failed: 2
        case .absent: 1
        case .resting: 0
        }
    }
}
