// SPDX-License-Identifier: Apache-2.0

/// The pieces of a vocabulary, sorted by bytes. A lookup narrows the range of possible pieces with
/// each byte of the word, so its time does not depend on the contents of the vocabulary.
struct PieceTable: Sendable {
    private var bytes: [UInt8] = []
    /// The start of each piece, and the end of the last one.
    private var starts: [Int32] = [0]
    private var identifiers: [Int32] = []
    /// For each byte, the first piece that begins with it; then the number of pieces.
    private var firsts: [Int] = []

    /// Creates a table of non-empty pieces.
    init(_ pieces: [(piece: [UInt8], identifier: Int32)]) {
        let sorted = pieces.sorted { $0.piece.lexicographicallyPrecedes($1.piece) }
        bytes.reserveCapacity(sorted.reduce(0) { $0 + $1.piece.count })
        for (piece, identifier) in sorted {
            bytes += piece
            starts.append(Int32(bytes.count))
            identifiers.append(identifier)
        }
        var index = 0
        for byte in 0...255 {
            while index < sorted.count, sorted[index].piece[0] < byte { index += 1 }
            firsts.append(index)
        }
        firsts.append(sorted.count)
    }

    /// Returns the longest piece at the beginning of a word; `nil` if there is none.
    func longestPrefix(of word: ArraySlice<UInt8>) -> (length: Int, identifier: Int32)? {
        guard let first = word.first else { return nil }
        var (lower, upper) = (firsts[Int(first)], firsts[Int(first) + 1])
        var best: (Int, Int32)?
        var depth = 1
        while lower < upper {
            if length(lower) == depth {
                best = (depth, identifiers[lower])
                lower += 1
            }
            guard depth < word.count else { break }
            let byte = word[word.startIndex + depth]
            lower = partition(lower, upper) { self.byte($0, depth) >= byte }
            upper = partition(lower, upper) { self.byte($0, depth) > byte }
            depth += 1
        }
        return best
    }

    private func length(_ index: Int) -> Int { Int(starts[index + 1] - starts[index]) }

    private func byte(_ index: Int, _ depth: Int) -> UInt8 { bytes[Int(starts[index]) + depth] }

    /// Returns the first index that satisfies a condition, which all later indexes satisfy too.
    private func partition(_ lower: Int, _ upper: Int, _ condition: (Int) -> Bool) -> Int {
        var (lower, upper) = (lower, upper)
        while lower < upper {
            let middle = (lower + upper) / 2
            if condition(middle) { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}
