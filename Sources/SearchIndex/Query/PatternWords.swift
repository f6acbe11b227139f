// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import TextAnalysis

/// The words of ASCII letters and digits that every matching text must contain, as far as the
/// pattern determines the word boundaries.
///
/// Only runs of ASCII letters and digits in the folded literals are considered. With any modifiers,
/// such a run lies within one word of a text that contains the literal, and an adjacent ASCII
/// separator ends that word.
struct PatternWords {
    /// A sequence of adjacent words.
    struct Phrase: Hashable {
        var words: [String]
        /// `true` if the last word may be a prefix.
        var isPrefix: Bool
        /// `true` if the first word may also begin within a word, where a capital follows a
        /// lowercase letter.
        var mayBeginWithinWord: Bool
    }

    /// The phrases. A matching text contains all of them.
    private(set) var phrases: [Phrase] = []
    /// The longest run of letters whose word boundary is unknown.
    private(set) var fragment: String?

    init(_ pattern: TextPattern, _ options: MatchOptions) {
        let isAnywhere = !options.isDisjoint(with: [.wordBased, .tokenized])
        for (place, element) in pattern.elements.enumerated() {
            guard case .literal(let literal) = element,
                !literal.unicodeScalars.contains(where: {
                    AttributeKey.isUnpredictable($0) || CharacterKind.divides($0)
                })
            else { continue }
            add(
                AttributeKey.folded(literal), startsAtBoundary: place == 0 && isAnywhere,
                endsAtBoundary: place == pattern.elements.count - 1 && isAnywhere, options)
        }
    }

    private mutating func add(
        _ scalars: [Unicode.Scalar], startsAtBoundary: Bool, endsAtBoundary: Bool, _ options: MatchOptions
    ) {
        let isDivided = options.contains(.tokenized)
        let dividesWords = options.contains(.wordBased)
        var open: Phrase?
        var place = 0
        while place < scalars.count {
            let start = place
            while place < scalars.count, Self.isLetter(scalars[place]) { place += 1 }
            guard place > start else {
                // A character outside ASCII may be a word, so the next word is not adjacent to the
                // previous one.
                if scalars[place].value >= 0x80 { close(&open) }
                place += 1
                continue
            }
            let word = AttributeKey.string(scalars[start..<place])
            let followsSign = start > 0 && scalars[start - 1].value < 0x80
            let precedesSign = place < scalars.count && scalars[place].value < 0x80
            guard followsSign || (start == 0 && startsAtBoundary) else {
                if word.utf8.count > fragment?.utf8.count ?? 0 { fragment = word }
                continue
            }
            // With the modifier `t`, the words may occur anywhere, each as a whole word.
            let isWhole =
                isDivided
                ? !dividesWords && (precedesSign || (place == scalars.count && endsAtBoundary)) : precedesSign
            let mayBeginWithinWord = dividesWords && (isDivided || start == 0)
            if isDivided { close(&open) }
            if open == nil {
                open = Phrase(words: [], isPrefix: false, mayBeginWithinWord: mayBeginWithinWord)
            }
            open?.words.append(word)
            open?.isPrefix = !isWhole
            if !isWhole { close(&open) }
        }
        close(&open)
    }

    private mutating func close(_ open: inout Phrase?) {
        if let phrase = open { phrases.append(phrase) }
        open = nil
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && FoldedByte.isLetter(UInt8(scalar.value))
    }
}
