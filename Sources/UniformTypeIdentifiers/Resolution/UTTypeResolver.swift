// SPDX-License-Identifier: Apache-2.0

/// Functions that choose one of a source's representations for a receiver.
///
/// A representation matches a request if its type conforms to the requested type, never vice versa
/// (docs/UNIFORM-TYPES.md). Among matches, the order decides, never the number of steps between two
/// types. The functions are pure: the result depends only on the arguments and the declared types.
public enum UTTypeResolver {
    /// The list whose order takes precedence if several pairs match.
    public enum Preference: String, Hashable, Sendable, CaseIterable {
        /// The receiver's list is in order of preference. The first type that has a match is
        /// chosen, together with the first representation that matches it.
        case receiver
        /// The receiver's list is unordered. The first representation that has a match is chosen,
        /// for the first accepted type that it matches.
        case source
    }

    /// A matching pair, as indexes into the two lists.
    public struct Choice: Hashable, Sendable {
        /// The index of the representation.
        public let offeredIndex: Int
        /// The index of the request.
        public let acceptedIndex: Int
    }

    /// Chooses a pair without an explanation, for example for a drop.
    ///
    /// - Parameters:
    ///   - offered: The representations, best first.
    ///   - accepted: The requests, best first.
    ///   - preference: The list whose order takes precedence.
    /// - Returns: The chosen pair; `nil` if no offered type conforms to an accepted type.
    /// - Complexity: At most `offered.count * accepted.count` bit tests.
    public static func choose(
        offered: [UTType], accepted: [UTType], preferring preference: Preference = .receiver
    ) -> Choice? {
        if offered.allSatisfy(\.isCoreAsInTable) {
            return first(offered.count, accepted.count, preference) { offered[$0].conforms(to: accepted[$1]) }
        }
        // Uses one snapshot for all pairs, and one row lookup per offered type.
        let snapshot = UTTypeRegistry.currentSnapshot
        let rows = offered.map(snapshot.row)
        return first(offered.count, accepted.count, preference) { offeredIndex, acceptedIndex in
            if case .core(let core) = accepted[acceptedIndex].storage {
                let column = CoreTable.shared.columns[Int(core)]
                if column != CoreTable.noColumn { return rows[offeredIndex].contains(column) }
                // The accepted type is not a parent in the core table. The pair matches only if the
                // types are equal, or if the row indicates further ancestors.
                if !rows[offeredIndex].contains(column) { return offered[offeredIndex] == accepted[acceptedIndex] }
            }
            return snapshot.conforms(offered[offeredIndex], to: accepted[acceptedIndex])
        }
    }

    /// Returns the first matching pair, in the preferred order.
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

    /// Chooses among identifiers, which need not be declared or valid. Undeclared identifiers match
    /// if they are equal, ignoring case.
    ///
    /// - Parameters:
    ///   - offered: The representations, best first.
    ///   - accepted: The requests, best first.
    ///   - preference: The list whose order takes precedence.
    public static func choose(
        offeredIdentifiers offered: [String], acceptedIdentifiers accepted: [String],
        preferring preference: Preference = .receiver
    ) -> Choice? {
        let snapshot = UTTypeRegistry.currentSnapshot
        return choose(
            offered: offered.map { snapshot.typeOrName($0) }, accepted: accepted.map { snapshot.typeOrName($0) },
            preferring: preference)
    }

    /// Chooses a pair with an explanation.
    ///
    /// - Parameters:
    ///   - offered: The representations, best first.
    ///   - accepted: The requests, best first.
    ///   - preference: The list whose order takes precedence.
    /// - Returns: The choice that ``choose(offered:accepted:preferring:)`` makes, and all pairs.
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

    /// Chooses among identifiers, which need not be declared or valid, with an explanation.
    ///
    /// - Parameters:
    ///   - offered: The representations, best first.
    ///   - accepted: The requests, best first.
    ///   - preference: The list whose order takes precedence.
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
