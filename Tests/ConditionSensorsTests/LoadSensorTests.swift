// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdleScheduling
import TestSupport
import Testing

@testable import ConditionSensors

@Suite("The load of other programs")
struct LoadSensorTests {
    private func stat(_ machine: FakeMachine, _ fields: String) throws {
        try machine.write("proc/stat", "cpu  \(fields)\ncpu0 \(fields)\nintr 5\n")
    }

    private func process(_ machine: FakeMachine, _ name: String, _ times: [Int], called: String = "(x)") throws {
        let numbers = times.map(String.init).joined(separator: " ")
        try machine.write("proc/\(name)/stat", "1 \(called) S 1 1 1 0 -1 0 0 0 0 0 \(numbers) 20 0 1 0 5 6\n")
    }

    private func share(_ machine: FakeMachine, _ sensor: LoadSensor) -> Double? {
        machine.conditions(sensor).conditions.otherLoad
    }

    @Test("Load is the busy time without the time of this process, its children and its workers")
    func own() throws {
        let machine = try FakeMachine()
        let sensor = LoadSensor(roots: machine.roots) { [41, 42, -1, 0] }
        try stat(machine, "1000 100 500 9000 300 10 10 50 0 0")
        try process(machine, "self", [10, 10, 0, 0], called: "(search) light)")
        try process(machine, "41", [5, 5, 0, 0], called: "(a b) c)")
        #expect(share(machine, sensor) == nil)
        machine.elapsed.advance(2)
        // 60 + 20 + 20 used, 80 idle, 20 waiting; own 30, of which a new worker has 10.
        try stat(machine, "1060 120 520 9080 320 10 10 50 0 0")
        try process(machine, "self", [15, 15, 0, 0], called: "(search) light)")
        try process(machine, "41", [10, 10, 0, 0], called: "(a b) c)")
        try process(machine, "42", [3, 3, 2, 2])
        #expect(share(machine, sensor) == 0.35)
        // The parent's usage includes a terminated worker.
        machine.elapsed.advance(2)
        try stat(machine, "1160 120 520 9180 320 10 10 50 0 0")
        try process(machine, "self", [15, 15, 35, 35], called: "(search) light)")
        try machine.write("proc/41/stat", "")
        #expect(share(machine, sensor) == 0.25)
    }

    @Test("Stolen time is neither busy nor idle, and waiting for a disk is idle")
    func steal() throws {
        let machine = try FakeMachine()
        let sensor = LoadSensor(roots: machine.roots) { [] }
        try stat(machine, "0 0 0 0 0 0 0 0 0 0")
        _ = share(machine, sensor)
        machine.elapsed.advance(1)
        try stat(machine, "50 0 0 0 50 0 0 900 0 0")
        #expect(share(machine, sensor) == 0.5)
        machine.elapsed.advance(1)
        // All of the time was steal time.
        try stat(machine, "50 0 0 0 50 0 0 2000 0 0")
        #expect(share(machine, sensor) == nil)
    }

    @Test("Counters that go back, like idle counters, do not become a huge load")
    func backwards() throws {
        let machine = try FakeMachine()
        let sensor = LoadSensor(roots: machine.roots) { [] }
        try stat(machine, "1000 0 0 9000 500 0 0 0 0 0")
        try process(machine, "self", [900, 0, 0, 0])
        _ = share(machine, sensor)
        machine.elapsed.advance(1)
        try stat(machine, "1010 0 0 9090 100 0 0 0 0 0")
        try process(machine, "self", [10, 0, 0, 0])
        #expect(share(machine, sensor) == 0.1)
    }

    @Test("The last share holds for a moment; after a pause it is measured over the whole pause")
    func pauses() throws {
        let machine = try FakeMachine()
        let sensor = LoadSensor(roots: machine.roots) { [] }
        try stat(machine, "0 0 0 0 0 0 0 0 0 0")
        _ = share(machine, sensor)
        machine.elapsed.advance(1)
        try stat(machine, "50 0 0 50 0 0 0 0 0 0")
        #expect(share(machine, sensor) == 0.5)
        machine.elapsed.advance(0.1)
        try stat(machine, "60 0 0 50 0 0 0 0 0 0")
        #expect(share(machine, sensor) == 0.5)
        machine.elapsed.advance(1000)
        try stat(machine, "60 0 0 140 0 0 0 0 0 0")
        #expect(share(machine, sensor) == 0.1)
    }

    @Test(
        "An unexpected first line is a failure",
        arguments: [
            "", "cpu", "cpu0 1 2 3 4", "cpu a b c d", "cpu 1 2 3", "cpu 1 -2 3 4", "cpu 99999999999999999999 1 1 1",
        ])
    func hostile(_ line: String) throws {
        let machine = try FakeMachine()
        try machine.write("proc/stat", line)
        let (conditions, state) = machine.conditions(LoadSensor(roots: machine.roots) { [] })
        #expect(conditions.otherLoad == nil)
        #expect(state.isFailed)
    }

    @Test("The largest numbers do not trap")
    func largest() throws {
        let machine = try FakeMachine()
        let sensor = LoadSensor(roots: machine.roots) { [7] }
        let most = "\(UInt64.max)"
        try process(machine, "self", [Int.max, Int.max, Int.max, -5])
        try process(machine, "7", [Int.max, Int.max, Int.max, Int.max])
        for fields in ["0 0 0 0 0 0 0 0", [most, most, most, most, most, most, most].joined(separator: " ")] {
            try stat(machine, fields)
            machine.elapsed.advance(1)
            let share = share(machine, sensor)
            #expect(share.map { (0...1).contains($0) } ?? true)
        }
    }

    @Test("The kernel's file is read")
    func real() throws {
        let machine = try FakeMachine()
        var roots = machine.roots
        roots.proc = "/proc"
        let sensor = LoadSensor(roots: roots) { [getppid()] }
        #expect(machine.conditions(sensor).state == .inUse)
    }
}
