// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A word that is looked for.
public struct SoughtWord: Hashable, Sendable {
    /// As it was typed, folded.
    public var text: String
    /// What all its forms have in common, in each language that counts; at least one.
    public var stems: [String]
    /// Whether it may go on: it is being typed.
    public var isOpen: Bool
    /// How rare it is in the index (``rarity(occurrences:texts:)``).
    public var rarity: Double

    /// Creates a word.
    public init(_ text: String, stems: [String], isOpen: Bool = false, rarity: Double = 1) {
        (self.text, self.stems, self.isOpen, self.rarity) = (text, stems, isOpen, rarity)
    }

    /// How much a word tells that occurs in so many of all texts: the natural logarithm of how seldom it is. Words in most texts
    /// tell next to nothing.
    public static func rarity(occurrences: Double, texts: Double) -> Double {
        let others = max(0, texts - occurrences)
        return max(leastRarity, log1p((others - occurrences) / (occurrences + 0.5)))
    }

    /// The rarity from which a word is missed: words in more than a quarter of all texts are not.
    public static let missedRarity = 1.0

    /// The rarity of what is nearly everywhere.
    public static let leastRarity = 0.05
}
