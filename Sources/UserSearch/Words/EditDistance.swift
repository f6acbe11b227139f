// SPDX-License-Identifier: Apache-2.0

/// The edit distance between a pattern and words: insertions, deletions, substitutions and
/// transpositions of neighbours, where no part is edited twice (optimal string alignment).
struct EditDistance {
    /// The length of the longest pattern, in scalars.
    static let maximumLength = 64

    let pattern: [Unicode.Scalar]
    /// The positions of each ASCII scalar in the pattern, as a bit mask.
    private var places = [UInt64](repeating: 0, count: 128)
    private var otherPlaces: [(scalar: UInt32, places: UInt64)] = []

    /// Prepares a pattern; `nil` if it is empty or longer than ``maximumLength``.
    init?(_ pattern: [Unicode.Scalar]) {
        guard (1...Self.maximumLength).contains(pattern.count) else { return nil }
        self.pattern = pattern
        for (index, scalar) in pattern.enumerated() {
            if scalar.isASCII {
                places[Int(scalar.value)] |= 1 << UInt64(index)
            } else if let known = otherPlaces.firstIndex(where: { $0.scalar == scalar.value }) {
                otherPlaces[known].places |= 1 << UInt64(index)
            } else {
                otherPlaces.append((scalar.value, 1 << UInt64(index)))
            }
        }
    }

    @inline(__always)
    private func places(of scalar: Unicode.Scalar) -> UInt64 {
        if scalar.value < 0x80 { return places[Int(scalar.value)] }
        for other in otherPlaces where other.scalar == scalar.value { return other.places }
        return 0
    }

    /// Returns the number of edits between the pattern and a word. Represents a column of the table
    /// as one machine word (Hyyrö 2003).
    func edits(to word: some Sequence<Unicode.Scalar>) -> Int {
        var (vertical, negative): (UInt64, UInt64) = (~0, 0)
        var (diagonal, previous): (UInt64, UInt64) = (0, 0)
        var distance = pattern.count
        let last: UInt64 = 1 << UInt64(pattern.count - 1)
        for scalar in word {
            let match = places(of: scalar)
            let transposed = ((~diagonal & match) << 1) & previous
            diagonal = (((match & vertical) &+ vertical) ^ vertical) | match | negative | transposed
            var horizontal = negative | ~(diagonal | vertical)
            var horizontalNegative = diagonal & vertical
            if horizontal & last != 0 { distance += 1 }
            if horizontalNegative & last != 0 { distance -= 1 }
            horizontal = horizontal << 1 | 1
            horizontalNegative <<= 1
            vertical = horizontalNegative | ~(diagonal | horizontal)
            negative = horizontal & diagonal
            previous = match
        }
        return distance
    }

    /// Returns the lowest total cost of edits that change the pattern to a word, using the costs of
    /// typing errors.
    func cost(to word: [Unicode.Scalar]) -> Double {
        let width = word.count + 1
        var before = [Double](repeating: 0, count: width)
        var above = before
        var row = before
        for column in 1..<max(width, 1) { row[column] = row[column - 1] + EditCost.missing(column - 1, of: word) }
        for (index, typed) in pattern.enumerated() {
            (before, above) = (above, row)
            let deletion = EditCost.extra(index, of: pattern)
            row[0] = above[0] + deletion
            for column in 1..<max(width, 1) {
                let wanted = word[column - 1]
                var best = min(
                    above[column - 1] + EditCost.substitution(typed, wanted), above[column] + deletion,
                    row[column - 1] + EditCost.missing(column - 1, of: word))
                if index > 0, column > 1, typed == word[column - 2], pattern[index - 1] == wanted, typed != wanted {
                    best = min(best, before[column - 2] + EditCost.transposition)
                }
                row[column] = best
            }
        }
        let startsOtherwise = pattern.first != word.first
        let startsSwapped = pattern.count > 1 && word.count > 1 && pattern[0] == word[1] && pattern[1] == word[0]
        return row[width - 1] + (startsOtherwise && !startsSwapped ? EditCost.firstLetter : 0)
    }
}

/// The costs of typing errors. An error costs more if there are more possible errors of its kind: a
/// word has as many possible omissions as letters, but 25 times as many substitutions. Common
/// errors are swapped neighbours, wrong double letters and adjacent keys.
enum EditCost {
    /// The lowest cost.
    static let transposition = 0.5
    /// The additional cost of a wrong first letter, which is rare.
    static let firstLetter = 0.1
    private static let (leftOut, leftOutDouble) = (0.62, 0.52)
    private static let (added, addedDouble) = (1.15, 0.75)
    private static let (other, near) = (1.15, 0.95)

    /// Returns the cost of omitting a letter of the word.
    static func missing(_ index: Int, of word: [Unicode.Scalar]) -> Double {
        isDoubled(index, of: word) ? leftOutDouble : leftOut
    }

    /// Returns the cost of typing a letter that is not in the word.
    static func extra(_ index: Int, of typed: [Unicode.Scalar]) -> Double {
        isDoubled(index, of: typed) ? addedDouble : added
    }

    static func substitution(_ typed: Unicode.Scalar, _ wanted: Unicode.Scalar) -> Double {
        if typed == wanted { return 0 }
        guard let typedLetter = letter(typed), let wantedLetter = letter(wanted) else { return other }
        return nearLetters[typedLetter] >> UInt32(wantedLetter) & 1 == 1 ? near : other
    }

    private static func isDoubled(_ index: Int, of word: [Unicode.Scalar]) -> Bool {
        let scalar = word[index]
        return index > 0 && word[index - 1] == scalar || index + 1 < word.count && word[index + 1] == scalar
    }

    private static func letter(_ scalar: Unicode.Scalar) -> Int? {
        (0x61...0x7A).contains(scalar.value) ? Int(scalar.value) - 0x61 : nil
    }

    /// For each letter, a bit mask of its neighbours on a QWERTY keyboard and of letters that sound
    /// alike. Neighbours on AZERTY and QWERTZ are mostly the same, except for y and z.
    private static let nearLetters: [UInt32] = {
        var near = [UInt32](repeating: 0, count: 26)
        func set(_ left: UInt8, _ right: UInt8) {
            guard left != right else { return }
            near[Int(left) - 0x61] |= 1 << UInt32(right - 0x61)
            near[Int(right) - 0x61] |= 1 << UInt32(left - 0x61)
        }
        let rows = ["qwertyuiop", "asdfghjkl", "zxcvbnm"].map { Array($0.utf8) }
        for (number, row) in rows.enumerated() {
            for (index, key) in row.enumerated() {
                if index > 0 { set(key, row[index - 1]) }
                guard number > 0 else { continue }
                for above in [index, index + 1] where above < rows[number - 1].count {
                    set(key, rows[number - 1][above])
                }
            }
        }
        for group in ["aeiouy", "ck", "csz", "fv", "mn", "dt", "bp", "gj", "ckq", "vw"] {
            for left in group.utf8 { for right in group.utf8 { set(left, right) } }
        }
        return near
    }()
}
