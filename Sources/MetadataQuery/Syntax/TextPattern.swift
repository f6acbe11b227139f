// SPDX-License-Identifier: Apache-2.0

/// A text with wildcards, escapes already taken away.
///
/// Always in one form: no empty literal, no two literals side by side, no two `*` side by side. Equal patterns therefore
/// have equal elements.
public struct TextPattern: Hashable, Sendable {
    /// A part of a pattern.
    public enum Element: Hashable, Sendable {
        /// Exactly this text.
        case literal(String)
        /// `*`: any number of characters, also none.
        case anyText
        /// `?`: exactly one character: one Unicode scalar of the folded text in composed form.
        case anyCharacter
    }

    /// The parts from left to right; none for the empty text.
    public let elements: [Element]

    /// Creates a pattern; neighbours that belong together are joined.
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

    /// A pattern without wildcards.
    public init(literal: String) { self.init([.literal(literal)]) }

    /// The text, if the pattern has no wildcard.
    public var literal: String? {
        if elements.isEmpty { return "" }
        guard elements.count == 1, case .literal(let text) = elements[0] else { return nil }
        return text
    }

    /// Whether the pattern is `*` alone, which asks for presence.
    public var isAnyText: Bool { elements == [.anyText] }

    /// The text before a single `*` at the end (`x*`), if the pattern is of that kind.
    public var prefix: String? {
        guard elements.count == 2, case .literal(let text) = elements[0], elements[1] == .anyText else { return nil }
        return text
    }

    /// The text after a single `*` at the start (`*x`), if the pattern is of that kind.
    public var suffix: String? {
        guard elements.count == 2, elements[0] == .anyText, case .literal(let text) = elements[1] else { return nil }
        return text
    }

    /// The number the text spells, for attributes that are numbers (`rating == "5"`).
    public var number: NumberLiteral? { literal.flatMap { NumberLiteral($0) } }
}
