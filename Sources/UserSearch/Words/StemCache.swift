// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A bounded cache of stems with 8,192 slots of 64 bytes. Each slot holds the most recently stemmed
/// word that hashes to it.
struct StemCache: ~Copyable {
    /// The length of the longest word and of the longest stem that fit in a slot, in bytes.
    static let longestWord = 30

    private static let slotBytes = 64
    private static let slotCount = 8_192
    // The layout of a slot: the language's index + 1 (0: empty), the two lengths, the word, and the
    // stem.
    private static let wordOffset = 3
    private static let stemOffset = wordOffset + longestWord

    /// A word of at most ``longestWord`` bytes in a language.
    struct Key {
        let word: UnsafeBufferPointer<UInt8>
        let language: UInt8
        fileprivate let slot: Int

        init(_ word: UnsafeBufferPointer<UInt8>, languageAt index: Int) {
            self.word = word
            language = UInt8(truncatingIfNeeded: index + 1)
            // FNV-1a is fast for short words.
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(self.language)
            for byte in word { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            slot = Int(truncatingIfNeeded: (hash ^ hash >> 29) & UInt64(StemCache.slotCount - 1))
        }
    }

    private let slots: UnsafeMutablePointer<UInt8>

    init() {
        // The kernel allocates zeroed pages on first use. Most instances only live for one search
        // or one donation.
        guard let memory = calloc(Self.slotCount, Self.slotBytes) else {
            preconditionFailure("There is not enough memory for stems.")
        }
        slots = memory.assumingMemoryBound(to: UInt8.self)
    }

    deinit { free(slots) }

    /// Returns the slot with the word's stem; `nil` if it is not cached.
    func slot(of key: borrowing Key) -> Int? {
        let start = slots + key.slot * Self.slotBytes
        guard start[0] == key.language, start[1] == key.word.count else { return nil }
        for index in 0..<key.word.count where start[Self.wordOffset + index] != key.word[index] { return nil }
        return key.slot
    }

    /// Calls `body` with the stem in a slot.
    func withStem<Result>(
        at slot: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result {
        let start = slots + slot * Self.slotBytes
        return try body(UnsafeBufferPointer(start: start + Self.stemOffset, count: Int(start[2])))
    }

    /// Stores a stem of at most ``longestWord`` bytes, replacing the previous one.
    mutating func store(_ stem: [UInt8], for key: borrowing Key) -> Int {
        let start = slots + key.slot * Self.slotBytes
        start[0] = key.language
        start[1] = UInt8(truncatingIfNeeded: key.word.count)
        start[2] = UInt8(truncatingIfNeeded: stem.count)
        for (index, byte) in key.word.enumerated() { start[Self.wordOffset + index] = byte }
        for (index, byte) in stem.enumerated() { start[Self.stemOffset + index] = byte }
        return key.slot
    }
}
