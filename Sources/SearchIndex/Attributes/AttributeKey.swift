// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import TextAnalysis

/// The form of texts in the attribute index: case and diacritics are folded, and long texts are
/// truncated.
///
/// The following holds for all modifiers of a comparison. Texts that are equal have equal keys. A
/// text that begins with a value has a key that begins with the value's ``Part`` (or with
/// ``cutKey(_:)`` of it). A text that contains a value has a key that contains the part or was
/// truncated. So a lookup by key never misses a match, but may find other items.
enum AttributeKey {
    /// The largest number of scalars of a text that is stored whole.
    static let length = 64
    /// The number of scalars that are kept of a longer text. Bodies are rarely compared as a whole,
    /// and take up space.
    static let cutLength = 16
    /// The last scalar of a truncated key.
    static let cutMark = Unicode.Scalar(0x10FFFF as UInt32) ?? "\u{10FFFF}"
    /// The number of scalars read to derive a key; a text with a whole key has no more.
    static let maximumExamined = 1024

    /// Returns the key of a text; `nil` if the text contains scalars that have no key
    /// (``isUnpredictable(_:)``).
    ///
    /// - Complexity: O(1), because long texts are not read to their end.
    static func key(of text: String) -> String? {
        if let key = asciiKey(of: text) { return key }
        for examined in [length * 2, maximumExamined] {
            let scalars = text.unicodeScalars.prefix(examined)
            guard !scalars.contains(where: isUnpredictable) else { return nil }
            let isWhole = scalars.endIndex == text.unicodeScalars.endIndex
            var folded = folded(String(String.UnicodeScalarView(scalars)))
            if !isWhole {
                // The unread part may compose with the scalars from the last letter on, or be
                // reordered before them.
                while let last = folded.popLast(), last.properties.canonicalCombiningClass != .notReordered {}
            }
            if folded.count > length { return cutKey(folded) }
            if isWhole { return string(folded) }
        }
        return nil
    }

    /// Returns the key of an ASCII text, the most common kind. Folding removes a combining mark
    /// that follows the part that was read.
    private static func asciiKey(of text: String) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length + 1)
        for byte in text.utf8 {
            guard byte < 0x80, byte > 0 else { return nil }
            bytes.append((0x41...0x5A).contains(byte) ? byte + 32 : byte)
            if bytes.count > length { return cutKey(bytes.map { Unicode.Scalar($0) }) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the truncated key of a folded text that is longer than ``length``.
    static func cutKey(_ folded: some Sequence<Unicode.Scalar>) -> String {
        string(folded.prefix(cutLength) + [cutMark])
    }

    static func isCut(_ key: String) -> Bool { key.unicodeScalars.last == cutMark }

    /// Returns `true` for scalars that a text with a key must not contain. The iota subscript is a
    /// mark without case folding and a letter with it, so no folding works for all modifiers.
    /// SQLite texts end at a NUL. U+10FFFF marks truncated keys.
    static func isUnpredictable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0, 0x345, 0x1F80...0x1FFF, 0x10FFFF: true
        default: false
        }
    }

    static func folded(_ text: String) -> [Unicode.Scalar] {
        Array(TextFolding.folded(text, case: true, diacritics: true).unicodeScalars)
    }

    static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }
}

extension AttributeKey {
    /// A literal of a pattern in key form, without the scalars that adjacent text may change.
    struct Part: Hashable {
        /// The scalars that a key must contain.
        private(set) var scalars: [Unicode.Scalar]
        /// `true` if no scalar was omitted.
        private(set) var isComplete = true

        /// Creates a part; `nil` if nothing is known about the keys of texts that contain the
        /// literal.
        ///
        /// - Parameter isStart: `true` if the literal is at the start of the text, so that nothing
        ///   precedes it.
        init?(_ literal: String, isStart: Bool) {
            guard !literal.unicodeScalars.contains(where: AttributeKey.isUnpredictable) else { return nil }
            scalars = AttributeKey.folded(literal)
            let count = scalars.count
            if !isStart { scalars.removeFirst(scalars.prefix { !Self.standsAlone(before: $0) }.count) }
            while let last = scalars.last, !Self.standsAlone(after: last) { scalars.removeLast() }
            isComplete = scalars.count == count
        }

        /// The string contained in the key of every text that contains the literal, unless the key
        /// was truncated.
        var contained: String { AttributeKey.string(isOpen ? scalars.dropLast() : scalars[...]) }

        /// `true` if the part ends in a Korean syllable that a final consonant may complete.
        var isOpen: Bool { scalars.last.map(Self.isOpenSyllable) ?? false }

        private static func isOpenSyllable(_ scalar: Unicode.Scalar) -> Bool {
            (0xAC00...0xD7A3).contains(scalar.value) && (scalar.value - 0xAC00) % 28 == 0
        }

        /// The lower bound of the keys that begin with the part, except truncated keys
        /// (``cutKey``).
        var lowerBound: String { AttributeKey.string(scalars) }

        /// The key of long texts that begin with the part; `nil` if the bounds include it.
        var cutKey: String? { scalars.count > AttributeKey.cutLength ? AttributeKey.cutKey(scalars) : nil }

        /// The smallest string greater than all keys that begin with the part; `nil` if there is
        /// none.
        var upperBound: String? {
            var bound = scalars
            while let last = bound.popLast() {
                var next = last.value + 1
                // Skips the syllables with a final consonant.
                if Self.isOpenSyllable(last) { next = last.value + 28 }
                if (0xD800...0xDFFF).contains(next) { next = 0xE000 }
                if let scalar = Unicode.Scalar(next) { return AttributeKey.string(bound + [scalar]) }
            }
            return nil
        }

        /// Returns `true` if the scalar is never the second half of a composition.
        private static func standsAlone(before scalar: Unicode.Scalar) -> Bool {
            if scalar.value < 0x300 { return true }
            if (0x1100...0x11FF).contains(scalar.value) { return false }
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark: return false
            default: return true
            }
        }

        /// Returns `true` if no following scalar composes with the scalar once diacritics are
        /// removed. Kana voicing marks stay, but a diacritic never separates them from their
        /// letter, so they are either in the literal or absent from the text.
        private static func standsAlone(after scalar: Unicode.Scalar) -> Bool {
            switch scalar.value {
            case ..<0x900, 0x1E00...0x9FFF, 0xAC00...0xD7A3, 0xFF00...0xFFEF, 0x1F000...0x3FFFF: true
            default: false
            }
        }
    }
}
