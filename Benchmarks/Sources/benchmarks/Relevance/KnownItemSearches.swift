// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import TestSupport
import TextAnalysis
import UserSearch

/// A search that a user types to find a particular item.
struct KnownItemSearch {
    var typed: String
    var meant: KnownItem

    /// Returns searches for the exact names of some items.
    static func names(_ count: Int, of items: [KnownItem], _ random: inout SplitMix64) -> [KnownItemSearch] {
        items.shuffled(using: &random).prefix(count).map { KnownItemSearch(typed: $0.name, meant: $0) }
    }

    /// Returns searches for descriptions of at least five words, each with one word removed. Only
    /// unambiguous searches are used: `language pack for` could mean the package
    /// `language pack for German` or `language pack for Greek`.
    static func descriptions(_ count: Int, of items: [KnownItem], _ random: inout SplitMix64) -> [KnownItemSearch] {
        let words = items.map { Set(TextAnalyzer.searchWords(of: $0.name + " " + $0.summary)) }
        var places: [String: [Int32]] = [:]
        for (place, words) in words.enumerated() {
            for word in words { places[word, default: []].append(Int32(place)) }
        }
        var searches: [KnownItemSearch] = []
        for place in items.indices.shuffled(using: &random) where searches.count < count {
            var typed = items[place].summary.split(separator: " ")
            guard typed.count >= 5 else { continue }
            typed.remove(at: random.below(typed.count))
            let text = typed.joined(separator: " ")
            let sought = Set(TextAnalyzer.searchWords(of: text))
            let rarest = sought.map { places[$0] ?? [] }.min { $0.count < $1.count } ?? []
            guard rarest.count(where: { sought.isSubset(of: words[Int($0)]) }) == 1 else { continue }
            searches.append(KnownItemSearch(typed: text, meant: items[place]))
        }
        return searches
    }

    /// Returns the rank of the item among the hits, starting at 1; `nil` if it is missing.
    ///
    /// - Parameter byTitle: `true` to accept any item with the same title, since a package and its
    ///   command have the same name.
    func rank(among hits: [SearchHit], byTitle: Bool) -> Int? {
        hits.firstIndex { hit in
            byTitle
                ? hit.item.displayTitle == meant.name
                : hit.item.record.uniqueIdentifier == meant.identifier && hit.item.scope.bundle == meant.kind.bundle
        }.map { $0 + 1 }
    }

    /// Returns a line about an item with a low rank, with the scores of the hits.
    func miss(_ rank: Int?, among hits: [SearchHit]) -> String {
        func line(_ hit: SearchHit, _ place: Int) -> String {
            "\n    \(place). \(hit.item.displayTitle) (\(hit.item.scope.bundle)): \(hit.parts.line)"
        }
        var text = "\(typed)\n    meant: \(meant.identifier): \(meant.summary)"
        text += "\n    " + (rank.map { "hit \($0)" } ?? "no hit") + " of \(hits.count)"
        for (index, hit) in hits.prefix(3).enumerated() { text += line(hit, index + 1) }
        if let rank, rank > 3 { text += line(hits[rank - 1], rank) }
        return text
    }
}

extension ScoreParts {
    /// The parts of the score on one line.
    fileprivate var line: String {
        let values = [evidence, words, nearness, freshness].map { Measurement.number($0) }
        return
            "\(Measurement.number(score)) = (\(fit) \(values[0]) + words \(values[1]) + nearness \(values[2])) × \(values[3])"
    }
}
