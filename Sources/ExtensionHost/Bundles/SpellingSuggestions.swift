// SPDX-License-Identifier: Apache-2.0

/// Spelling suggestions for a misspelt name, such as the name of a bundle or of an attribute.
public enum SpellingSuggestions {
    /// The maximum number of bytes to compare; bundle names are shorter.
    private static let maximumLength = 255
    /// The maximum number of names to compare.
    private static let maximumNames = 2000

    /// Returns a question with the closest names, or `nil` if none is close.
    public static func sentence(to name: String, among known: [String]) -> String? {
        let found = nearest(to: name, among: known)
        return found.isEmpty ? nil : "Did you mean \(found.joined(separator: " or "))?"
    }

    /// Returns at most three names with a small edit distance or the same last component, closest
    /// first.
    public static func nearest(to name: String, among known: [String]) -> [String] {
        let wanted = Array(name.lowercased().utf8.prefix(maximumLength))
        guard !wanted.isEmpty else { return [] }
        // For a short name, the bound is at most half of its length.
        let bound = min(max(2, wanted.count / 5), wanted.count / 2)
        let last = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        let ranked = known.prefix(maximumNames).compactMap { candidate -> (distance: Int, name: String)? in
            let letters = Array(candidate.lowercased().utf8.prefix(maximumLength))
            let distance = distance(wanted, letters)
            let endsAlike = candidate.split(separator: ".").last.map { $0.lowercased() } == last && candidate != name
            guard distance <= bound || endsAlike, candidate != name else { return nil }
            return (distance, candidate)
        }
        return ranked.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
    }

    /// Returns the Levenshtein distance: the number of insertions, deletions and substitutions.
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var corner = row[0]
            row[0] = index + 1
            for place in other.indices {
                let next = min(
                    row[place] + 1, row[place + 1] + 1, corner + (letter == other[place] ? 0 : 1))
                corner = row[place + 1]
                row[place + 1] = next
            }
        }
        return row[other.count]
    }
}
