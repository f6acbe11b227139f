// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import SystemSupport

/// Reads file sensors on a separate thread, so that no caller waits long for a driver that does not
/// respond. A sensor that is still being read is skipped by later polls, and keeps its last
/// reading.
final class SensorPoller: Sendable {
    /// A poll in progress, which all concurrent callers share.
    private final class Look: Sendable {
        let end = DispatchGroup()
        let sensors: [any FileSensor]
        init(_ sensors: [any FileSensor]) {
            self.sensors = sensors
            end.enter()
        }
    }
    private struct State {
        var look: Look?
        var busy: Set<Sensor> = []
    }
    private let state = Mutex(State())
    private let sensors: [any FileSensor]
    private let threadName: String
    private let publish: @Sendable (Sensor, FileReading) -> Void
    private let tell: @Sendable () -> Void

    /// The maximum time to wait for a poll, in milliseconds. A poll usually takes less than one.
    static let patience = 50

    init(
        _ sensors: [any FileSensor], threadName: String, publish: @escaping @Sendable (Sensor, FileReading) -> Void,
        tell: @escaping @Sendable () -> Void
    ) {
        (self.sensors, self.threadName, self.publish, self.tell) = (sensors, threadName, publish, tell)
    }

    /// Starts a poll, or waits for the poll in progress.
    func look(until deadline: DispatchTime) {
        let (look, isNew) = state.withLock { state -> (Look, Bool) in
            if let look = state.look { return (look, false) }
            let look = Look(sensors.filter { !state.busy.contains($0.sensor) })
            state.look = look
            return (look, true)
        }
        if isNew, OwnThread.start(threadName, { self.carryOut(look) }) != 0 {
            // If no thread can be created, the poll runs on the calling thread.
            carryOut(look)
        }
        if look.end.wait(timeout: deadline) == .timedOut { state.withLock { if $0.look === look { $0.look = nil } } }
    }

    private func carryOut(_ look: Look) {
        for sensor in look.sensors {
            let isFree = state.withLock { $0.busy.insert(sensor.sensor).inserted }
            guard isFree else { continue }
            let reading = sensor.read()
            publish(sensor.sensor, reading)
            state.withLock { _ = $0.busy.remove(sensor.sensor) }
        }
        state.withLock { if $0.look === look { $0.look = nil } }
        look.end.leave()
        // Reports all changes together after the poll, because the handler may need one of the
        // caller's locks or poll again.
        tell()
    }
}
