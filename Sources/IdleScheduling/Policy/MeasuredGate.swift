// SPDX-License-Identifier: Apache-2.0

/// A gate that a measured value closes at one limit and opens at another. Decisions, explanations
/// and configuration checks all use this table.
struct MeasuredGate: Sendable {
    let gate: Gate
    let unit: JobExplanation.GateState.Unit
    /// `true` if values above the limit close the gate; `false` if values below it do.
    let closesAbove: Bool
    let value: @Sendable (Conditions) -> Double?
    /// Returns the limit at which the gate closes. The second argument is `true` if a job ran
    /// during the measurement.
    let closes: @Sendable (SchedulingPolicy, Bool) -> Double
    let opens: @Sendable (SchedulingPolicy) -> Double
    /// Returns `true` if the value is meaningful under the current conditions.
    let counts: @Sendable (Conditions, SchedulingPolicy) -> Bool

    private init(
        _ gate: Gate, _ unit: JobExplanation.GateState.Unit, above closesAbove: Bool = true,
        value: @escaping @Sendable (Conditions) -> Double?,
        closes: @escaping @Sendable (SchedulingPolicy, Bool) -> Double,
        opens: @escaping @Sendable (SchedulingPolicy) -> Double,
        counts: @escaping @Sendable (Conditions, SchedulingPolicy) -> Bool = { _, _ in true }
    ) {
        (self.gate, self.unit, self.closesAbove, self.value) = (gate, unit, closesAbove, value)
        (self.closes, self.opens, self.counts) = (closes, opens, counts)
    }

    static let all: [MeasuredGate] = [
        MeasuredGate(
            .cpuBusy, .share, value: \.otherLoad, closes: { policy, _ in policy.cpuBusyCloses }, opens: \.cpuBusyOpens),
        // If no other program uses the processors, the indexer itself causes the stalls.
        MeasuredGate(
            .cpuPressure, .share, value: \.pressure.cpu, closes: { policy, _ in policy.cpuPressureCloses },
            opens: \.cpuPressureOpens,
            counts: { conditions, policy in
                conditions.otherLoad?.finite.map { $0 > policy.cpuPressureOthers } ?? true
            }),
        MeasuredGate(
            .ioPressure, .share, value: \.pressure.io,
            closes: { policy, sawOwnWork in sawOwnWork ? policy.ioPressureRunning : policy.ioPressureCloses },
            opens: \.ioPressureOpens),
        MeasuredGate(
            .memoryPressure, .share, value: \.pressure.memory, closes: { policy, _ in policy.memoryPressureCloses },
            opens: \.memoryPressureOpens),
        MeasuredGate(
            .batteryLow, .percent, above: false, value: \.power?.percent,
            closes: { policy, _ in policy.batteryLowCloses }, opens: \.batteryLowOpens,
            counts: { conditions, _ in conditions.power?.isOnBattery == true }),
        MeasuredGate(
            .diskFloor, .bytes, above: false, value: { conditions in conditions.freeDisk.map { Double($0) } },
            closes: { policy, _ in policy.diskFloorCloses }, opens: \.diskFloorOpens),
    ]
}
