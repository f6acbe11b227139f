// SPDX-License-Identifier: Apache-2.0

/// The words that occur, as a source of corrections.
///
/// ```swift
/// try SpellingCorrection.corrections(of: "conection", in: vocabulary).first?.word  // "connection"
/// ```
public protocol SpellingVocabulary {
    /// The error that reading the vocabulary may end with.
    associatedtype Failure: Error

    /// Counting the occurrences of a word stops at this number.
    static var maximumOccurrences: Int { get }

    /// So many words within the edits are looked up, at least ``SpellingCorrection/maximumCandidates``: more where many words that
    /// ``forEachWord(near:within:_:)`` gives may not occur.
    var maximumLookups: Int { get }

    /// Returns the number of occurrences of a folded word, at most ``maximumOccurrences``.
    func occurrences(of word: String) throws(Failure) -> Int

    /// Calls back with the words whose sketches are near that of a word, in any order.
    ///
    /// - Parameters:
    ///   - sketch: of the word to correct.
    ///   - edits: 1 or 2. The callback gets every word within so many edits (``SpellingSketch/mayBeWithin(_:_:_:)``), and others.
    ///   - body: gets a folded word in UTF-8, valid until it returns.
    func forEachWord(
        near sketch: SpellingSketch, within edits: Int, _ body: (_ word: UnsafeBufferPointer<UInt8>) -> Void
    ) throws(Failure)
}

extension SpellingVocabulary {
    /// ``SpellingCorrection/maximumCandidates``.
    public var maximumLookups: Int { SpellingCorrection.maximumCandidates }
}
