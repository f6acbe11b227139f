// SPDX-License-Identifier: Apache-2.0
import CTextTables

/// The words of a text, from left to right, as ranges of the text.
///
/// A word is a run of letters, digits, and attached characters: marks, joiners, soft hyphens. Some
/// scalars, together with their marks, are words by themselves: scalars of scripts without spaces
/// (Han, Kana, Hangul, Thai, Lao, Myanmar, Khmer) and symbols such as emoji. Any part of such a
/// text can therefore be found as a sequence of words. All other characters, including `_`, the
/// apostrophe and the hyphen, separate words. The rules use only Unicode properties, no dictionary
/// or language.
public struct Words: Sequence, Sendable {
    private let text: String
    private let splitsCaseChanges: Bool

    /// Creates the sequence of a text's words.
    ///
    /// - Parameters:
    ///   - text: Any text; the ranges are ranges of it.
    ///   - splitsCaseChanges: `true` if a capital after a lowercase letter begins a new word, as in
    ///     `tableView`.
    public init(_ text: String, splittingCaseChanges splitsCaseChanges: Bool = false) {
        self.text = text
        self.splitsCaseChanges = splitsCaseChanges
    }

    /// Returns an iterator over the words; linear in the length of the text, without allocations.
    public func makeIterator() -> Iterator { Iterator(text: text, splitsCaseChanges: splitsCaseChanges) }

    /// Iterates over the words of a text.
    public struct Iterator: IteratorProtocol, Sendable {
        private let text: String
        private var position: String.Index
        private let splitsCaseChanges: Bool

        init(text: String, splitsCaseChanges: Bool) {
            self.text = text
            position = text.startIndex
            self.splitsCaseChanges = splitsCaseChanges
        }

        /// Returns the range of the next word; never empty.
        public mutating func next() -> Range<String.Index>? {
            let scalars = text.unicodeScalars
            var boundary = WordBoundary(splitsCaseChanges: splitsCaseChanges)
            while position < scalars.endIndex, !boundary.isWordStart(scalars[position]) {
                scalars.formIndex(after: &position)
            }
            guard position < scalars.endIndex else { return nil }
            let start = position
            var end = position
            repeat {
                scalars.formIndex(after: &end)
            } while end < scalars.endIndex && !boundary.isBoundary(before: scalars[end])
            position = end
            return start..<end
        }
    }
}

/// The role of a scalar in splitting a text into words.
package enum CharacterKind: UInt8 {
    /// A separator between words.
    case separator
    /// A letter that forms a word together with its neighbours.
    case letter
    /// A word by itself.
    case single
    /// A mark that belongs to the preceding scalar.
    case mark

    package init(_ scalar: Unicode.Scalar) { self.init(UnicodeTable.record(of: scalar)) }

    init(_ record: ctext_scalar) { self = CharacterKind(rawValue: record.kind) ?? .separator }

    /// Returns `true` if a scalar splits words even though its folded form does not, such as ™ and
    /// ½.
    package static func divides(_ scalar: Unicode.Scalar) -> Bool {
        UnicodeTable.record(of: scalar).flags & UInt8(CTEXT_DIVIDES) != 0
    }

    /// Returns `true` if a word or a separator begins with a scalar of this kind that follows a
    /// scalar of a different kind.
    func begins(after previous: CharacterKind) -> Bool { self != .mark && !(self == .letter && previous == .letter) }
}

/// Detects word boundaries, scalar by scalar.
public struct WordBoundary: Sendable {
    private let splitsCaseChanges: Bool
    private var previous: CharacterKind = .separator
    private var endsInLowercase = false

    /// Creates a detector for a text, to be used from the beginning of the text.
    public init(splitsCaseChanges: Bool) { self.splitsCaseChanges = splitsCaseChanges }

    /// Returns `true` if a word or a separator begins with the scalar, and `false` inside a word.
    /// Call once for each scalar, in order.
    public mutating func isBoundary(before scalar: Unicode.Scalar) -> Bool {
        let kind = CharacterKind(scalar)
        if kind == .mark { return false }
        let changesCase = splitsCaseChanges && endsInLowercase && Self.isCapital(scalar)
        let begins = changesCase || kind.begins(after: previous)
        previous = kind
        endsInLowercase = splitsCaseChanges && kind == .letter && Self.isSmall(scalar)
        return begins
    }

    /// Returns `true` if a word begins with the scalar, provided that it does not continue a word.
    public mutating func isWordStart(_ scalar: Unicode.Scalar) -> Bool {
        let isBoundary = isBoundary(before: scalar)
        return isBoundary && previous != .separator
    }

    private static func isCapital(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return ("A"..."Z").contains(scalar) }
        return scalar.properties.isUppercase || scalar.properties.generalCategory == .titlecaseLetter
    }

    private static func isSmall(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII ? ("a"..."z").contains(scalar) : scalar.properties.isLowercase
    }
}
