// SPDX-License-Identifier: Apache-2.0
import CTextTables

/// The words of a text, from left to right, as ranges of the text.
///
/// A word is a run of letters, digits and what belongs to them: marks, joiners, soft hyphens. Scalars of scripts that are
/// written without spaces (Han, Kana, Hangul, Thai, Lao, Myanmar, Khmer) and symbols such as emoji are words of one scalar
/// each (with its marks), so that any part of such a text can be found as a sequence of words. Everything else, also `_`, the
/// apostrophe and the hyphen, stands between words. The rules use Unicode properties alone, no dictionary and no language.
public struct Words: Sequence, Sendable {
    private let text: String
    private let splitsCaseChanges: Bool

    /// The words of a text.
    ///
    /// - Parameters:
    ///   - text: any text; the ranges are ranges of it.
    ///   - splitsCaseChanges: whether a capital after a small letter begins a new word (`tableView` is two then).
    public init(_ text: String, splittingCaseChanges splitsCaseChanges: Bool = false) {
        self.text = text
        self.splitsCaseChanges = splitsCaseChanges
    }

    /// Yields the words; linear in the length of the text, without storage.
    public func makeIterator() -> Iterator { Iterator(text: text, splitsCaseChanges: splitsCaseChanges) }

    /// Walks over the words of a text.
    public struct Iterator: IteratorProtocol, Sendable {
        private let text: String
        private var position: String.Index
        private let splitsCaseChanges: Bool

        init(text: String, splitsCaseChanges: Bool) {
            self.text = text
            position = text.startIndex
            self.splitsCaseChanges = splitsCaseChanges
        }

        /// The range of the next word; never empty.
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

/// What a scalar is for the division into words.
package enum CharacterKind: UInt8 {
    /// Between words.
    case separator
    /// Joins with its neighbours into a word.
    case letter
    /// A word of its own.
    case single
    /// Belongs to what stands before it.
    case mark

    package init(_ scalar: Unicode.Scalar) { self.init(UnicodeTable.record(of: scalar)) }

    init(_ record: ctext_scalar) { self = CharacterKind(rawValue: record.kind) ?? .separator }

    /// Whether a scalar divides words where its folded form would not, such as ™ and ½.
    package static func divides(_ scalar: Unicode.Scalar) -> Bool {
        UnicodeTable.record(of: scalar).flags & UInt8(CTEXT_DIVIDES) != 0
    }

    /// Whether a word or a separator begins with it, behind one of another kind.
    func begins(after previous: CharacterKind) -> Bool { self != .mark && !(self == .letter && previous == .letter) }
}

/// Decides, scalar by scalar, where words begin and end.
public struct WordBoundary: Sendable {
    private let splitsCaseChanges: Bool
    private var previous: CharacterKind = .separator
    private var endsInLowercase = false

    /// Creates a judge for a text, to be asked from its beginning.
    public init(splitsCaseChanges: Bool) { self.splitsCaseChanges = splitsCaseChanges }

    /// Whether a word or a separator begins with the scalar: true but inside a word. Call once for each scalar, in order.
    public mutating func isBoundary(before scalar: Unicode.Scalar) -> Bool {
        let kind = CharacterKind(scalar)
        if kind == .mark { return false }
        let changesCase = splitsCaseChanges && endsInLowercase && Self.isCapital(scalar)
        let begins = changesCase || kind.begins(after: previous)
        previous = kind
        endsInLowercase = splitsCaseChanges && kind == .letter && Self.isSmall(scalar)
        return begins
    }

    /// Whether a word begins with the scalar, when none is open.
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
