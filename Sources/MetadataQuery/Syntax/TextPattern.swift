// SPDX-License-Identifier: Apache-2.0

/// A text with wildcards, after escapes have been resolved.
///
/// Patterns are in normal form: no empty literals, no adjacent literals, no adjacent `*`. Equal
/// patterns therefore have equal elements.
public struct TextPattern: Hashable, Sendable {
    /// A part of a pattern.
    public enum Element: Hashable, Sendable {
        /// Exactly this text.
        case literal(String)
        /// `*`: any number of characters, including none.
        case anyText
        /// `?`: exactly one character, meaning one Unicode scalar of the folded text in composed
        /// form.
        case anyCharacter
    }

    /// The elements from left to right; empty for the empty text.
    public let elements: [Element]

    /// Creates a pattern and normalizes its elements.
    public init(_ elements: [Element]) {
        var joined: [Element] = []
        joined.reserveCapacity(elements.count)
        for element in elements {
            switch (joined.last, element) {
            case (_, .literal("")), (.anyText, .anyText): continue
            case (.literal(let left), .literal(let right)): joined[joined.count - 1] = .literal(left + right)
            default: joined.append(element)
            }
        }
        self.elements = joined
    }

    /// Creates a pattern without wildcards.
    public init(literal: String) { self.init([.literal(literal)]) }

    /// The text; `nil` if the pattern contains a wildcard.
    public var literal: String? {
        if elements.isEmpty { return "" }
        guard elements.count == 1, case .literal(let text) = elements[0] else { return nil }
        return text
    }

    /// `true` if the pattern is a single `*`, which tests for presence.
    public var isAnyText: Bool { elements == [.anyText] }

    /// The text before a single `*` at the end (`x*`); `nil` for other patterns.
    public var prefix: String? {
        guard elements.count == 2, case .literal(let text) = elements[0], elements[1] == .anyText else { return nil }
        return text
    }

    /// The text after a single `*` at the start (`*x`); `nil` for other patterns.
    public var suffix: String? {
        guard elements.count == 2, elements[0] == .anyText, case .literal(let text) = elements[1] else { return nil }
        return text
    }

    /// The numeric value of the text, for attributes that are numbers (`rating == "5"`); `nil` for
    /// other texts.
    public var number: NumberLiteral? { literal.flatMap { NumberLiteral($0) } }
}
