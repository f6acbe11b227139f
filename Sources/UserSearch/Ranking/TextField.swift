// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A part of an item's text. A word says more of an item in one than in another.
public enum TextField: Int, CaseIterable, Sendable {
    /// Titles and names, one on each line.
    case title
    /// Keywords, one on each line.
    case keywords
    /// Descriptions, names of people, places, and whatever else is short.
    case description
    /// The text.
    case body

    private var weight: Double {
        switch self {
        case .title, .keywords: 3
        case .description: 1.5
        case .body: 1
        }
    }

    /// How many words such a part has usually.
    private var usualLength: Double { self == .title || self == .keywords ? 8 : 120 }

    /// How much of an occurrence's weight depends on the length.
    private var lengthShare: Double { self == .title || self == .keywords ? 0.5 : 0.75 }

    /// What one occurrence of a word adds to the sum of its occurrences (``WordStrength``).
    ///
    /// - Parameter length: how many words the part has. Very short ones count as a quarter of the usual length.
    public func occurrence(inLength length: Int) -> Double {
        let relative = max(0.25, Double(length) / usualLength)
        return weight / (1 - lengthShare + lengthShare * relative)
    }
}

/// How strongly a word stands in an item, from 0 to 1: BM25F without the rarity of the word. The lengths are compared with usual
/// ones instead of the average of all items, so that what is filed of an item depends on the item alone.
public enum WordStrength {
    private static let saturation = 2.0
    /// How many levels are told apart in the index.
    public static let levels = 8

    /// The strength for the sum of the occurrences in all fields (``TextField/occurrence(inLength:)``).
    public static func value(_ sum: Double) -> Double { sum / (sum + saturation) }

    /// The level, from 0, of a sum of occurrences.
    public static func level(_ sum: Double) -> Int { min(levels - 1, Int(value(sum) * Double(levels))) }

    /// The strength in the middle of a level.
    public static func middle(ofLevel level: Int) -> Double { (Double(level) + 0.5) / Double(levels) }
}

/// Where in titles and keywords a word stands, the best first.
public enum TitlePlace: Int, CaseIterable, Comparable, Sendable {
    /// The first word of a title of at most two words.
    case startOfShort
    /// The first word of a title of at most four words.
    case startOfMiddle
    /// The first word of a longer title.
    case startOfLong
    /// A further word of a title of at most four words.
    case insideOfMiddle
    /// A further word of a longer title.
    case insideOfLong
    /// In a keyword.
    case keyword

    /// The place of a word of a title.
    ///
    /// - Parameters:
    ///   - position: which word it is, from 0.
    ///   - length: how many words the title has.
    public init(position: Int, length: Int) {
        switch (position, length) {
        case (0, ...2): self = .startOfShort
        case (0, ...4): self = .startOfMiddle
        case (0, _): self = .startOfLong
        case (_, ...4): self = .insideOfMiddle
        default: self = .insideOfLong
        }
    }

    /// Whether the word is the first of a title.
    public var isStart: Bool { self <= .startOfLong }

    /// The evidence that an item with the word there is what is looked for (``Relevance``).
    public var evidence: Double {
        switch self {
        case .startOfShort: 0.9
        case .startOfMiddle: 0.85
        case .startOfLong: 0.8
        case .insideOfMiddle: 0.65
        case .insideOfLong: 0.6
        case .keyword: 0.5
        }
    }

    /// In the order of evidence.
    public static func < (one: TitlePlace, other: TitlePlace) -> Bool { one.rawValue < other.rawValue }
}

/// How new an item is, in days: so that the index can sort texts by it.
public enum FreshnessRule {
    /// After so many days half of the freshness is gone.
    public static let halfLife = 30.0

    /// 1 for something of today, towards 0 for what is old.
    ///
    /// - Parameter age: in days; less than 0 counts as 0.
    public static func value(age: Int) -> Double { exp2(-Double(max(0, age)) / halfLife) }

    /// What the score is multiplied by, from 0.85 to 1.
    public static func factor(age: Int) -> Double { least + (1 - least) * value(age: age) }

    /// The least factor.
    public static let least = 0.85
}
