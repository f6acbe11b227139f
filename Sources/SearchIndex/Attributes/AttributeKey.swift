// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import TextAnalysis

/// The form in which texts stand in the attribute index: without case and diacritics, and of long texts only the start.
///
/// Whatever the modifiers of a comparison, two texts that are equal under it have equal keys, a text that begins with a
/// value has a key that begins with the value's ``Part`` (or with ``cutKey(_:)`` of it), and a text that contains a
/// value has a key that contains the part or was cut. A lookup by key therefore never misses an item that matches; it
/// may find others.
enum AttributeKey {
    /// The most scalars of a text that is kept whole.
    static let length = 64
    /// How many scalars are kept of a longer text: bodies are seldom asked for as wholes, and take room.
    static let cutLength = 16
    /// Stands at the end of the key of a longer text.
    static let cutMark = Unicode.Scalar(0x10FFFF as UInt32) ?? "\u{10FFFF}"
    /// The most scalars of a text that are looked at to make its key; a text with a whole key has no more than these.
    static let maximumExamined = 1024

    /// The key of a text; `nil` if no key can stand for it (``isUnpredictable(_:)``).
    ///
    /// - Complexity: constant: long texts are not read to their end.
    static func key(of text: String) -> String? {
        if let key = asciiKey(of: text) { return key }
        for examined in [length * 2, maximumExamined] {
            let scalars = text.unicodeScalars.prefix(examined)
            guard !scalars.contains(where: isUnpredictable) else { return nil }
            let isWhole = scalars.endIndex == text.unicodeScalars.endIndex
            var folded = folded(String(String.UnicodeScalarView(scalars)))
            if !isWhole {
                // What follows may compose with, or stand before, all from the last letter on.
                while let last = folded.popLast(), last.properties.canonicalCombiningClass != .notReordered {}
            }
            if folded.count > length { return cutKey(folded) }
            if isWhole { return string(folded) }
        }
        return nil
    }

    /// Most texts are of this kind, and marks that follow are taken away.
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

    /// The key of a folded text that is longer than ``length``.
    static func cutKey(_ folded: some Sequence<Unicode.Scalar>) -> String {
        string(folded.prefix(cutLength) + [cutMark])
    }

    static func isCut(_ key: String) -> Bool { key.unicodeScalars.last == cutMark }

    /// Scalars whose texts have no key. The iota subscript is a mark without case folding and a letter with it, so that no
    /// folding serves all modifiers; SQLite's texts end at a zero; the last ends keys that are cut.
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
    /// A literal of a pattern, in the form of keys, less what its neighbours in a text may change.
    struct Part: Hashable {
        /// What a key must contain.
        private(set) var scalars: [Unicode.Scalar]
        /// Whether nothing was left out.
        private(set) var isComplete = true

        /// `nil` if nothing is known about keys of texts that contain the literal.
        ///
        /// - Parameter isStart: whether the literal begins the text, so that nothing stands before it.
        init?(_ literal: String, isStart: Bool) {
            guard !literal.unicodeScalars.contains(where: AttributeKey.isUnpredictable) else { return nil }
            scalars = AttributeKey.folded(literal)
            let count = scalars.count
            if !isStart { scalars.removeFirst(scalars.prefix { !Self.standsAlone(before: $0) }.count) }
            while let last = scalars.last, !Self.standsAlone(after: last) { scalars.removeLast() }
            isComplete = scalars.count == count
        }

        /// What a key contains whose text contains the literal, unless the key was cut.
        var contained: String { AttributeKey.string(isOpen ? scalars.dropLast() : scalars[...]) }

        /// Whether the part ends in a Korean syllable that a final consonant may complete.
        var isOpen: Bool { scalars.last.map(Self.isOpenSyllable) ?? false }

        private static func isOpenSyllable(_ scalar: Unicode.Scalar) -> Bool {
            (0xAC00...0xD7A3).contains(scalar.value) && (scalar.value - 0xAC00) % 28 == 0
        }

        /// The least key that begins with the part, but for keys that were cut before its end (``cutKey``).
        var lowerBound: String { AttributeKey.string(scalars) }

        /// The key of long texts that begin with the part, if it does not lie within the bounds.
        var cutKey: String? { scalars.count > AttributeKey.cutLength ? AttributeKey.cutKey(scalars) : nil }

        /// The least text that is greater than all keys that begin with the part; `nil` if there is none.
        var upperBound: String? {
            var bound = scalars
            while let last = bound.popLast() {
                var next = last.value + 1
                // The syllables with a final consonant follow.
                if Self.isOpenSyllable(last) { next = last.value + 28 }
                if (0xD800...0xDFFF).contains(next) { next = 0xE000 }
                if let scalar = Unicode.Scalar(next) { return AttributeKey.string(bound + [scalar]) }
            }
            return nil
        }

        /// Whether the scalar is never the second half of a composition.
        private static func standsAlone(before scalar: Unicode.Scalar) -> Bool {
            if scalar.value < 0x300 { return true }
            if (0x1100...0x11FF).contains(scalar.value) { return false }
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark: return false
            default: return true
            }
        }

        /// Whether nothing that follows composes with the scalar once diacritics are gone. (Voicing marks of Kana stay,
        /// but they are never held off by a diacritic, so they are in the literal or were not in the text.)
        private static func standsAlone(after scalar: Unicode.Scalar) -> Bool {
            switch scalar.value {
            case ..<0x900, 0x1E00...0x9FFF, 0xAC00...0xD7A3, 0xFF00...0xFFEF, 0x1F000...0x3FFFF: true
            default: false
            }
        }
    }
}
