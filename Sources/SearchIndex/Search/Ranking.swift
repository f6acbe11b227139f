// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// The second of two rankings: of the best candidates by ``FullTextScore``, with a look at the items.
///
///     score = text × (0.8 + 0.2 × cover) × (0.7 + 0.3 × freshness)
///
/// `cover` is how much of the title the typed text is, in letters, if it is part of it; `freshness` halves every 30 days
/// (``Freshness``). The hit's score is that plus a whole number for its kind.
///
/// What apps say of their own items (`rankingHint`, 0 to 100, and whether the person made, acquired or chose them) must
/// not lift them above other apps' items. So it changes the order of a bundle's hits among themselves, on the places that
/// they have anyway.
struct Ranking {
    let titleFit: TitleFit?
    let now: Double

    init(_ plan: SearchPlan, now: Double) {
        titleFit = plan.isPlain ? TitleFit(plan.text) : nil
        self.now = now
    }

    /// One candidate with its item.
    struct Candidate: Sendable {
        var row: Int64
        var score: Double
        var bundle: Int64
        var item: StoredItem
    }

    /// The hits in their order, which depends on nothing but the candidates.
    func ranked(_ candidates: [Candidate], kind: SearchHit.Kind) -> [SearchHit] {
        var entries = candidates.map { candidate -> Entry in
            let record = candidate.item.record
            let kind = kind == .title ? titleFit?.kind(of: record) ?? kind : kind
            let cover = titleFit?.cover(of: candidate.item.displayTitle) ?? 0
            let date = Freshness.date(of: record, donated: candidate.item.donated)
            let score =
                candidate.score * (0.8 + 0.2 * cover) * (0.7 + 0.3 * Freshness.value(of: date, now: now))
            return Entry(
                candidate: candidate, kind: kind, score: score, importance: Self.importance(of: record))
        }
        entries.sort { $0.isBefore($1) }
        reorderWithinBundles(&entries)
        let kinds = Double(SearchHit.Kind.allCases.count - 1)
        return entries.map {
            SearchHit(item: $0.candidate.item, kind: $0.kind, score: kinds - Double($0.kind.rawValue) + $0.score)
        }
    }

    private struct Entry {
        var candidate: Candidate
        var kind: SearchHit.Kind
        var score: Double
        var importance: Double

        func isBefore(_ other: Entry) -> Bool {
            if kind != other.kind { return kind < other.kind }
            if score != other.score { return score > other.score }
            return candidate.row > other.candidate.row
        }
    }

    /// What an app says of an item, as a factor around 1.
    static func importance(of record: ItemRecord) -> Double {
        var factor = 1.0
        if let hint = record.attributes["rankingHint"]?.number { factor += (min(100, max(0, hint)) - 50) / 100 }
        for name in ["userCreated", "userOwned", "userCurated"] where record.attributes[name]?.number ?? 0 != 0 {
            factor += 0.1
        }
        return factor
    }

    /// Gives each place and its score to the item of the same bundle and kind that deserves it most.
    private func reorderWithinBundles(_ entries: inout [Entry]) {
        struct Group: Hashable {
            var bundle: Int64
            var kind: SearchHit.Kind
        }
        var places: [Group: [Int]] = [:]
        for (place, entry) in entries.enumerated() {
            places[Group(bundle: entry.candidate.bundle, kind: entry.kind), default: []].append(place)
        }
        for group in places.values where group.count > 1 {
            let members = group.map { entries[$0] }
            guard members.contains(where: { $0.importance != members[0].importance }) else { continue }
            let order = members.indices.sorted { one, other in
                let (a, b) = (
                    members[one].score * members[one].importance, members[other].score * members[other].importance
                )
                return a == b ? one < other : a > b
            }
            for (place, member) in zip(group, order) {
                let score = entries[place].score
                entries[place] = members[member]
                entries[place].score = score
            }
        }
    }
}

extension AttributeValue {
    /// The value as a number, if it is one or a truth value.
    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value.isNaN ? nil : value
        case .boolean(let value): value ? 1 : 0
        default: nil
        }
    }
}
