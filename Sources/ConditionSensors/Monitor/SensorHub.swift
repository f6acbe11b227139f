// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import Synchronization

/// A hub that stores the latest sensor readings and reports changes to the handler.
final class SensorHub: Sendable {
    private struct State {
        var readings = Readings()
        var states: [Sensor: [String: MonitorReport.State]] = [:]
        var handler: (@Sendable (Conditions) -> Void)?
        /// `true` while changes are reported.
        var isOpen = false
        var told: Conditions?
        var isNotifying = false
        /// The number of callers that are delaying reports.
        var holds = 0
    }
    private let state = Mutex(State())

    /// The current conditions.
    var conditions: Conditions { state.withLock { $0.readings.conditions } }

    func setHandler(_ handler: @escaping @Sendable (Conditions) -> Void) { state.withLock { $0.handler = handler } }

    /// Starts reporting changes, relative to unknown conditions.
    func open() {
        state.withLock { state in
            state.isOpen = true
            state.told = Conditions()
        }
    }

    /// Stops reporting changes. Discards all readings that may be outdated when reporting starts
    /// again.
    func close() {
        state.withLock { state in
            let resumed = state.readings.resumed
            state.isOpen = false
            state.readings = Readings()
            state.readings.resumed = resumed
            state.states = [:]
            state.told = nil
        }
    }

    /// Changes the readings.
    func update(_ change: (inout Readings) -> Void) {
        state.withLock { change(&$0.readings) }
        tell()
    }

    /// Changes a sensor's state and readings together, so that a sensor in use always has readings.
    ///
    /// - Parameters:
    ///   - way: The name of the source if a sensor has several.
    ///   - isLive: Evaluated under the lock that ``close()`` also takes: returns `true` if updates
    ///     from the source are still accepted.
    func update(
        _ sensor: Sensor, _ new: MonitorReport.State, way: String, if isLive: () -> Bool,
        _ change: (inout Readings) -> Void
    ) {
        take(sensor, new, way: way, if: isLive, change)
        tell()
    }

    /// Changes the state and the readings without reporting the change.
    func take(
        _ sensor: Sensor, _ new: MonitorReport.State, way: String = "", if isLive: () -> Bool = { true },
        _ change: (inout Readings) -> Void
    ) {
        state.withLock { state in
            guard isLive() else { return }
            state.states[sensor, default: [:]][way] = new
            change(&state.readings)
        }
    }

    /// Changes the state of a sensor.
    ///
    /// - Parameter way: The name of the source if a sensor has several.
    func note(_ sensor: Sensor, _ new: MonitorReport.State, way: String = "") {
        state.withLock { $0.states[sensor, default: [:]][way] = new }
    }

    /// Runs a closure while holding locks that the handler may need. Changes during the closure are
    /// reported afterwards.
    func holding<Result>(_ body: () -> Result) -> Result {
        state.withLock { $0.holds += 1 }
        let result = body()
        state.withLock { $0.holds -= 1 }
        tell()
        return result
    }

    /// Returns the states of all sensors.
    func report(_ mode: SchedulerAction.Sensing) -> MonitorReport {
        let states = state.withLock { $0.states }
        return MonitorReport(
            mode: mode,
            sensors: Sensor.allCases.map { sensor in
                // Sorted by name, so that equal states always give the same report.
                let ways = (states[sensor] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
                let best = ways.max { $0.rank < $1.rank }
                return MonitorReport.Line(sensor: sensor, state: best ?? .resting)
            })
    }

    /// Reports unreported changes. If another thread is currently reporting, that thread reports
    /// them.
    func tell() {
        while let (handler, conditions) = next() {
            handler(conditions)
            state.withLock { $0.isNotifying = false }
        }
    }

    private func next() -> (@Sendable (Conditions) -> Void, Conditions)? {
        state.withLock { state in
            guard state.isOpen, !state.isNotifying, state.holds == 0, let handler = state.handler else { return nil }
            let conditions = state.readings.conditions
            guard conditions != state.told else { return nil }
            state.told = conditions
            state.isNotifying = true
            return (handler, conditions)
        }
    }
}
