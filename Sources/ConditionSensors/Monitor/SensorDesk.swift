// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import Synchronization

/// Where all sensors put what they found, and whoever wants to know is told from.
final class SensorDesk: Sendable {
    private struct State {
        var readings = Readings()
        var states: [Sensor: [String: MonitorReport.State]] = [:]
        var handler: (@Sendable (Conditions) -> Void)?
        /// Whether changes are told.
        var isOpen = false
        var told: Conditions?
        var isTelling = false
        /// How many hold back what is to be told.
        var holds = 0
    }
    private let state = Mutex(State())

    /// What the machine is like.
    var conditions: Conditions { state.withLock { $0.readings.conditions } }

    func setHandler(_ handler: @escaping @Sendable (Conditions) -> Void) { state.withLock { $0.handler = handler } }

    /// Tells changes from now on. That nothing is known yet is none.
    func open() {
        state.withLock { state in
            state.isOpen = true
            state.told = Conditions()
        }
    }

    /// Tells nothing any more, and forgets what may have changed by the time somebody listens again.
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

    /// Takes note of what was found.
    func update(_ change: (inout Readings) -> Void) {
        state.withLock { change(&$0.readings) }
        tell()
    }

    /// Takes note of what became of a sensor and of what it found, at once: whoever reads that it is in use finds
    /// what it knows.
    ///
    /// - Parameters:
    ///   - way: Which of several ways to the same thing.
    ///   - isLive: Asked under the lock of ``close()``: whether who found it still counts.
    func update(
        _ sensor: Sensor, _ new: MonitorReport.State, way: String, if isLive: () -> Bool,
        _ change: (inout Readings) -> Void
    ) {
        take(sensor, new, way: way, if: isLive, change)
        tell()
    }

    /// The same, and tells nobody yet.
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

    /// Takes note of what became of a sensor.
    ///
    /// - Parameter way: Which of several ways to the same thing.
    func note(_ sensor: Sensor, _ new: MonitorReport.State, way: String = "") {
        state.withLock { $0.states[sensor, default: [:]][way] = new }
    }

    /// Does something under locks that whoever is told must not come upon; what is to be told meanwhile is told after it.
    func holding<Result>(_ body: () -> Result) -> Result {
        state.withLock { $0.holds += 1 }
        let result = body()
        state.withLock { $0.holds -= 1 }
        tell()
        return result
    }

    /// What became of all sensors.
    func report(_ mode: SchedulerAction.Sensing) -> MonitorReport {
        let states = state.withLock { $0.states }
        return MonitorReport(
            mode: mode,
            sensors: Sensor.allCases.map { sensor in
                // In the order of the names, so that the same machine is told of in the same way.
                let ways = (states[sensor] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
                let best = ways.max { $0.rank < $1.rank }
                return MonitorReport.Line(sensor: sensor, state: best ?? .resting)
            })
    }

    /// Tells what was not told, unless somebody else is at it, who then will.
    func tell() {
        while let (handler, conditions) = next() {
            handler(conditions)
            state.withLock { $0.isTelling = false }
        }
    }

    private func next() -> (@Sendable (Conditions) -> Void, Conditions)? {
        state.withLock { state in
            guard state.isOpen, !state.isTelling, state.holds == 0, let handler = state.handler else { return nil }
            let conditions = state.readings.conditions
            guard conditions != state.told else { return nil }
            state.told = conditions
            state.isTelling = true
            return (handler, conditions)
        }
    }
}
