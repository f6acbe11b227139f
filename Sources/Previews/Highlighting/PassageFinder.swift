// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A part of a text with words of a query. A greater passage is better.
struct Passage: Comparable {
    /// The range from the first word to the last, in UTF-8 bytes.
    var range: Range<Int>
    /// The length of the range in Unicode scalars.
    var length: Int
    /// The number of different terms.
    var terms: Int
    /// The sum of the rarities of the terms in the text, and a little for each repetition.
    var weight: Double

    static func < (one: Passage, other: Passage) -> Bool { (one.terms, one.weight) < (other.terms, other.weight) }

    static func == (one: Passage, other: Passage) -> Bool { !(one < other) && !(other < one) }
}

/// Finds the best passage of a length among the occurrences of terms.
struct PassageFinder {
    private struct Occurrence {
        var term: Int
        /// In UTF-8 bytes.
        var range: Range<Int>
        /// In Unicode scalars.
        var scalars: Range<Int>
    }

    private let length: Int
    private let wanted: Int
    private var occurrences: [Occurrence] = []
    /// The number of occurrences of each term.
    private var counts: [Int: Int] = [:]
    /// The occurrences of the last passage, and how many each term has.
    private var last = 0..<0
    private var lastCounts: [Int: Int] = [:]
    /// The position up to which scalars were counted, in bytes and in scalars.
    private var counted = (bytes: 0, scalars: 0)

    /// The largest number of occurrences that are compared.
    private static let maximumOccurrences = 4096
    /// The weight of a repetition of a term, and the largest number of repetitions that count.
    private static let (repetition, maximumRepetitions) = (0.02, 5)

    /// Creates a finder.
    ///
    /// - Parameters:
    ///   - length: The maximum length of a passage in Unicode scalars. A passage with a single
    ///     occurrence may be longer.
    ///   - wanted: The number of terms of which there may be occurrences.
    init(length: Int, wanted: Int) {
        (self.length, self.wanted) = (length, wanted)
    }

    /// Adds an occurrence. The occurrences are added in the order in which they end.
    ///
    /// - Parameters:
    ///   - range: The range in the text, in UTF-8 bytes.
    ///   - text: The whole text.
    /// - Returns: `false` if no better passage can follow, or if enough occurrences were added.
    mutating func add(_ term: Int, _ range: Range<Int>, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        let start = scalars(before: range.lowerBound, text)
        occurrences.append(
            Occurrence(term: term, range: range, scalars: start..<scalars(before: range.upperBound, text)))
        counts[term, default: 0] += 1
        extendLast()
        return lastCounts.count < wanted && occurrences.count < Self.maximumOccurrences
    }

    /// The best passage; `nil` if there are no occurrences.
    var best: Passage? {
        guard !occurrences.isEmpty else { return nil }
        if lastCounts.count == wanted { return passage(last, lastCounts) }
        var finder = PassageFinder(length: length, wanted: .max)
        finder.counts = counts
        var best: Passage?
        for occurrence in occurrences {
            finder.occurrences.append(occurrence)
            finder.extendLast()
            let passage = finder.passage(finder.last, finder.lastCounts)
            if best.map({ $0 < passage }) ?? true { best = passage }
        }
        return best
    }

    /// Adds the last occurrence to the last passage, and removes the first ones that are too far
    /// away or occur again.
    private mutating func extendLast() {
        let newest = occurrences[occurrences.count - 1]
        last = last.lowerBound..<occurrences.count
        lastCounts[newest.term, default: 0] += 1
        while last.count > 1 {
            let first = occurrences[last.lowerBound]
            let isFar = newest.scalars.upperBound - first.scalars.lowerBound > length
            // The last passage with all terms is the result, so it is as short as possible.
            guard isFar || (lastCounts.count == wanted && lastCounts[first.term] ?? 0 > 1) else { break }
            last = last.lowerBound + 1..<last.upperBound
            let count = (lastCounts[first.term] ?? 1) - 1
            lastCounts[first.term] = count == 0 ? nil : count
        }
    }

    private func passage(_ part: Range<Int>, _ terms: [Int: Int]) -> Passage {
        let (first, last) = (occurrences[part.lowerBound], occurrences[part.upperBound - 1])
        let weight = terms.keys.reduce(0) { $0 + 1 / (1 + log(Double(counts[$1] ?? 1))) }
        let repetitions = min(part.count - terms.count, Self.maximumRepetitions)
        // The words of a phrase may also occur singly before its end.
        let start = occurrences[part].min { $0.range.lowerBound < $1.range.lowerBound } ?? first
        return Passage(
            range: start.range.lowerBound..<max(first.range.upperBound, last.range.upperBound),
            length: last.scalars.upperBound - start.scalars.lowerBound, terms: terms.count,
            weight: weight + Self.repetition * Double(repetitions))
    }

    /// Returns the number of scalars before a position, in bytes.
    private mutating func scalars(before position: Int, _ text: UnsafeBufferPointer<UInt8>) -> Int {
        let (low, high) = (min(position, counted.bytes), max(position, counted.bytes))
        let between = text[low..<high].count { $0 & 0xC0 != 0x80 }
        guard position >= counted.bytes else { return counted.scalars - between }
        counted = (position, counted.scalars + between)
        return counted.scalars
    }
}
