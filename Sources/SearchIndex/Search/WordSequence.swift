// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Words that stand side by side, the last of which may be the beginning of one; looked for in a text, without an index.
struct WordSequence: Sendable {
    private let words: [[UInt8]]
    private let isPrefix: Bool

    /// - Parameters:
    ///   - words: folded, at least one.
    ///   - isPrefix: whether the last may be the beginning of a word.
    init(_ words: [String], isPrefix: Bool) {
        self.words = words.map { Array($0.utf8) }
        self.isPrefix = isPrefix
    }

    /// Whether they occur in the text. Reads no further than the first occurrence.
    func occurs(in text: String) -> Bool {
        var isFound = false
        // How many words of each possible beginning have been met.
        var met: [Int] = []
        FullTextTokenizer.forEachWord(in: text) { word in
            met.append(0)
            met = met.compactMap { count in
                let isLast = count == words.count - 1
                let isMet =
                    isLast && isPrefix ? word.starts(with: words[count]) : word.elementsEqual(words[count])
                isFound = isFound || (isMet && isLast)
                return isMet && !isLast ? count + 1 : nil
            }
            return !isFound
        }
        return isFound
    }

    /// Whether the words may occur in a text of a record: `false` only if they do not. A quick look, since most
    /// candidates are turned down by it.
    func mayOccur(inRecord bytes: some ContiguousBytes) -> Bool {
        guard let word = words.first, let first = word.first, first < 0x80 else { return true }
        return bytes.withUnsafeBytes { bytes in
            let bytes = bytes.bindMemory(to: UInt8.self)
            var scanner = RecordScanner(bytes)
            guard scanner.skipHeader() != nil, let count = scanner.count() else { return true }
            var mayOccur = false
            for _ in 0..<count {
                let isSound =
                    scanner.text() != nil && scanner.traits() != nil
                    && scanner.skipValue(depth: 0) { range in
                        mayOccur =
                            mayOccur || Self.mayOccur(word, first, in: UnsafeBufferPointer(rebasing: bytes[range]))
                    }
                if mayOccur || !isSound { return true }
            }
            return false
        }
    }

    /// At the beginning of a word, unlike `ByteNeedle`, which looks anywhere: a single letter is somewhere in every text.
    private static func mayOccur(_ word: [UInt8], _ first: UInt8, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        let last = text.count - word.count
        var position = 0
        var isInside = false
        while position < text.count {
            // Letters with marks fold to plain ones. Small and capital letters differ in one bit, which digits have anyway.
            let byte = text[position]
            if byte >= 0x80 { return true }
            let folded = byte | 0x20
            let isLetter = (0x61...0x7A).contains(folded) || (0x30...0x39).contains(byte)
            if !isInside, isLetter, folded == first, position <= last {
                var matched = 1
                while matched < word.count, text[position + matched] | 0x20 == word[matched] { matched += 1 }
                if matched == word.count || text[position + matched] >= 0x80 { return true }
            }
            isInside = isLetter
            position += 1
        }
        return false
    }

    /// Whether they occur in one of the texts of an item.
    func occurs(in text: SearchableText) -> Bool {
        occursInTitle(of: text) || occurs(in: text.description) || occurs(in: text.body)
    }

    /// Whether they occur in the title or the keywords of an item.
    func occursInTitle(of text: SearchableText) -> Bool { occurs(in: text.title) || occurs(in: text.keywords) }
}
