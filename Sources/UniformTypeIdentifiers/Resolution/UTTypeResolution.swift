// SPDX-License-Identifier: Apache-2.0

/// Which representation serves a receiver, and why: every pair with its relation.
public struct UTTypeResolution: Hashable, Sendable {
    /// How an offered type stands to an accepted one.
    public enum Relation: Hashable, Sendable {
        /// The same identifier: serves.
        case same
        /// The offered type conforms to the accepted one, in so many steps: serves. Steps are told, never weighed.
        case conforms(distance: Int)
        /// The accepted type is the more special one: does not serve.
        case tooGeneral
        /// One of the two is not declared, so that only equality counts: does not serve.
        case notDeclared
        /// Neither conforms to the other: does not serve.
        case unrelated

        /// Whether the representation serves the request.
        public var serves: Bool { distance != nil }

        /// The steps from the offered type up to the accepted one; `nil` if it does not serve.
        public var distance: Int? {
            switch self {
            case .same: 0
            case .conforms(let distance): distance
            case .tooGeneral, .notDeclared, .unrelated: nil
            }
        }
    }

    /// An offered and an accepted type, as positions in the lists.
    public struct Pair: Hashable, Sendable {
        /// Which representation.
        public let offeredIndex: Int
        /// Which request.
        public let acceptedIndex: Int
        /// How they stand to each other.
        public let relation: Relation
    }

    /// What decided.
    public enum Rule: String, Hashable, Sendable {
        /// No pair serves.
        case nothingServes
        /// One pair serves.
        case onlyPair
        /// Several serve; the receiver's order decided, then the source's.
        case receiversOrder
        /// Several serve; the source's order decided, then the receiver's.
        case sourcesOrder
    }

    /// The identifiers that were offered, best first.
    public let offered: [String]
    /// The identifiers that are accepted, best first.
    public let accepted: [String]
    /// Whose order leads.
    public let preference: UTTypeResolver.Preference
    /// Every pair, by offered and then by accepted type.
    public let pairs: [Pair]

    /// The pair that wins, or `nil` when none serves.
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

    /// What decided.
    public var rule: Rule {
        switch pairs.lazy.filter(\.relation.serves).prefix(2).count {
        case 0: .nothingServes
        case 1: .onlyPair
        default: preference == .receiver ? .receiversOrder : .sourcesOrder
        }
    }
}

extension UTTypeResolution: CustomStringConvertible {
    /// One line for each pair, and the winner with the rule.
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
            lines.append("nothing that is offered conforms to anything that is accepted")
        }
        return lines.joined(separator: "\n")
    }
}

extension UTTypeResolution.Relation: CustomStringConvertible {
    /// A few words.
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
    /// A few words.
    public var description: String {
        switch self {
        case .nothingServes: "nothing serves"
        case .onlyPair: "the only pair that serves"
        case .receiversOrder: "first in the receiver's order, then in the source's"
        case .sourcesOrder: "first in the source's order, then in the receiver's"
        }
    }
}
