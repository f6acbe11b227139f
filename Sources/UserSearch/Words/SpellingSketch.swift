// SPDX-License-Identifier: Apache-2.0

/// What rules out most words that are not within a few edits of another: the length, and which letters occur once and twice.
///
/// An edit takes at most one letter away and adds at most one, and changes the length by at most one. So for words within N
/// edits, each sketch has at most N bits that the other lacks. A transposition changes nothing.
public struct SpellingSketch: Hashable, Sendable {
    /// The number of Unicode scalars.
    public let length: Int
    /// Bits 0 to 31: the letter occurs. Bits 32 to 63: it occurs twice. Other letters than a to z share bits.
    public let letters: UInt64

    /// The sketch of a folded word.
    public init(_ word: some Sequence<Unicode.Scalar>) {
        var (length, letters): (Int, UInt64) = (0, 0)
        for scalar in word {
            length += 1
            let bit: UInt64 = 1 << Self.position(scalar.value)
            letters |= letters & bit == 0 ? bit : bit << 32
        }
        (self.length, self.letters) = (length, letters)
    }

    /// Creates a sketch that was stored.
    public init(length: Int, letters: UInt64) { (self.length, self.letters) = (length, letters) }

    /// Whether the letters of two sketches allow so many edits, one or two, whatever the lengths.
    @inlinable @inline(__always)
    public static func mayBeWithin(_ edits: Int, _ left: UInt64, _ right: UInt64) -> Bool {
        // Counting bits costs a dozen operations on plain x86-64; taking the lowest away costs two.
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
