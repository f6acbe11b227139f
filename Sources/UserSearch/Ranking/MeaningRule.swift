// SPDX-License-Identifier: Apache-2.0

/// The part of a score for the meaning of a text, beside its words (docs/SEARCH.md).
///
/// The similarity of an item and the search text is given in standard deviations above the mean of
/// all items. The deviations of models differ less than their cosines.
public enum MeaningRule {
    /// The share of the best score of words that the largest meaning adds.
    private static let weight = 0.6
    /// The deviations at which meaning begins to count, and the number after which it counts in
    /// full.
    private static let (onset, span) = (1.0, 8.0)
    /// The deviations below which meaning alone makes no hit. Among a million random texts, few are
    /// that similar.
    public static let floor = 4.5

    /// The deviations below which an item is not similar to another item. Less than for
    /// ``floor``: a user who asks for similar items sees them in order, and expects the nearest.
    public static let similarFloor = 1.0

    /// Returns the part of the score.
    ///
    /// - Parameters:
    ///   - deviations: The similarity of the item.
    ///   - best: The best score of words among the hits; 1 if no item has a word.
    public static func part(deviations: Double, best: Double) -> Double {
        weight * min(1, max(0, (deviations - onset) / span)) * best
    }

    /// The number of distinct words from which a text is searched by its meaning.
    public static let fewestWords = 3

    /// Returns `true` if a text is searched by its meaning: questions are, names and the first
    /// words that a user types are not.
    ///
    /// - Parameters:
    ///   - words: The number of distinct words.
    ///   - isTyping: `true` if the last word may be incomplete and the user is still typing. It
    ///     does not count then.
    public static func applies(words: Int, isTyping: Bool) -> Bool { words - (isTyping ? 1 : 0) >= fewestWords }
}
