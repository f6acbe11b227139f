// SPDX-License-Identifier: Apache-2.0

/// A set of gates, stored as bits. The scheduler evaluates one for each job at each event.
package struct GateSet: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package init(_ gate: Gate) { rawValue = 1 << UInt32(gate.rawValue) }

    package init(_ gates: some Sequence<Gate>) { self = gates.reduce(into: []) { $0.insert(GateSet($1)) } }

    /// The gates, in declaration order.
    package var gates: [Gate] { isEmpty ? [] : Gate.allCases.filter { contains(GateSet($0)) } }

    /// The first gate in declaration order, which is the order used in reports.
    var first: Gate? { gates.first }

    /// Returns the gates of the first set that are not in the second.
    static func - (one: GateSet, other: GateSet) -> GateSet { one.subtracting(other) }

    private init(opening isMeant: (Gate.Opening) -> Bool) {
        self.init(Gate.allCases.filter { isMeant($0.traits.opening) })
    }

    /// The gates that open and close within a minute while work is in progress. These gates are not
    /// worth a line in the decision log.
    static let passing = GateSet(opening: { $0 == .eventSoon || $0 == .timeSoon })
    /// The gates that stop a running job immediately.
    static let refusals: GateSet = [GateSet(.disabled), GateSet(.quarantined), GateSet(.locked)]
    /// The gates that fresh work may pass.
    static let freshPassing = GateSet(Gate.allCases.filter(\.letsFreshPass))
    /// The gates that always open within a minute. For a running job, they are not worth a log
    /// line.
    static let paces: GateSet = [GateSet(.dutyCycle), GateSet(.freshPace)]
    /// The gates that only an event can open, never the passage of time.
    static let told = GateSet(opening: { $0 == .event || $0 == .eventSoon })
}
