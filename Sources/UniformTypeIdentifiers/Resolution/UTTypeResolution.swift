// SPDX-License-Identifier: Apache-2.0

/// The selection of a representation for a receiver, with an explanation for every pair.
public struct UTTypeResolution: Hashable, Sendable {
    /// The relation between an offered type and an accepted type.
    public enum Relation: Hashable, Sendable {
        /// The identifiers are equal. The pair matches.
        case same
        /// The offered type conforms to the accepted type, in `distance` steps. The pair matches.
        /// The distance is informative and does not affect the choice.
        case conforms(distance: Int)
        /// The accepted type is more specific. The pair does not match.
        case tooGeneral
        /// One of the types is not declared, and the identifiers differ. The pair does not match.
        case notDeclared
        /// Neither type conforms to the other. The pair does not match.
        case unrelated

        /// A Boolean value that indicates whether the representation matches the request.
        public var serves: Bool { distance != nil }

        /// The number of steps from the offered type to the accepted type; `nil` if the pair does
        /// not match.
        public var distance: Int? {
            switch self {
            case .same: 0
            case .conforms(let distance): distance
            case .tooGeneral, .notDeclared, .unrelated: nil
            }
        }
    }

    /// An offered and an accepted type, as indexes into the lists.
    public struct Pair: Hashable, Sendable {
        /// The index of the representation.
        public let offeredIndex: Int
        /// The index of the request.
        public let acceptedIndex: Int
        /// The relation of the two types.
        public let relation: Relation
    }

    /// The rule that determined the choice.
    public enum Rule: String, Hashable, Sendable {
        /// No pair matches.
        case nothingServes
        /// One pair matches.
        case onlyPair
        /// Several pairs match. The receiver's order decided, followed by the source's.
        case receiversOrder
        /// Several pairs match. The source's order decided, followed by the receiver's.
        case sourcesOrder
    }

    /// The offered identifiers, best first.
    public let offered: [String]
    /// The accepted identifiers, best first.
    public let accepted: [String]
    /// The list whose order takes precedence.
    public let preference: UTTypeResolver.Preference
    /// All pairs, ordered by offered type and then by accepted type.
    public let pairs: [Pair]

    /// The chosen pair; `nil` if no pair matches.
    public var choice: UTTypeResolver.Choice? {
        let serving = pairs.lazy.filter(\.relation.serves)
        let best =
            switch preference {
            case .receiver:
                serving.min { ($0.acceptedIndex, $0.offeredIndex) < ($1.acceptedIndex, $1.offeredIndex) }
            case .source:
                serving.min { ($0.offeredIndex, $0.acceptedIndex) < ($1.offeredIndex, $1.acceptedIndex) }
            }
        return best.map { UTTypeResolver.Choice(offeredIndex: $0.offeredIndex, acceptedIndex: $0.acceptedIndex) }
    }

    /// The rule that determined the choice.
    public var rule: Rule {
        switch pairs.lazy.filter(\.relation.serves).prefix(2).count {
        case 0: .nothingServes
        case 1: .onlyPair
        default: preference == .receiver ? .receiversOrder : .sourcesOrder
        }
    }
}

extension UTTypeResolution: CustomStringConvertible {
    /// A line for each pair, then the choice with its rule.
    public var description: String {
        let choice = choice
        var lines = pairs.map { pair in
            let isWinner = pair.offeredIndex == choice?.offeredIndex && pair.acceptedIndex == choice?.acceptedIndex
            return "\(isWinner ? "→" : " ") \(offered[pair.offeredIndex]) for \(accepted[pair.acceptedIndex]): "
                + "\(pair.relation)"
        }
        if let choice {
            lines.append("\(offered[choice.offeredIndex]) serves \(accepted[choice.acceptedIndex]): \(rule)")
        } else {
            lines.append("no offered type conforms to an accepted type")
        }
        return lines.joined(separator: "\n")
    }
}

extension UTTypeResolution.Relation: CustomStringConvertible {
    /// A short description.
    public var description: String {
        switch self {
        case .same: "serves, the same type"
        case .conforms(let distance): "serves, conforms in \(distance) \(distance == 1 ? "step" : "steps")"
        case .tooGeneral: "no, only the accepted type conforms to the offered one"
        case .notDeclared: "no, not declared and not equal"
        case .unrelated: "no, neither conforms to the other"
        }
    }
}

extension UTTypeResolution.Rule: CustomStringConvertible {
    /// A short description.
    public var description: String {
        switch self {
        case .nothingServes: "no offered type serves"
        case .onlyPair: "the only pair that serves"
        case .receiversOrder: "first in the receiver's order, then in the source's"
        case .sourcesOrder: "first in the source's order, then in the receiver's"
        }
    }
}
