// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A sensor for sleep since the last reading, for machines without logind. It compares a clock that
/// counts sleep with one that does not.
final class SleepClockSensor: FileSensor {
    private let roots: SensorRoots
    private let last = Mutex<Double?>(nil)

    /// The minimum duration of sleep, in seconds. The two clocks are not read at exactly the same
    /// time.
    private static let shortest = 1.0

    var sensor: Sensor { .sleepClock }

    init(roots: SensorRoots) { self.roots = roots }

    /// Sets the reference point. Sleep that occurred while sensing was off is not reported.
    func begin() { last.withLock { $0 = roots.slept() } }

    func read() -> FileReading {
        let slept = roots.slept()
        let hasSlept = last.withLock { last in
            guard let known = last, slept - known >= Self.shortest else {
                last = last ?? slept
                return false
            }
            last = slept
            return true
        }
        guard hasSlept else { return FileReading(state: .inUse) { _ in } }
        let now = roots.now()
        return FileReading(state: .inUse) { if $0.sessions == nil { $0.resumed = now } }
    }
}
