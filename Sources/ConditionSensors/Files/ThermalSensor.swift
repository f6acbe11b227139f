// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A sensor for overheating. A zone is hot at a trip point where the machine throttles or shuts
/// down, or within two kelvin below it (Documentation/driver-api/thermal/sysfs-api.rst).
///
/// Trip points are read once, and temperatures in each reading. All values are in thousandths of a
/// degree Celsius.
final class ThermalSensor: FileSensor {
    private struct Zone: Sendable {
        var path: String
        /// The lowest relevant trip point.
        var trip: Int
    }
    private let folder: String
    private let zones = Mutex<[Zone]?>(nil)

    private static let maximumZones = 64
    private static let maximumTrips = 16
    /// The distance below a trip point at which a zone is considered hot.
    private static let margin = 2000
    /// The range of plausible trip points. Firmware uses 0 or -274 degrees for an unused trip
    /// point, and no machine throttles below 40.
    private static let tripRange = 40_000...150_000
    /// The range of values from a working sensor.
    private static let range = -55_000...200_000

    var sensor: Sensor { .thermal }

    init(roots: SensorRoots) { folder = "\(roots.sys)/class/thermal" }

    func read() -> FileReading {
        let known: [Zone]
        do throws(SensorFile.Failure) {
            if let found = zones.withLock({ $0 }) { known = found } else { known = try findZones() }
        } catch {
            return FileReading(state: error.state) { $0.isHot = nil }
        }
        zones.withLock { $0 = known.isEmpty ? nil : known }
        guard !known.isEmpty else {
            return FileReading(state: .absent("\(folder) has no zone with a trip point for heat.")) { $0.isHot = nil }
        }
        let temperatures = known.map { zone in
            SensorFile.number(zone.path + "/temp").flatMap { Self.range.contains($0) ? $0 : nil }
        }
        guard temperatures.contains(where: { $0 != nil }) else {
            return FileReading(state: .failed("No zone in \(folder) reports its temperature.")) { $0.isHot = nil }
        }
        let isHot = zip(known, temperatures).contains { zone, temperature in
            temperature.map { $0 >= zone.trip - Self.margin } ?? false
        }
        return FileReading(state: .inUse) { $0.isHot = isHot }
    }

    private func findZones() throws(SensorFile.Failure) -> [Zone] {
        try SensorFile.names(folder, limit: 256).filter { $0.hasPrefix("thermal_zone") }.prefix(Self.maximumZones)
            .compactMap { name in
                let path = "\(folder)/\(name)"
                let trips = (0..<Self.maximumTrips).compactMap { Self.trip(path, $0) }
                return trips.min().map { Zone(path: path, trip: $0) }
            }
    }

    private static func trip(_ zone: String, _ index: Int) -> Int? {
        guard let type = SensorFile.word("\(zone)/trip_point_\(index)_type"),
            ["passive", "hot", "critical"].contains(type),
            let temperature = SensorFile.number("\(zone)/trip_point_\(index)_temp"), tripRange.contains(temperature)
        else { return nil }
        return temperature
    }
}
