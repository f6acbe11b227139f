// SPDX-License-Identifier: Apache-2.0

/// The gates of the machine, evaluated from its conditions. Measured gates have hysteresis.
package struct MachineGates: Sendable {
    /// The last conditions.
    package private(set) var conditions = Conditions()
    /// The measured gates that are closed.
    private var latched: GateSet = []

    package init() {}

    /// Evaluates new conditions.
    ///
    /// - Parameter sawOwnWork: `true` if a job ran during the measurement.
    package mutating func take(_ new: Conditions, _ policy: SchedulingPolicy, sawOwnWork: Bool) {
        conditions = new
        for gate in MeasuredGate.all {
            let value = gate.counts(new, policy) ? gate.value(new)?.finite : nil
            let isLatched = latched.contains(GateSet(gate.gate))
            let limit = isLatched ? gate.opens(policy) : gate.closes(policy, sawOwnWork)
            // At exactly its limit, a gate keeps its state.
            let isClosed = value.map { $0 == limit ? isLatched : ($0 > limit) == gate.closesAbove }
            if isClosed == true { latched.insert(GateSet(gate.gate)) } else { latched.remove(GateSet(gate.gate)) }
        }
    }

    package func closed(_ policy: SchedulingPolicy, at moment: Double) -> GateSet {
        var closed = latched
        if conditions.isAsleep { closed.insert(GateSet(.asleep)) }
        if let opens = opens(.justResumed, policy), moment < opens, isNear(conditions.resumed, policy, moment) {
            closed.insert(GateSet(.justResumed))
        }
        if !conditions.inhibitors.isEmpty { closed.insert(GateSet(.inhibited)) }
        if isSomebodyThere(policy, at: moment) { closed.insert(GateSet(.userActive)) }
        if conditions.power?.isOnBattery == true { closed.insert(GateSet(.onBattery)) }
        if conditions.isSavingPower == true { closed.insert(GateSet(.powerSaver)) }
        if conditions.isHot == true { closed.insert(GateSet(.hot)) }
        closed = closed - GateSet(policy.switchedOff)
        // Searchlight's own inhibitor applies even if the configuration disables the gate.
        if isInhibitedByOwn { closed.insert(GateSet(.inhibited)) }
        return closed
    }

    private func isSomebodyThere(_ policy: SchedulingPolicy, at moment: Double) -> Bool {
        guard conditions.isLocked != true else { return false }
        switch conditions.presence {
        case nil: return false
        case .active: return true
        case .away(let since):
            // An absence that began far in the future was recorded before the clock was set back.
            return since.isFinite && abs(moment - since) < policy.userActiveSeconds
        }
    }

    /// Returns `true` if the last resume was recent. A resume far in the future was recorded before
    /// the clock was set back.
    private func isNear(_ resumed: Double?, _ policy: SchedulingPolicy, _ moment: Double) -> Bool {
        resumed.map { abs(moment - $0) < policy.justResumedSeconds } ?? false
    }

    /// Returns the time at which a gate opens by itself, if known.
    package func opens(_ gate: Gate, _ policy: SchedulingPolicy) -> Double? {
        switch (gate, conditions.presence) {
        case (.justResumed, _): conditions.resumed?.finite.map { $0 + policy.justResumedSeconds }
        case (.userActive, .away(let since)): since.finite.map { $0 + policy.userActiveSeconds }
        default: nil
        }
    }

    /// `true` if Searchlight's own inhibitor is active. No job may pass it.
    var isInhibitedByOwn: Bool { conditions.inhibitors.contains { $0.isOwn } }
}

extension Double {
    /// The number itself; `nil` if it is infinite or NaN.
    package var finite: Double? { isFinite ? self : nil }
}
