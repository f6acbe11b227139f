// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import TestSupport
import Testing

@testable import ConditionSensors

@Suite("Power from the kernel")
struct PowerSupplyTests {
    private func power(_ devices: [[String: String]]) throws -> Conditions.Power? {
        let machine = try FakeMachine()
        for (index, attributes) in devices.enumerated() {
            try machine.device("sys/class/power_supply/S\(index)", attributes)
        }
        let (conditions, state) = machine.conditions(PowerSupplySensor(roots: machine.roots))
        #expect((state == .inUse) == (conditions.power != nil))
        return conditions.power
    }

    private let unplugged = ["type": "Mains", "online": "0"]
    private let plugged = ["type": "Mains", "online": "1"]

    @Test("A machine without battery and mains is unknown, and one with mains alone is on mains")
    func none() throws {
        #expect(try power([]) == nil)
        #expect(try power([["type": "Mains", "online": "1"]]) == Conditions.Power(isOnBattery: false))
    }

    @Test("A discharging battery without mains is the power source; beside mains it is not")
    func discharging() throws {
        let battery = ["type": "Battery", "status": "Discharging", "capacity": "42", "present": "1"]
        #expect(try power([battery]) == Conditions.Power(isOnBattery: true, percent: 42))
        #expect(try power([battery, unplugged]) == Conditions.Power(isOnBattery: true, percent: 42))
        #expect(try power([battery, plugged]) == Conditions.Power(isOnBattery: false, percent: 42))
        #expect(try power([battery, unplugged, ["type": "USB", "online": "1"]])?.isOnBattery == false)
        #expect(try power([["type": "Battery", "status": "Full", "capacity": "100"]])?.isOnBattery == false)
    }

    @Test("Several batteries are weighted by their capacity, and equally if one does not report it")
    func several() throws {
        let large = ["type": "Battery", "status": "Discharging", "capacity": "80", "energy_full": "60000000"]
        let small = ["type": "Battery", "status": "Unknown", "capacity": "20", "energy_full": "20000000"]
        #expect(try power([large, small]) == Conditions.Power(isOnBattery: true, percent: 65))
        let silent = ["type": "Battery", "status": "Unknown", "capacity": "20"]
        #expect(try power([large, silent])?.percent == 50)
    }

    @Test("Without a capacity it is computed from the charge")
    func charge() throws {
        let battery = ["type": "Battery", "status": "Discharging", "charge_now": "1500000", "charge_full": "3000000"]
        #expect(try power([battery])?.percent == 50)
    }

    @Test("The battery of a mouse and an absent battery are ignored")
    func foreign() throws {
        #expect(try power([["type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "5"]]) == nil)
        #expect(try power([["type": "Battery", "present": "0", "status": "Discharging", "capacity": "5"]]) == nil)
    }

    @Test(
        "Invalid numbers are unknown", arguments: ["-1", "101", "nan", "99999999999999999999", "", "4 2"])
    func hostile(_ capacity: String) throws {
        let power = try power([["type": "Battery", "status": "Discharging", "capacity": capacity]])
        #expect(power == Conditions.Power(isOnBattery: true, percent: nil))
    }

    @Test(
        "The firmware's power-saving profile saves power",
        arguments: [("low-power", true), ("balanced", false)])
    func platform(_ profile: String, _ isSaving: Bool) throws {
        let machine = try FakeMachine()
        #expect(machine.conditions(PlatformProfileSensor(roots: machine.roots)).state.isAbsent)
        try machine.write("sys/firmware/acpi/platform_profile", profile + "\n")
        let conditions = machine.conditions(PlatformProfileSensor(roots: machine.roots)).conditions
        #expect(conditions.isSavingPower == isSaving)
    }
}
