// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import SystemSupport

/// Reads sensors on a thread of its own, so that nobody waits longer than a moment for a file whose driver does not answer.
/// One that is still being read is left out of later looks; its last reading holds until then.
final class Lookout: Sendable {
    /// A look under way, for all who want one meanwhile.
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

    /// How long a look is waited for, in milliseconds; it takes less than one.
    static let patience = 50

    init(
        _ sensors: [any FileSensor], threadName: String, publish: @escaping @Sendable (Sensor, FileReading) -> Void,
        tell: @escaping @Sendable () -> Void
    ) {
        (self.sensors, self.threadName, self.publish, self.tell) = (sensors, threadName, publish, tell)
    }

    /// Reads all, or waits for who is at it.
    func look(until deadline: DispatchTime) {
        let (look, isNew) = state.withLock { state -> (Look, Bool) in
            if let look = state.look { return (look, false) }
            let look = Look(sensors.filter { !state.busy.contains($0.sensor) })
            state.look = look
            return (look, true)
        }
        if isNew, OwnThread.start(threadName, { self.carryOut(look) }) != 0 {
            // Without a thread at least what cannot wait is read.
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
        // All that changed at once, and after the look: who is told may want a lock of who looks, or look again.
        tell()
    }
}
