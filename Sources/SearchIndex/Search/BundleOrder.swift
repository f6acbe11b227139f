// SPDX-License-Identifier: Apache-2.0
import ItemRecord
// Reorders a bundle's hits by the app's own ranking attributes: `rankingHint` (0 to 100), and flags
// for items that the user created, owns or curated. These attributes must not lift an app's items
// above items of other apps. So hits only exchange positions with hits of the same bundle and kind
// of match.
enum BundleOrder {
    /// Returns the importance that an app assigns to an item, as a factor close to 1.
    static func importance(of record: ItemRecord) -> Double {
        var importance = Importance()
        if let hint = record.attributes["rankingHint"]?.number { importance.add(hint: hint) }
        for name in userFlags { importance.add(flag: record.attributes[name]?.number ?? 0) }
        return importance.factor
    }

    /// The flags that describe how the user obtained an item.
    static let userFlags = ["userCreated", "userOwned", "userCurated"]

    /// Accumulates the importance of an item, one attribute at a time.
    struct Importance {
        private var hint = 0.0
        private var flags = 0.0

        /// The importance as a factor close to 1.
        var factor: Double { 1 + hint + flags }

        mutating func add(hint: Double) { self.hint = (min(100, max(0, hint)) - 50) / 100 }
        mutating func add(flag: Double) { if flag != 0 { flags += 0.1 } }
    }

    /// Sorts the hits of each bundle and kind of match by importance; the positions and their
    /// scores stay in place.
    static func apply(to hits: inout [RankedHit]) {
        struct Group: Hashable {
            var bundle: Int64
            var fit: SearchHit.Kind
        }
        var places: [Group: [Int]] = [:]
        for (place, hit) in hits.enumerated() {
            places[Group(bundle: hit.bundle, fit: hit.parts.fit), default: []].append(place)
        }
        for group in places.values where group.count > 1 {
            let members = group.map { hits[$0] }
            guard members.contains(where: { $0.importance != members[0].importance }) else { continue }
            let order = members.indices.sorted { one, other in
                let (a, b) = (
                    members[one].parts.score * members[one].importance,
                    members[other].parts.score * members[other].importance
                )
                return a == b ? one < other : a > b
            }
            for (place, member) in zip(group, order) {
                let score = hits[place].score
                hits[place] = members[member]
                hits[place].score = score
            }
        }
    }
}

extension AttributeValue {
    /// The value as a number, if it is a number or a Boolean.
    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value.isNaN ? nil : value
        case .boolean(let value): value ? 1 : 0
        default: nil
        }
    }
}
