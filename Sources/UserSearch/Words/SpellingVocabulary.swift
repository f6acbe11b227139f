// SPDX-License-Identifier: Apache-2.0

/// The words that occur, as a source of corrections: ``SpellingDictionary``, or an index that keeps sketches of its words.
public protocol SpellingVocabulary {
    /// How often a folded word occurs; 0 if nowhere.
    func occurrences(of word: String) -> Int

    /// Calls back with the words that may be within so many edits of a word, by their sketches, in any order.
    ///
    /// - Parameters:
    ///   - sketch: of the word to correct.
    ///   - edits: 1 or 2.
    ///   - body: gets a folded word in UTF-8, valid until it returns, and how often it occurs.
    func forEachWord(
        near sketch: SpellingSketch, within edits: Int,
        _ body: (_ word: UnsafeBufferPointer<UInt8>, _ occurrences: Int) -> Void)
}

/// The distinct words of an index in memory, by length, each with its sketch: about 22 bytes a word.
///
/// A scan of the sketches of five lengths needs no index of trigrams or deletions, misses no word within two edits, and takes
/// half a millisecond for 500,000 words.
///
/// ```swift
/// let dictionary = SpellingDictionary([("connection", 40), ("collection", 12)])
/// SpellingCorrection.corrections(of: "conection", in: dictionary).first?.word  // "connection"
/// ```
public struct SpellingDictionary: SpellingVocabulary, Sendable {
    /// The most words. Those after it are left out, so hand in the commonest first.
    public static let maximumWords = 500_000

    private struct Words: Sendable {
        var letters: [UInt64] = []
        var occurrences: [UInt32] = []
        /// Where each word ends in ``bytes``.
        var ends: [UInt32] = []
        var bytes: [UInt8] = []
    }

    /// The words of each length, from ``SpellingCorrection/shortestWord`` - 1 scalars.
    private var lengths = [Words](repeating: Words(), count: SpellingCorrection.longestWord + 3)
    /// The number of words.
    public private(set) var count = 0

    /// Creates a dictionary of distinct folded words with the number of their occurrences. Words of a length that corrects
    /// nothing are left out.
    public init(_ words: some Sequence<(String, Int)>) {
        for (word, occurrences) in words where occurrences > 0 {
            guard count < Self.maximumWords else { return }
            let sketch = SpellingSketch(word.unicodeScalars)
            guard sketch.length < lengths.count, sketch.length >= SpellingCorrection.shortestWord - 1 else { continue }
            lengths[sketch.length].letters.append(sketch.letters)
            lengths[sketch.length].occurrences.append(UInt32(clamping: occurrences))
            lengths[sketch.length].bytes.append(contentsOf: word.utf8)
            lengths[sketch.length].ends.append(UInt32(lengths[sketch.length].bytes.count))
            count += 1
        }
    }

    /// How often a folded word occurs.
    public func occurrences(of word: String) -> Int {
        let sketch = SpellingSketch(word.unicodeScalars)
        guard lengths.indices.contains(sketch.length) else { return 0 }
        let words = lengths[sketch.length]
        let utf8 = Array(word.utf8)
        for (index, letters) in words.letters.enumerated() where letters == sketch.letters {
            let start = index == 0 ? 0 : Int(words.ends[index - 1])
            if words.bytes[start..<Int(words.ends[index])] == utf8[...] { return Int(words.occurrences[index]) }
        }
        return 0
    }

    /// Calls back with the words whose sketches are near.
    public func forEachWord(
        near sketch: SpellingSketch, within edits: Int,
        _ body: (_ word: UnsafeBufferPointer<UInt8>, _ occurrences: Int) -> Void
    ) {
        let first = max(0, sketch.length - edits)
        guard first < lengths.count else { return }
        for words in lengths[first...min(sketch.length + edits, lengths.count - 1)] {
            words.letters.withUnsafeBufferPointer { letters in
                words.bytes.withUnsafeBufferPointer { bytes in
                    for index in letters.indices
                    where SpellingSketch.mayBeWithin(edits, letters[index], sketch.letters) {
                        let start = index == 0 ? 0 : Int(words.ends[index - 1])
                        body(
                            UnsafeBufferPointer(rebasing: bytes[start..<Int(words.ends[index])]),
                            Int(words.occurrences[index]))
                    }
                }
            }
        }
    }
}
