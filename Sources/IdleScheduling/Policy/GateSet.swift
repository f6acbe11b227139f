// SPDX-License-Identifier: Apache-2.0

/// Some gates, as bits: they are judged with every event, for each job.
package struct GateSet: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package init(_ gate: Gate) { rawValue = 1 << UInt32(gate.ordinal) }

    package init(_ gates: some Sequence<Gate>) { self = gates.reduce(into: []) { $0.insert(GateSet($1)) } }

    /// The gates, in the order of their declaration.
    package var gates: [Gate] { isEmpty ? [] : Gate.allCases.filter { contains(GateSet($0)) } }

    /// The one that comes first in the order of declaration, which is the order in which they are told.
    var first: Gate? { gates.first }

    /// The same without others.
    static func - (one: GateSet, other: GateSet) -> GateSet { one.subtracting(other) }

    /// Those that open and close by themselves within a minute, while work goes on: no reason for a line in a journal.
    static let passing = GateSet([.turn, .pace, .personWaiting])
    /// Those that only an event opens; time does not.
    static let told = GateSet([.disabled, .quarantined, .throttled, .turn, .personWaiting])
}

extension Gate {
    /// The place in the order of declaration, without a search.
    package var ordinal: Int {
        switch self {
        case .disabled: 0
        case .quarantined: 1
        case .backOff: 2
        case .throttled: 3
        case .cpuQuota: 4
        case .writeQuota: 5
        case .cancelled: 6
        case .turn: 7
        case .pace: 8
        case .unwatched: 9
        case .personWaiting: 10
        case .asleep: 11
        case .justResumed: 12
        case .inhibited: 13
        case .userActive: 14
        case .batteryLow: 15
        case .onBattery: 16
        case .powerSaver: 17
        case .hot: 18
        case .cpuBusy: 19
        case .cpuPressure: 20
        case .ioPressure: 21
        case .memoryPressure: 22
        case .diskFloor: 23
        }
    }

    /// Whether a job that has waited long may pass it, if the policy says so. Those of the job and its extension hold
    /// always, and so do the floor below which a disk is full, a machine that falls asleep, and a person who waits.
    public var isRelaxable: Bool {
        switch self {
        case .justResumed, .inhibited, .userActive, .batteryLow, .onBattery, .powerSaver, .hot, .cpuBusy, .cpuPressure,
            .ioPressure, .memoryPressure:
            true
        default: false
        }
    }

    /// Whether the configuration may switch it off.
    public var isSwitchable: Bool {
        switch self {
        case .cpuQuota, .writeQuota, .personWaiting, .diskFloor: true
        default: isRelaxable
        }
    }
}
