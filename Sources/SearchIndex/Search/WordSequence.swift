// SPDX-License-Identifier: Apache-2.0

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

    /// Whether they occur in one of the texts of an item.
    func occurs(in text: SearchableText) -> Bool {
        occurs(in: text.title) || occurs(in: text.keywords) || occurs(in: text.description) || occurs(in: text.body)
    }
}
