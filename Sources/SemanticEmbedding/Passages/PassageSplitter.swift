// SPDX-License-Identifier: Apache-2.0

/// A part of a text that is embedded separately.
package struct TextPassage: Hashable, Sendable {
    /// The tokens of the prefix, the title and the part, enclosed by the start and end tokens.
    package let tokens: [Int32]
    /// The range of the part within the text, in UTF-8 bytes; empty if the text is empty.
    package let range: Range<Int>
}

/// Divides a text into passages of a limited number of tokens. Each passage begins with the title,
/// because parts of a text seldom mention its subject.
///
/// A passage ends after a paragraph if it is at least half full at that point; otherwise after a
/// sentence or line; otherwise after a word.
package struct PassageSplitter: Sendable {
    /// The usual maximum number of passages per text, about 2,500 words.
    package static let usualPassages = 16

    private let tokenizer: WordPieceTokenizer
    private let prefix: String
    /// The largest number of tokens in a passage.
    private let tokens: Int
    /// The largest number of passages.
    private let passages: Int

    /// - Parameters:
    ///   - prefix: The text that precedes the title.
    ///   - tokens: The largest number of tokens in a passage, at least 8.
    ///   - passages: The largest number of passages of a text.
    package init(tokenizer: WordPieceTokenizer, prefix: String, tokens: Int, passages: Int) {
        precondition(tokens >= 8 && passages >= 1)
        (self.tokenizer, self.prefix, self.tokens, self.passages) = (tokenizer, prefix, tokens, passages)
    }

    /// Returns the passages of a text, in order. Of a long text, only the beginning is read.
    ///
    /// The prefix and the title each get up to a quarter of the tokens in a passage.
    package func passages(title: String, text: String) -> [TextPassage] {
        var head = [tokenizer.vocabulary.start]
        tokenizer.append(prefix, to: &head, limit: tokens / 4)
        tokenizer.append(title, to: &head, limit: head.count + tokens / 4)
        var split = Split(head: head, end: tokenizer.vocabulary.end, space: tokens - head.count - 1, limit: passages)
        tokenizer.forEachWord(in: text) { word, bytes in split.add(word, bytes) }
        split.finish()
        if split.passages.isEmpty, !title.isEmpty {
            return [TextPassage(tokens: head + [tokenizer.vocabulary.end], range: 0..<0)]
        }
        return split.passages
    }
}

/// The words of the current passage, and the completed passages.
private struct Split {
    let head: [Int32]
    let end: Int32
    /// The number of tokens available for the text.
    let space: Int
    let limit: Int
    private(set) var passages: [TextPassage] = []
    private var words: [WordPieceTokenizer.Word] = []
    /// For each word, how suitable it is as the end of a passage.
    private var ends: [Ending] = []
    private var count = 0

    private enum Ending: Int { case word, sentence, paragraph }

    init(head: [Int32], end: Int32, space: Int, limit: Int) {
        (self.head, self.end, self.space, self.limit) = (head, end, space, limit)
    }

    /// Adds a word; returns `false` once the number of passages reaches the limit.
    mutating func add(_ word: WordPieceTokenizer.Word, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        if let last = words.last {
            let isEnd = Self.endsSentence(text[last.range])
            let lines = text[last.range.upperBound..<word.range.lowerBound].count { $0 == UInt8(ascii: "\n") }
            ends[ends.count - 1] = lines > 1 ? .paragraph : lines == 1 || isEnd ? .sentence : .word
        }
        while count + word.tokens.count > space, !words.isEmpty {
            cut()
            if passages.count == limit { return false }
        }
        words.append(word)
        ends.append(.word)
        count += word.tokens.count
        return true
    }

    mutating func finish() {
        if !words.isEmpty, passages.count < limit { take(words.count) }
    }

    private static func endsSentence(_ word: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        switch word.count {
        case 1: word.first == UInt8(ascii: ".") || word.first == UInt8(ascii: "!") || word.first == UInt8(ascii: "?")
        case 3: ["。", "！", "？"].contains { word.elementsEqual($0.utf8) }
        default: false
        }
    }

    /// Ends the current passage at the most suitable word.
    private mutating func cut() {
        var (best, bestEnding) = (words.count, Ending.word)
        var left = count
        for index in words.indices.reversed() {
            guard left * 2 >= space else { break }
            if ends[index].rawValue > bestEnding.rawValue { (best, bestEnding) = (index + 1, ends[index]) }
            left -= words[index].tokens.count
        }
        take(best)
    }

    /// Turns the first words into a passage.
    private mutating func take(_ number: Int) {
        let taken = words[..<number]
        guard let first = taken.first, let last = taken.last else { return }
        let tokens = taken.flatMap(\.tokens)
        passages.append(
            TextPassage(
                tokens: head + tokens.prefix(space) + [end], range: first.range.lowerBound..<last.range.upperBound))
        words.removeFirst(number)
        ends.removeFirst(number)
        count -= tokens.count
    }
}
