// SPDX-License-Identifier: Apache-2.0

/// The properties that are read from UPower and from power-profiles-daemon.
enum PowerPlans {
    /// All sensor kinds.
    static let kinds: [SensorConnection.Kind] = [
        kind(.upower, onBattery), kind(.upower, percent),
        // Newer daemons own both names.
        kind(.powerProfiles, profile("org.freedesktop.UPower.PowerProfiles")),
        kind(.powerProfiles, profile("net.hadess.PowerProfiles")),
    ]

    private static func kind(_ sensor: Sensor, _ plan: PropertySensor.Plan) -> SensorConnection.Kind {
        SensorConnection.Kind(
            sensor: sensor, way: plan.service + plan.path, make: { PropertySensor(plan, $0) }, forget: plan.forget)
    }

    private static let upower = "org.freedesktop.UPower"

    private typealias Change = @Sendable (inout Readings) -> Void

    /// The discharge state of the batteries.
    private static let onBattery = PropertySensor.Plan(
        service: upower, path: "/org/freedesktop/UPower", interface: upower, names: ["OnBattery"],
        meaning: { values -> Change? in
            guard let isOnBattery = values["OnBattery"]?.boolean else { return nil }
            return { $0.isOnBattery = isOnBattery }
        },
        forget: { $0.isOnBattery = nil })

    /// The charge of all batteries, which UPower combines in its display device. UPower reports
    /// changes every 30 s to 2 min, even if only the update time changed.
    private static let percent = PropertySensor.Plan(
        service: upower, path: "/org/freedesktop/UPower/devices/DisplayDevice",
        interface: "org.freedesktop.UPower.Device", names: ["Percentage", "IsPresent", "Type"], isFrequent: true,
        meaning: { values -> Change? in
            // UP_DEVICE_KIND_BATTERY or UP_DEVICE_KIND_UPS
            let kind = values["Type"]?.unsigned
            guard kind == 2 || kind == 3, values["IsPresent"]?.boolean != false else { return { $0.percent = nil } }
            guard let percent = values["Percentage"]?.finite, percent >= 0, percent <= 100 else { return nil }
            return { $0.percent = percent }
        },
        forget: { $0.percent = nil })

    /// Returns the plan for the active power profile. The daemon's older name has a different path
    /// and interface.
    private static func profile(_ service: String) -> PropertySensor.Plan {
        let path = "/" + service.split(separator: ".").joined(separator: "/")
        return PropertySensor.Plan(
            service: service, path: path, interface: service, names: ["ActiveProfile"],
            meaning: { values -> Change? in
                guard let profile = values["ActiveProfile"]?.text else { return nil }
                return { $0.profiles[service] = profile == "power-saver" }
            },
            forget: { $0.profiles[service] = nil })
    }
}
