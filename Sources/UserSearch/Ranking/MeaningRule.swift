// SPDX-License-Identifier: Apache-2.0

/// The contribution of a text's meaning to a score, in addition to its words (docs/SEARCH.md).
///
/// The similarity of an item and the search text is given in standard deviations above the mean of
/// all items. Between models, these deviations differ less than the cosines.
public enum MeaningRule {
    /// The largest contribution of meaning, as a share of the best word score.
    private static let weight = 0.8
    /// The number of deviations at which meaning contributes fully.
    private static let span = 8.0
    /// The number of deviations below which meaning alone makes no hit. Among a million random
    /// texts, few are that similar.
    public static let floor = 4.5

    /// The number of deviations below which an item is not considered similar to another. It is
    /// lower than ``floor``, because a user who asks for similar items sees them in order, and
    /// expects the nearest.
    public static let similarFloor = 1.0

    /// Returns the contribution of meaning to the score.
    ///
    /// - Parameters:
    ///   - deviations: The similarity of the item, less ``expected(passages:)``.
    ///   - best: The best word score among the hits; 1 if no item contains a word.
    public static func part(deviations: Double, best: Double) -> Double {
        weight * min(1, max(0, deviations / span)) * best
    }

    /// Returns the deviations that the best of some passages has by chance: the expected maximum of
    /// as many normally distributed numbers. Without it, long items would rank above short ones.
    public static func expected(passages: Int) -> Double { maxima[min(max(1, passages), maxima.count) - 1] }

    private static let maxima = [
        0, 0.56, 0.85, 1.03, 1.16, 1.27, 1.35, 1.42, 1.49, 1.54, 1.59, 1.63, 1.67, 1.7, 1.74, 1.77,
    ]

    /// The minimum number of distinct words for a search by meaning.
    public static let fewestWords = 3

    /// Returns `true` if a text is searched by meaning. Questions are; names and the first words
    /// that a user types are not.
    ///
    /// - Parameters:
    ///   - words: The number of distinct words.
    ///   - isTyping: `true` if the last word may be incomplete because the user is still typing; it
    ///     is then not counted.
    public static func applies(words: Int, isTyping: Bool) -> Bool { words - (isTyping ? 1 : 0) >= fewestWords }
}
