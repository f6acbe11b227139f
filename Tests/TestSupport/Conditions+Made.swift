// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

extension Conditions {
    /// A machine with all gates open, without user activity for a long time.
    public static var idle: Conditions {
        var conditions = Conditions()
        conditions.presence = .away(since: -1e6)
        conditions.otherLoad = 0.02
        conditions.pressure = Pressure(cpu: 0, io: 0, memory: 0)
        conditions.power = Power(isOnBattery: false, percent: 100)
        conditions.freeDisk = 100 << 30
        return conditions
    }

    /// Returns the conditions with a change.
    public func with(_ change: (inout Conditions) -> Void) -> Conditions {
        var conditions = self
        change(&conditions)
        return conditions
    }

    /// For each gate of the machine, conditions that close only that gate.
    public static let closing: [(gate: Gate, conditions: Conditions)] = [
        (.asleep, idle.with { $0.isAsleep = true }),
        (.inhibited, idle.with { $0.inhibitors = [Inhibitor(who: "burner", why: "a disc", isOwn: false)] }),
        (.inhibited, idle.with { $0.inhibitors = [Inhibitor(who: "searchlight", why: "a test", isOwn: true)] }),
        (.userActive, idle.with { $0.presence = .active }),
        (.onBattery, idle.with { $0.power = Power(isOnBattery: true, percent: 80) }),
        (.powerSaver, idle.with { $0.isSavingPower = true }),
        (.hot, idle.with { $0.isHot = true }),
        (.cpuBusy, idle.with { $0.otherLoad = 0.6 }),
        (
            .cpuPressure,
            idle.with {
                $0.otherLoad = 0.2; $0.pressure.cpu = 0.5
            }
        ),
        (.ioPressure, idle.with { $0.pressure.io = 0.9 }),
        (.memoryPressure, idle.with { $0.pressure.memory = 0.3 }),
        (.diskFloor, idle.with { $0.freeDisk = 1 << 30 }),
    ]

    /// Returns conditions that close some gates, or none.
    public static func random(_ random: inout SplitMix64, at now: Double) -> Conditions {
        var conditions = idle
        let number = random.below(4)
        for _ in 0..<number {
            switch random.below(12) {
            case 0: conditions.presence = .active
            case 1: conditions.presence = .away(since: now - Double(random.below(200)) + 20)
            case 2: conditions.power = Power(isOnBattery: true, percent: Double(random.below(101)))
            case 3: conditions.otherLoad = Double(random.below(100)) / 100
            case 4: conditions.pressure.cpu = Double(random.below(100)) / 100
            case 5: conditions.pressure.io = Double(random.below(100)) / 100
            case 6: conditions.pressure.memory = Double(random.below(30)) / 100
            case 7: conditions.isAsleep = random.below(3) == 0
            case 8: conditions.resumed = now - Double(random.below(100))
            case 9:
                conditions.inhibitors = [Inhibitor(who: "x", why: "y", isOwn: random.below(4) == 0)]
            case 10: conditions.isHot = true
            default: conditions.freeDisk = UInt64(random.below(5)) << 30
            }
        }
        return conditions
    }
}
