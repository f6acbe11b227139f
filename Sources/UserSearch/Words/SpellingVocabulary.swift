// SPDX-License-Identifier: Apache-2.0

/// The existing words, as a source of corrections.
///
/// ```swift
/// try SpellingCorrection.corrections(of: "conection", in: vocabulary).first?.word  // "connection"
/// ```
public protocol SpellingVocabulary {
    /// The error that reading the vocabulary can throw.
    associatedtype Failure: Error

    /// The number at which counting a word's occurrences stops.
    static var maximumOccurrences: Int { get }

    /// The largest number of words within the allowed edits that are looked up, at least
    /// ``SpellingCorrection/maximumCandidates``. Use a larger number if many words from
    /// ``forEachWord(near:within:_:)`` may not occur.
    var maximumLookups: Int { get }

    /// Returns the number of occurrences of a folded word, at most ``maximumOccurrences``.
    func occurrences(of word: String) throws(Failure) -> Int

    /// Calls `body` with the words whose sketches are near the sketch of a word, in any order.
    ///
    /// - Parameters:
    ///   - sketch: The sketch of the word to correct.
    ///   - edits: 1 or 2. `body` receives every word within this many edits
    ///     (``SpellingSketch/mayBeWithin(_:_:_:)``), and possibly others.
    ///   - body: Receives a folded word in UTF-8, valid until it returns.
    func forEachWord(
        near sketch: SpellingSketch, within edits: Int, _ body: (_ word: UnsafeBufferPointer<UInt8>) -> Void
    ) throws(Failure)
}

extension SpellingVocabulary {
    /// The default, ``SpellingCorrection/maximumCandidates``.
    public var maximumLookups: Int { SpellingCorrection.maximumCandidates }
}
