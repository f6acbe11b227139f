// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A word to find.
public struct QueryWord: Hashable, Sendable {
    /// The folded typed word.
    public var text: String
    /// The stems of the word, one for each relevant language; at least one.
    public var stems: [String]
    /// `true` if the word may be incomplete because it is being typed.
    public var isOpen: Bool
    /// The rarity of the word in the index (``rarity(occurrences:texts:)``).
    public var rarity: Double
    /// `true` if the word is a question word or a function word and carries no content.
    public var isFunctionWord = false
    /// `true` if the word alone makes an item a hit. Words that occur in nearly all items do not
    /// distinguish items.
    public var isDistinctive = true

    /// `true` if the word is one or two letters of a word that is being typed.
    public var isShort: Bool { isOpen && text.unicodeScalars.count < 3 }

    /// Creates a word.
    public init(_ text: String, stems: [String], isOpen: Bool = false, rarity: Double = 1) {
        (self.text, self.stems, self.isOpen, self.rarity) = (text, stems, isOpen, rarity)
    }

    /// Returns the rarity of a word from the number of texts that contain it: the natural logarithm
    /// of its inverse frequency. Words that occur in most texts have almost no rarity.
    public static func rarity(occurrences: Double, texts: Double) -> Double {
        let others = max(0, texts - occurrences)
        return max(leastRarity, log1p((others - occurrences) / (occurrences + 0.5)))
    }

    /// The rarity above which an item should contain the word. Words that occur in more than a
    /// quarter of all texts are below it.
    public static let missedRarity = 1.0

    /// The largest share of the least rarity of a content word that a function word has beside it.
    /// In a small index, a function word may be as rare as a content word.
    public static let functionWordShare = 0.2

    /// The rarity of a word that occurs in nearly all texts.
    public static let leastRarity = 0.05
}
