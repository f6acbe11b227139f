// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import IdleScheduling
import TestSupport
import Testing

@testable import ConditionSensors

@Suite("Sensors for pressure, heat, terminals, disk and sleep")
struct FileSensorTests {
    private static let sample =
        "some avg10=%@ avg60=2.00 avg300=3.00 total=5\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=1\n"

    @Test("Pressure is the “some” share of the last ten seconds, for each resource")
    func pressure() throws {
        let machine = try FakeMachine()
        let sensor = PressureSensor(roots: machine.roots)
        #expect(machine.conditions(sensor).state.isAbsent)
        try machine.write("proc/pressure/cpu", String(format: Self.sample, "12.50"))
        try machine.write("proc/pressure/memory", String(format: Self.sample, "100.00"))
        let (conditions, state) = machine.conditions(sensor)
        #expect(conditions.pressure == Conditions.Pressure(cpu: 0.125, io: nil, memory: 1))
        #expect(state == .inUse)
    }

    @Test(
        "Invalid pressure is unknown",
        arguments: ["nan", "inf", "-1", "1e9", "", "12,5", "0x1p99", String(repeating: "9", count: 5000)])
    func hostilePressure(_ text: String) throws {
        let machine = try FakeMachine()
        try machine.write("proc/pressure/cpu", String(format: Self.sample, text))
        let (conditions, state) = machine.conditions(PressureSensor(roots: machine.roots))
        #expect(conditions.pressure.cpu == nil)
        #expect(state.isFailed)
    }

    @Test(
        "The kernel's pressure files are read",
        .enabled(if: access("/proc/pressure/cpu", R_OK) == 0, "this kernel has no /proc/pressure"))
    func realPressure() throws {
        var roots = SensorRoots()
        roots.proc = "/proc"
        let (conditions, state) = try FakeMachine().conditions(PressureSensor(roots: roots))
        #expect(state == .inUse)
        #expect(conditions.pressure.cpu != nil && conditions.pressure.io != nil && conditions.pressure.memory != nil)
    }

    @Test(
        "A zone within two degrees of a trip point with an action is hot",
        arguments: [
            (93_000, 95_000, "passive", true), (92_999, 95_000, "passive", false), (99_000, 95_000, "active", nil),
            (104_000, 105_000, "critical", true), (30_000, 0, "passive", nil), (30_000, -274_000, "hot", nil),
            (500_000, 95_000, "hot", nil), (-274_000, 95_000, "hot", nil),
        ] as [(Int, Int, String, Bool?)])
    func thermal(_ temperature: Int, _ trip: Int, _ type: String, _ isHot: Bool?) throws {
        let machine = try FakeMachine()
        try machine.device(
            "sys/class/thermal/thermal_zone0",
            ["temp": "\(temperature)", "trip_point_0_type": type, "trip_point_0_temp": "\(trip)"])
        try machine.device("sys/class/thermal/thermal_zone1", ["temp": "200000"])
        try machine.device("sys/class/thermal/cooling_device0", ["cur_state": "1"])
        let (conditions, state) = machine.conditions(ThermalSensor(roots: machine.roots))
        #expect(conditions.isHot == isHot)
        #expect((state == .inUse) == (isHot != nil))
    }

    @Test("One hot zone of several is enough, and invalid temperatures are ignored")
    func thermalZones() throws {
        let machine = try FakeMachine()
        for (index, temperature) in ["40000", "garbage", "94000"].enumerated() {
            try machine.device(
                "sys/class/thermal/thermal_zone\(index)",
                [
                    "temp": temperature, "trip_point_0_type": "critical", "trip_point_0_temp": "105000",
                    "trip_point_1_type": "passive", "trip_point_1_temp": "95000",
                ])
        }
        let sensor = ThermalSensor(roots: machine.roots)
        #expect(machine.conditions(sensor).conditions.isHot == true)
        try machine.device("sys/class/thermal/thermal_zone2", ["temp": "60000"])
        #expect(machine.conditions(sensor).conditions.isHot == false)
    }

    private func touch(_ machine: FakeMachine, _ name: String, read: Double, written: Double) throws {
        try machine.write("dev/" + name, "")
        let times = [read, written].map { timespec(tv_sec: Int($0 + SensorRoots.epoch), tv_nsec: 0) }
        #expect(utimensat(AT_FDCWD, machine.folder.path("dev/" + name), times, 0) == 0)
    }

    @Test("The user's absence is computed from the last input in a terminal; output of programs does not count")
    func terminals() throws {
        let machine = try FakeMachine()
        let now = machine.now.value
        #expect(machine.conditions(TerminalSensor(roots: machine.roots)).state.isAbsent)
        try touch(machine, "pts/0", read: now - 500, written: now)
        try touch(machine, "pts/17", read: now - 90, written: now)
        try touch(machine, "tty2", read: now - 200, written: now)
        try touch(machine, "pts/ptmx", read: now, written: now)
        try touch(machine, "ttyS0", read: now, written: now)
        #expect(machine.conditions(TerminalSensor(roots: machine.roots)).conditions.presence == .away(since: now - 90))
        // The clock was set back since then: the time is not in the future.
        try touch(machine, "pts/3", read: now + 5000, written: now)
        #expect(machine.conditions(TerminalSensor(roots: machine.roots)).conditions.presence == .away(since: now))
    }

    @Test("Terminals of other users are ignored")
    func foreignTerminals() throws {
        let machine = try FakeMachine()
        try touch(machine, "pts/0", read: machine.now.value, written: 0)
        var roots = machine.roots
        roots.user = getuid() + 1
        #expect(machine.conditions(TerminalSensor(roots: roots)).conditions.presence == nil)
    }

    @Test("The disk of the store is measured, and a missing disk is unknown")
    func disk() throws {
        let machine = try FakeMachine()
        let (conditions, state) = machine.conditions(DiskSensor(path: machine.folder.path))
        #expect(conditions.freeDisk ?? 0 > 0)
        #expect(state == .inUse)
        let (nothing, absent) = machine.conditions(DiskSensor(path: machine.folder.path("none")))
        #expect(nothing.freeDisk == nil && absent.isAbsent)
    }

    @Test("A resumed machine is reported once, unless logind reports it")
    func sleepClock() throws {
        let machine = try FakeMachine()
        let sensor = SleepClockSensor(roots: machine.roots)
        sensor.begin()
        #expect(machine.conditions(sensor).conditions.resumed == nil)
        machine.slept.advance(3600)
        machine.now.advance(3600)
        #expect(machine.conditions(sensor).conditions.resumed == machine.now.value)
        #expect(machine.conditions(sensor).conditions.resumed == nil)
        machine.slept.advance(3600)
        var readings = Readings(sessions: Readings.Sessions())
        sensor.read().apply(&readings)
        #expect(readings.resumed == nil)
    }
}
