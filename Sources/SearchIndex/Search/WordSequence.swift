// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A sequence of adjacent words, the last of which may be partial, to be found in a text without
/// using an index.
struct WordSequence: Sendable {
    private let words: [[UInt8]]
    private let last: Part

    /// The relation of the last word to a word of the text.
    private enum Part { case all, beginning, inside }

    /// - Parameters:
    ///   - words: The folded words, at least one.
    ///   - isPrefix: `true` if the last word may be a prefix.
    init(_ words: [String], isPrefix: Bool) {
        self.words = words.map { Array($0.utf8) }
        last = isPrefix ? .beginning : .all
    }

    /// Creates a sequence that matches letters inside a word, but not at its beginning.
    ///
    /// - Parameter part: The folded letters, not empty.
    init(inside part: String) {
        words = [Array(part.utf8)]
        last = .inside
    }

    /// Returns `true` if the sequence occurs in the text. Stops at the first occurrence.
    func occurs(in text: String) -> Bool {
        var isFound = false
        // The number of matched words for each possible start.
        var met: [Int] = []
        // The value of `met` before the last word, used for a variant of that word.
        var before: [Int] = []
        FullTextTokenizer.forEachWord(in: text) { word in
            if !word.isVariant {
                before = met + [0]
                met = []
            }
            met += before.compactMap { count in
                let isLast = count == words.count - 1
                let isMet = isLast ? isLastWord(word.bytes) : word.bytes.elementsEqual(words[count])
                isFound = isFound || (isMet && isLast)
                return isMet && !isLast ? count + 1 : nil
            }
            return !isFound
        }
        return isFound
    }

    private func isLastWord(_ word: UnsafeBufferPointer<UInt8>) -> Bool {
        let wanted = words[words.count - 1]
        switch last {
        case .all: return word.elementsEqual(wanted)
        case .beginning: return word.starts(with: wanted)
        case .inside:
            guard word.count > wanted.count else { return false }
            return (1...(word.count - wanted.count)).contains { word[$0...].starts(with: wanted) }
        }
    }

    /// Returns `false` only if the words do not occur in any text of a record. This fast check
    /// rejects most candidates.
    func mayOccur(inRecord bytes: some ContiguousBytes) -> Bool {
        bytes.withUnsafeBytes { mayOccur(inRecord: $0.bindMemory(to: UInt8.self)) }
    }

    /// Returns `false` only if the words do not occur in any text of an encoded record.
    func mayOccur(inRecord record: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let word = words.first, let first = word.first, first < 0x80,
            word.allSatisfy({ $0 >= 0x80 || FoldedByte.isLetter($0) })
        else { return true }
        // A word that begins with a digit may follow a letter, as in a version number.
        let isAnywhere = words.count == 1 && last == .inside || (0x30...0x39).contains(first)
        var scanner = RecordScanner(record)
        guard scanner.skipHeader() != nil, let count = scanner.count() else { return true }
        var mayOccur = false
        for _ in 0..<count {
            let isSound =
                scanner.text() != nil && scanner.traits() != nil
                && scanner.skipValue(depth: 0) { range in
                    let text = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: record[range]))
                    mayOccur = mayOccur || Self.mayOccur(word, first, anywhere: isAnywhere, in: text)
                }
            if mayOccur || !isSound { return true }
        }
        return false
    }

    /// Searches only at the beginnings of words; `ByteNeedle` searches anywhere. A single letter is
    /// assumed to occur in every text.
    private static func mayOccur(
        _ word: [UInt8], _ first: UInt8, anywhere: Bool, in text: UnsafeRawBufferPointer
    ) -> Bool {
        var position = 0
        var isInside = false
        // The end of the last block with bytes that are not ASCII.
        var end = 0
        while position < text.count {
            if position >= end, position + Block.scalarCount <= text.count {
                let block = text.loadUnaligned(fromByteOffset: position, as: Block.self)
                if any(block .>= Block(repeating: 0x80)) {
                    end = position + Block.scalarCount
                } else {
                    // Uppercase and lowercase letters differ in one bit. That bit is set in digits.
                    if any((block | Block(repeating: 0x20)) .== Block(repeating: first)) {
                        for index in position..<position + Block.scalarCount where text[index] | 0x20 == first {
                            let begins = index > position ? !isLetter(text[index - 1]) : !isInside
                            if anywhere || begins, mayGoOn(word, in: text, at: index + 1) { return true }
                        }
                    }
                    position += Block.scalarCount
                    isInside = isLetter(text[position - 1])
                    continue
                }
            }
            let (folded, length) = FoldedByte.next(in: text, at: position)
            position += length
            switch folded {
            case .unknown: return true
            case .other: isInside = false
            case .letter(let letter):
                if letter == first, anywhere || !isInside, mayGoOn(word, in: text, at: position) { return true }
                isInside = true
            }
        }
        return false
    }

    private typealias Block = SIMD16<UInt8>

    /// Returns `true` for ASCII letters and digits.
    private static func isLetter(_ byte: UInt8) -> Bool {
        FoldedByte.isLetter((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
    }

    /// Returns `true` if all bytes of a word but the first may match at a position.
    private static func mayGoOn(_ word: [UInt8], in text: UnsafeRawBufferPointer, at position: Int) -> Bool {
        var position = position
        for wanted in word.dropFirst() {
            guard wanted < 0x80 else { return true }
            // Words are also found without their apostrophe.
            position += apostrophe(in: text, at: position)
            guard position < text.count else { return false }
            let (folded, length) = FoldedByte.next(in: text, at: position)
            position += length
            switch folded {
            case .unknown: return true
            case .other: return false
            case .letter(let letter): guard letter == wanted else { return false }
            }
        }
        return true
    }

    /// Returns the length in bytes of the apostrophe at a position; 0 if there is none. Other
    /// apostrophe characters are treated as unknown (``FoldedByte``).
    private static func apostrophe(in text: UnsafeRawBufferPointer, at position: Int) -> Int {
        guard position < text.count else { return 0 }
        if text[position] == UInt8(ascii: "'") || text[position] == UInt8(ascii: "`") { return 1 }
        let isCurly =
            position + 2 < text.count && text[position] == 0xE2 && text[position + 1] == 0x80
            && [0x98, 0x99, 0x9B].contains(text[position + 2])
        return isCurly ? 3 : 0
    }

    /// Returns `true` if the sequence occurs in any of the texts.
    func occurs(inAnyOf texts: [String]) -> Bool { texts.contains { occurs(in: $0) } }
}
