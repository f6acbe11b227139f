// SPDX-License-Identifier: Apache-2.0

/// A summary of a word: its length, the letters that occur in it, and the letters that occur twice.
/// Comparing sketches rules out most words that are more than a few edits apart.
///
/// An edit removes at most one letter, adds at most one, and changes the length by at most one. So
/// if words are within N edits, each sketch has at most N bits that the other lacks. A
/// transposition changes nothing.
public struct SpellingSketch: Hashable, Sendable {
    /// The number of Unicode scalars.
    public let length: Int
    /// The letters: bits 0 to 31 for letters that occur, bits 32 to 63 for letters that occur
    /// twice. Letters other than a to z share bits with each other.
    public let letters: UInt64

    /// Creates the sketch of a folded word.
    public init(_ word: some Sequence<Unicode.Scalar>) {
        var (length, letters): (Int, UInt64) = (0, 0)
        for scalar in word {
            length += 1
            let bit: UInt64 = 1 << Self.position(scalar.value)
            letters |= letters & bit == 0 ? bit : bit << 32
        }
        (self.length, self.letters) = (length, letters)
    }

    /// Creates a sketch from stored values.
    public init(length: Int, letters: UInt64) { (self.length, self.letters) = (length, letters) }

    /// Returns `true` if the letters of two sketches allow `edits` edits, one or two, regardless of
    /// the lengths.
    @inlinable @inline(__always)
    public static func mayBeWithin(_ edits: Int, _ left: UInt64, _ right: UInt64) -> Bool {
        // Counting bits takes a dozen operations on plain x86-64; clearing the lowest bit takes
        // two.
        var (onlyLeft, onlyRight) = (left & ~right, right & ~left)
        onlyLeft &= onlyLeft &- 1
        onlyRight &= onlyRight &- 1
        if edits > 1 {
            onlyLeft &= onlyLeft &- 1
            onlyRight &= onlyRight &- 1
        }
        return onlyLeft | onlyRight == 0
    }

    private static func position(_ value: UInt32) -> UInt64 {
        switch value {
        case 0x61...0x7A: UInt64(value - 0x61)
        case ..<0x80: UInt64(26 + value % 6)
        default: UInt64(value & 31)
        }
    }
}
