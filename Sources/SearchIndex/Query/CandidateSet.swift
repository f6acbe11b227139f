// SPDX-License-Identifier: Apache-2.0
import GRDB

/// The items that may satisfy a query according to the indexes.
indirect enum CandidateSet {
    /// All items.
    case everything
    /// No item.
    case nothing
    /// The items that have a row in the attribute index.
    case rows(AttributeLookup)
    /// The items whose identifier is in a range; only for ASCII identifiers (``AttributeRows``).
    case identifiers(IdentifierLookup)
    /// The items that the full-text tables find by their words.
    case words(FullTextLookup)
    /// The items in at least one of the sets.
    case any([CandidateSet])
    /// The items in all of the sets; the smallest set should come first.
    case all([CandidateSet])
    /// The items that are not in the set.
    case except(CandidateSet)

    /// Returns the union of the sets in its simplest form.
    static func union(_ sets: [CandidateSet]) -> CandidateSet {
        var parts: [CandidateSet] = []
        for set in sets {
            switch set {
            case .everything: return .everything
            case .nothing: continue
            case .any(let inner): for part in inner { append(part, to: &parts) }
            default: append(set, to: &parts)
            }
        }
        return parts.isEmpty ? .nothing : parts.count == 1 ? parts[0] : .any(parts)
    }

    /// Appends a set. Merges value lists of the same attributes into one lookup, because programs
    /// send long lists of identifiers.
    private static func append(_ set: CandidateSet, to parts: inout [CandidateSet]) {
        if case .rows(let added) = set, case .values(let addedValues) = added.test {
            for (index, part) in parts.enumerated() {
                guard case .rows(var lookup) = part, lookup.names == added.names, case .values(let values) = lookup.test
                else { continue }
                lookup.test = .values(values + addedValues)
                parts[index] = .rows(lookup)
                return
            }
        }
        parts.append(set)
    }

    /// Returns the intersection of the sets in its simplest form.
    static func intersection(_ sets: [CandidateSet]) -> CandidateSet {
        var parts: [CandidateSet] = []
        for set in sets {
            switch set {
            case .everything: continue
            case .nothing: return .nothing
            case .all(let inner): parts += inner
            default: parts.append(set)
            }
        }
        return parts.isEmpty ? .everything : parts.count == 1 ? parts[0] : .all(parts)
    }

    static func complement(_ set: CandidateSet) -> CandidateSet {
        switch set {
        case .everything: .nothing
        case .nothing: .everything
        case .except(let inner): inner
        default: .except(set)
        }
    }

    /// `true` if the set only excludes items.
    var isComplement: Bool { if case .except = self { true } else { false } }

    var lookupCount: Int {
        switch self {
        case .everything, .nothing: 0
        case .rows, .identifiers, .words: 1
        case .any(let sets), .all(let sets): sets.reduce(0) { $0 + $1.lookupCount }
        case .except(let set): set.lookupCount
        }
    }
}

/// Finds rows of the attribute index for some attributes whose values satisfy a test.
struct AttributeLookup {
    enum Test {
        /// Any row: the attribute has a value.
        case presence
        /// A value in this list.
        case values([DatabaseValue])
        /// A number in a range.
        case numbers(lower: NumberBound?, upper: NumberBound?)
        /// A key from `lower` up to but not including `upper` that contains all `parts` or was
        /// truncated.
        case texts(lower: String, upper: String?, parts: [String])
    }

    struct NumberBound {
        var value: DatabaseValue
        var isIncluded: Bool
    }

    /// The numbers of the attributes, ascending.
    var names: [Int64]
    var test: Test
}

/// A test for ASCII identifiers: equal to a value, or from `lower` up to but not including `upper`.
enum IdentifierLookup {
    case equal(String)
    case range(lower: String, upper: String)
}
