// SPDX-License-Identifier: Apache-2.0
import SystemSupport
import Glibc

/// The sensors' paths, buses and clocks. Tests replace them.
public struct SensorRoots: Sendable {
    /// The folder of processes, usually `/proc`.
    public var proc = "/proc"
    /// The folder of devices and their drivers, usually `/sys`.
    public var sys = "/sys"
    /// The folder of terminals, usually `/dev`.
    public var dev = "/dev"
    /// The address of the system bus; `nil` for none.
    public var systemBus: String?
    /// The address of the session bus; `nil` for none.
    public var sessionBus: String?
    /// The user ID whose sessions and terminals count as the user's own.
    public var user = getuid()
    /// Returns the time in seconds since 2001-01-01 UTC.
    public var now: @Sendable () -> Double = { seconds(CLOCK_REALTIME) - SensorRoots.epoch }
    /// Returns the seconds since the machine started, including sleep.
    public var elapsed: @Sendable () -> Double = { seconds(CLOCK_BOOTTIME) }
    /// Returns the seconds that the machine has slept since it started.
    public var slept: @Sendable () -> Double = { seconds(CLOCK_BOOTTIME) - seconds(CLOCK_MONOTONIC) }
    /// The prefix of the monitor's thread names, up to ten bytes, for debuggers.
    public var threadName = "conditions"

    /// The seconds from the Unix epoch, 1970, to 2001.
    static let epoch = 978_307_200.0

    /// Returns this machine's roots.
    ///
    /// - Parameter environment: The environment variables that contain the bus addresses.
    public static func machine(environment: [String: String]) -> SensorRoots {
        var roots = SensorRoots()
        // The default in the D-Bus specification (Well-known Message Bus Instances).
        roots.systemBus = environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? "unix:path=/var/run/dbus/system_bus_socket"
        roots.sessionBus = SessionBusAddress.find(in: environment)
        return roots
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Converts a time in seconds since 1970. The result is never in the future; `nil` if the time
    /// is invalid.
    func moment(since1970 seconds: Double) -> Double? {
        guard seconds.isFinite, seconds > 0 else { return nil }
        return min(seconds - Self.epoch, now())
    }
}
