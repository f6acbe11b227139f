// SPDX-License-Identifier: Apache-2.0

/// Some gates, as bits: they are judged with every event, for each job.
package struct GateSet: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package init(_ gate: Gate) { rawValue = 1 << UInt32(gate.rawValue) }

    package init(_ gates: some Sequence<Gate>) { self = gates.reduce(into: []) { $0.insert(GateSet($1)) } }

    /// The gates, in the order of their declaration.
    package var gates: [Gate] { isEmpty ? [] : Gate.allCases.filter { contains(GateSet($0)) } }

    /// The one that comes first in the order of declaration, which is the order in which they are told.
    var first: Gate? { gates.first }

    /// The same without others.
    static func - (one: GateSet, other: GateSet) -> GateSet { one.subtracting(other) }

    private init(opening isMeant: (Gate.Opening) -> Bool) {
        self.init(Gate.allCases.filter { isMeant($0.traits.opening) })
    }

    /// The gates that open and close within a minute while work goes on: no reason for a line in the decision log.
    static let passing = GateSet(opening: { $0 == .eventSoon || $0 == .timeSoon })
    /// The gates at which a job is stopped at once.
    static let refusals: GateSet = [GateSet(.disabled), GateSet(.quarantined)]
    /// The gates that fresh work passes.
    static let freshPassing = GateSet(Gate.allCases.filter(\.letsFreshPass))
    /// The gates that open within a minute, whatever happens: no reason for a line about what is under way.
    static let paces: GateSet = [GateSet(.dutyCycle), GateSet(.freshPace)]
    /// The gates that only an event opens; time does not.
    static let told = GateSet(opening: { $0 == .event || $0 == .eventSoon })
}
