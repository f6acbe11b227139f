// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A part of an item's text. A word has more weight in some parts than in others.
public enum TextField: Int, CaseIterable, Sendable {
    /// Titles and names, one per line.
    case title
    /// Keywords, one per line.
    case keywords
    /// Descriptions, names of people, places, and other short texts.
    case description
    /// The main text.
    case body

    private var weight: Double {
        switch self {
        case .title, .keywords: 3
        case .description: 1.5
        case .body: 1
        }
    }

    /// The typical number of words in a field of this kind.
    private var usualLength: Double { self == .title || self == .keywords ? 8 : 120 }

    /// The share of an occurrence's weight that depends on the field's length.
    private var lengthShare: Double { self == .title || self == .keywords ? 0.5 : 0.75 }

    /// Returns the amount that one occurrence of a word adds to the sum of its occurrences
    /// (``WordStrength``).
    ///
    /// - Parameter length: The number of words in the field. Very short fields count as a quarter
    ///   of the typical length.
    public func occurrence(inLength length: Int) -> Double {
        let relative = max(0.25, Double(length) / usualLength)
        return weight / (1 - lengthShare + lengthShare * relative)
    }
}

/// The strength of a word in an item, from 0 to 1: BM25F without the rarity of the word. Field
/// lengths are compared with typical lengths instead of the average of all items, so that the index
/// terms of an item depend only on the item.
public enum WordStrength {
    private static let saturation = 2.0
    /// The number of levels in the index.
    public static let levels = 8

    /// Returns the strength for the sum of the occurrences in all fields
    /// (``TextField/occurrence(inLength:)``).
    public static func value(_ sum: Double) -> Double { sum / (sum + saturation) }

    /// Returns the level of a sum of occurrences, from 0.
    public static func level(_ sum: Double) -> Int { min(levels - 1, Int(value(sum) * Double(levels))) }

    /// Returns the strength in the middle of a level.
    public static func middle(ofLevel level: Int) -> Double { (Double(level) + 0.5) / Double(levels) }

    /// The number of fine levels in the index, for words of titles and keywords.
    public static let fineLevels = 32

    /// Returns the fine level of a sum of occurrences, from 0.
    public static func fineLevel(_ sum: Double) -> Int { min(fineLevels - 1, Int(value(sum) * Double(fineLevels))) }

    /// Returns the strength in the middle of a fine level.
    public static func middle(ofFineLevel level: Int) -> Double { (Double(level) + 0.5) / Double(fineLevels) }
}

/// The position of a word in titles and keywords, best first.
public enum TitlePlace: Int, CaseIterable, Comparable, Sendable {
    /// The first word of a title of at most two words.
    case startOfShort
    /// The first word of a title of at most four words.
    case startOfMiddle
    /// The first word of a longer title.
    case startOfLong
    /// A later word of a title of at most four words.
    case insideOfMiddle
    /// A later word of a longer title.
    case insideOfLong
    /// A word of a keyword.
    case keyword

    /// Creates the position of a word in a title.
    ///
    /// - Parameters:
    ///   - position: The index of the word, from 0.
    ///   - length: The number of words in the title.
    public init(position: Int, length: Int) {
        switch (position, length) {
        case (0, ...2): self = .startOfShort
        case (0, ...4): self = .startOfMiddle
        case (0, _): self = .startOfLong
        case (_, ...4): self = .insideOfMiddle
        default: self = .insideOfLong
        }
    }

    /// `true` if the word is the first of a title.
    public var isStart: Bool { self <= .startOfLong }

    /// The evidence, for an item with the word at this position, that it is the wanted item
    /// (``Relevance``).
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

    /// Returns `true` if one position has more evidence than the other.
    public static func < (one: TitlePlace, other: TitlePlace) -> Bool { one.rawValue < other.rawValue }
}

/// The effect of an item's age on its score. Ages are whole days, so that the index can sort texts
/// by day.
public enum FreshnessRule {
    /// The number of days after which freshness has halved.
    public static let halfLife = 30.0

    /// Returns the freshness: 1 for an item from today, approaching 0 with age.
    ///
    /// - Parameter age: The age in days; negative values are treated as 0.
    public static func value(age: Int) -> Double { exp2(-Double(max(0, age)) / halfLife) }

    /// Returns the weight applied to the score, from 0.85 to 1.
    public static func factor(age: Int) -> Double { least + (1 - least) * value(age: age) }

    /// The smallest weight.
    public static let least = 0.85
}
