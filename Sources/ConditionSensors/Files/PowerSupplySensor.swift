// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// A sensor for `/sys/class/power_supply` (Documentation/ABI/testing/sysfs-class-power), for
/// machines without UPower.
struct PowerSupplySensor: FileSensor {
    private struct Battery {
        var isDischarging: Bool
        var percent: Double?
        /// The full capacity in µWh or µAh. Only the ratio between batteries matters.
        var size: Double?
    }
    private let folder: String
    private static let maximumSupplies = 32

    var sensor: Sensor { .powerSupply }

    init(roots: SensorRoots) { folder = "\(roots.sys)/class/power_supply" }

    func read() -> FileReading {
        let names: [String]
        do throws(SensorFile.Failure) { names = try SensorFile.names(folder, limit: Self.maximumSupplies) } catch {
            return FileReading(state: error.state) { $0.supplies = nil }
        }
        var batteries: [Battery] = []
        var isOnline: Bool?
        for name in names {
            let path = "\(folder)/\(name)"
            // Batteries of mice and headsets have the scope “Device”.
            guard SensorFile.word(path + "/scope") != "Device", let type = SensorFile.word(path + "/type") else {
                continue
            }
            switch type {
            case "Battery", "UPS": if let battery = Self.battery(path) { batteries.append(battery) }
            // The value 2 means online with a programmable voltage.
            case _ where type == "Mains" || type.hasPrefix("USB") || type == "Wireless":
                if let number = SensorFile.number(path + "/online") { isOnline = isOnline == true || number > 0 }
            default: break
            }
        }
        guard !batteries.isEmpty || isOnline != nil else {
            return FileReading(state: .absent("\(folder) has neither a battery nor a mains supply.")) {
                $0.supplies = nil
            }
        }
        // A battery may discharge while mains power is connected, either to preserve it or because
        // the mains power is not sufficient.
        let isOnBattery = isOnline == true ? false : batteries.contains(where: \.isDischarging)
        let power = Conditions.Power(isOnBattery: isOnBattery, percent: Self.percent(batteries))
        return FileReading(state: .inUse) { $0.supplies = power }
    }

    private static func battery(_ path: String) -> Battery? {
        if SensorFile.number(path + "/present") == 0 { return nil }
        let status = SensorFile.word(path + "/status")
        func amount(_ name: String) -> Double? {
            SensorFile.number("\(path)/\(name)").flatMap { $0 > 0 && $0 < 1_000_000_000_000 ? Double($0) : nil }
        }
        var percent = SensorFile.number(path + "/capacity").flatMap { (0...100).contains($0) ? Double($0) : nil }
        let size = amount("energy_full") ?? amount("charge_full")
        if percent == nil, let size, let now = amount("energy_now") ?? amount("charge_now") {
            percent = min(now / size * 100, 100)
        }
        guard status != nil || percent != nil else { return nil }
        return Battery(isDischarging: status == "Discharging", percent: percent, size: size)
    }

    /// Returns the combined charge of all batteries, weighted by capacity if all capacities are
    /// known.
    private static func percent(_ batteries: [Battery]) -> Double? {
        let known = batteries.filter { $0.percent != nil }
        guard !known.isEmpty else { return nil }
        let isWeighted = known.allSatisfy { $0.size != nil }
        var (sum, weights) = (0.0, 0.0)
        for battery in known {
            let weight = isWeighted ? battery.size ?? 1 : 1
            sum += (battery.percent ?? 0) * weight
            weights += weight
        }
        return sum / weights
    }
}

/// The power-saving profile of the firmware (Documentation/ABI/testing/sysfs-platform_profile).
struct PlatformProfileSensor: FileSensor {
    private let path: String
    var sensor: Sensor { .platformProfile }

    init(roots: SensorRoots) { path = "\(roots.sys)/firmware/acpi/platform_profile" }

    func read() -> FileReading {
        do throws(SensorFile.Failure) {
            let isSaving = try SensorFile.text(path, limit: 64).split(whereSeparator: \.isWhitespace) == ["low-power"]
            return FileReading(state: .inUse) { $0.platform = isSaving }
        } catch {
            return FileReading(state: error.state) { $0.platform = nil }
        }
    }
}
