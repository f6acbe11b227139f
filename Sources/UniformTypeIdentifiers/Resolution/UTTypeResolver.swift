// SPDX-License-Identifier: Apache-2.0

/// Finds which representation of a source serves a receiver.
///
/// The rule (uniform-types.md §11): a representation serves a request when its type conforms to the requested one, never the
/// other way round. Among those that serve, order decides; how many steps lie between two types never does. Pure: the
/// answer follows from the arguments and the declared types alone.
public enum UTTypeResolver {
    /// Whose order leads when several pairs serve.
    public enum Preference: String, Hashable, Sendable, CaseIterable {
        /// The receiver lists its types best first: its first type that anything serves wins, with the source's first
        /// representation that serves it.
        case receiver
        /// What the receiver accepts is a set: the source's first representation that serves anything wins, for the first
        /// accepted type it serves.
        case source
    }

    /// A pair that serves, as positions in the two lists.
    public struct Choice: Hashable, Sendable {
        /// Which representation.
        public let offeredIndex: Int
        /// Which request.
        public let acceptedIndex: Int
    }

    /// Chooses without an explanation; this is what a drop calls.
    ///
    /// - Parameters:
    ///   - offered: The representations, best first.
    ///   - accepted: The requests, best first.
    ///   - preference: Whose order leads.
    /// - Returns: `nil` when nothing that is offered conforms to anything that is accepted.
    /// - Complexity: At most `offered.count * accepted.count` bit tests.
    public static func choose(
        offered: [UTType], accepted: [UTType], preferring preference: Preference = .receiver
    ) -> Choice? {
        if offered.allSatisfy(\.isCoreAsInTable) {
            return first(offered.count, accepted.count, preference) { offered[$0].conforms(to: accepted[$1]) }
        }
        // One snapshot for all pairs, asked once for each type that is offered.
        let snapshot = UTTypeRegistry.currentSnapshot
        let rows = offered.map(snapshot.row)
        return first(offered.count, accepted.count, preference) { offeredIndex, acceptedIndex in
            if case .core(let core) = accepted[acceptedIndex].storage {
                let column = CoreTable.shared.columns[Int(core)]
                if column != CoreTable.noColumn { return rows[offeredIndex].contains(column) }
                // Nobody's parent: only itself, or an ancestor that the row announces.
                if !rows[offeredIndex].contains(column) { return offered[offeredIndex] == accepted[acceptedIndex] }
            }
            return snapshot.conforms(offered[offeredIndex], to: accepted[acceptedIndex])
        }
    }

    /// The first pair that serves, in the order of the preference.
    @inline(__always)
    private static func first(
        _ offered: Int, _ accepted: Int, _ preference: Preference, where serves: (Int, Int) -> Bool
    ) -> Choice? {
        switch preference {
        case .receiver:
            for acceptedIndex in 0..<accepted {
                for offeredIndex in 0..<offered where serves(offeredIndex, acceptedIndex) {
                    return Choice(offeredIndex: offeredIndex, acceptedIndex: acceptedIndex)
                }
            }
        case .source:
            for offeredIndex in 0..<offered {
                for acceptedIndex in 0..<accepted where serves(offeredIndex, acceptedIndex) {
                    return Choice(offeredIndex: offeredIndex, acceptedIndex: acceptedIndex)
                }
            }
        }
        return nil
    }

    /// Chooses among identifiers, which need not be declared or even well-formed: those match by equality without case.
    ///
    /// - Parameters:
    ///   - offered: The representations, best first.
    ///   - accepted: The requests, best first.
    ///   - preference: Whose order leads.
    public static func choose(
        offeredIdentifiers offered: [String], acceptedIdentifiers accepted: [String],
        preferring preference: Preference = .receiver
    ) -> Choice? {
        let snapshot = UTTypeRegistry.currentSnapshot
        return choose(
            offered: offered.map { snapshot.typeOrName($0) }, accepted: accepted.map { snapshot.typeOrName($0) },
            preferring: preference)
    }

    /// Chooses and says why.
    ///
    /// - Parameters:
    ///   - offered: The representations, best first.
    ///   - accepted: The requests, best first.
    ///   - preference: Whose order leads.
    /// - Returns: The same choice as ``choose(offered:accepted:preferring:)`` makes, and every pair.
    public static func resolve(
        offered: [UTType], accepted: [UTType], preferring preference: Preference = .receiver
    ) -> UTTypeResolution {
        let snapshot = UTTypeRegistry.currentSnapshot
        var pairs: [UTTypeResolution.Pair] = []
        pairs.reserveCapacity(offered.count * accepted.count)
        for (offeredIndex, type) in offered.enumerated() {
            for (acceptedIndex, request) in accepted.enumerated() {
                pairs.append(
                    UTTypeResolution.Pair(
                        offeredIndex: offeredIndex, acceptedIndex: acceptedIndex,
                        relation: relation(of: type, to: request, in: snapshot)))
            }
        }
        return UTTypeResolution(
            offered: offered.map(\.identifier), accepted: accepted.map(\.identifier), preference: preference,
            pairs: pairs)
    }

    /// Chooses among identifiers, which need not be declared or even well-formed, and says why.
    ///
    /// - Parameters:
    ///   - offered: The representations, best first.
    ///   - accepted: The requests, best first.
    ///   - preference: Whose order leads.
    public static func resolve(
        offeredIdentifiers offered: [String], acceptedIdentifiers accepted: [String],
        preferring preference: Preference = .receiver
    ) -> UTTypeResolution {
        let snapshot = UTTypeRegistry.currentSnapshot
        return resolve(
            offered: offered.map { snapshot.typeOrName($0) }, accepted: accepted.map { snapshot.typeOrName($0) },
            preferring: preference)
    }

    private static func relation(
        of type: UTType, to request: UTType, in snapshot: UTTypeSnapshot
    ) -> UTTypeResolution.Relation {
        if type == request { return .same }
        if let distance = snapshot.distance(from: type, to: request) { return .conforms(distance: distance) }
        if snapshot.conforms(request, to: type) { return .tooGeneral }
        let isKnown = { (type: UTType) in type.isDynamic || snapshot.resolved(type).isDeclared }
        return isKnown(type) && isKnown(request) ? .unrelated : .notDeclared
    }
}
