// SPDX-License-Identifier: Apache-2.0

/// The words of a text, from left to right, as ranges of the text.
///
/// A word is a run of letters, digits and the marks on them. Scalars of scripts that are written without spaces (Han,
/// Kana, Hangul, Thai, Lao, Myanmar, Khmer) and symbols such as emoji are words of one scalar each (with its marks), so that
/// any part of such a text can be found as a sequence of words. Everything else, also `_`, the apostrophe and the hyphen,
/// stands between words. The rules use Unicode properties alone, no dictionary and no language.
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
enum CharacterKind {
    /// Between words.
    case separator
    /// Joins with its neighbours into a word.
    case letter
    /// A word of its own.
    case single
    /// Belongs to what stands before it.
    case mark

    init(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: self = .letter
        case ..<0x80: self = .separator
        // Joiners and skin tones belong to the letter or the emoji before them.
        case 0x200C, 0x200D, 0x1F3FB...0x1F3FF: self = .mark
        // A Korean syllable in parts: a leading consonant and what belongs to it.
        case 0x1100...0x115F: self = .single
        case 0x1160...0x11FF: self = .mark
        default:
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark: self = .mark
            case .otherSymbol: self = .single
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
                .decimalNumber, .letterNumber, .otherNumber, .privateUse, .unassigned:
                self = Self.isWrittenWithoutSpaces(scalar) ? .single : .letter
            default: self = .separator
            }
        }
    }

    private static func isWrittenWithoutSpaces(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0x0E00: false
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF: true  // Thai and Lao, Myanmar, Khmer
        case 0x3005...0x3007, 0x3040...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9F, 0x1AFF0...0x1B16F: true  // Kana
        case 0xAC00...0xD7A3: true  // Hangul syllables
        default: scalar.properties.isIdeographic
        }
    }
}

/// Decides, scalar by scalar, where words begin and end.
struct WordBoundary {
    let splitsCaseChanges: Bool
    private var previous: CharacterKind = .separator
    private var endsInLowercase = false

    init(splitsCaseChanges: Bool) { self.splitsCaseChanges = splitsCaseChanges }

    /// Whether a word or a separator begins with the scalar: true but inside a word. Call once for each scalar, in order.
    mutating func isBoundary(before scalar: Unicode.Scalar) -> Bool {
        let kind = CharacterKind(scalar)
        if kind == .mark { return false }
        let changesCase = splitsCaseChanges && endsInLowercase && Self.isCapital(scalar)
        let joins = kind == .letter && previous == .letter && !changesCase
        previous = kind
        endsInLowercase = splitsCaseChanges && kind == .letter && Self.isSmall(scalar)
        return !joins
    }

    /// Whether a word begins with the scalar, when none is open.
    mutating func isWordStart(_ scalar: Unicode.Scalar) -> Bool {
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
