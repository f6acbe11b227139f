// SPDX-License-Identifier: Apache-2.0

/// A string of lowercase ASCII letters and digits that a folded text must contain. It is searched
/// for in the bytes of the text, without folding.
struct ByteNeedle: Sendable {
    /// The bytes to find, never empty.
    private let bytes: [UInt8]
    /// The index of the byte that is searched for first: the letter that is rarest in most
    /// languages.
    private let anchor: Int
    /// For each letter, a bit mask of its positions in the needle.
    private let masks: [UInt64]

    private static let maximumCount = 64

    /// Creates a needle from the beginning of a text; `nil` if the text is empty or contains
    /// anything other than lowercase letters and digits.
    init?(_ text: String) {
        bytes = Array(text.utf8.prefix(Self.maximumCount))
        guard !bytes.isEmpty, bytes.allSatisfy({ FoldedByte.isLetter($0) }) else { return nil }
        let ranks = bytes.map { Self.commonest.firstIndex(of: $0) ?? Self.commonest.count }
        anchor = ranks.indices.max { ranks[$0] < ranks[$1] } ?? 0
        var masks = [UInt64](repeating: 0, count: 128)
        for (place, byte) in bytes.enumerated() { masks[Int(byte)] |= 1 << UInt64(place) }
        self.masks = masks
    }

    var count: Int { bytes.count }

    private static let commonest = Array("etaoinsrhldcumfpgwybvkxjqz".utf8)

    private typealias Block = SIMD16<UInt8>

    /// Returns `false` only if the text does not contain the needle, regardless of what folding
    /// removes.
    func mayOccur(in text: UnsafeRawBufferPointer) -> Bool {
        let wanted = Block(repeating: bytes[anchor])
        let small = Block(repeating: 0x20)
        let plain = Block(repeating: 0x80)
        var position = 0
        while position + Block.scalarCount <= text.count {
            let block = text.loadUnaligned(fromByteOffset: position, as: Block.self)
            if any(block .>= plain) { return mayOccurInFolded(text) }
            // Uppercase and lowercase letters differ in one bit. That bit is always set in digits.
            if any((block | small) .== wanted) {
                for index in position..<(position + Block.scalarCount) where occurs(in: text, anchorAt: index) {
                    return true
                }
            }
            position += Block.scalarCount
        }
        while position < text.count {
            if text[position] >= 0x80 { return mayOccurInFolded(text) }
            if occurs(in: text, anchorAt: position) { return true }
            position += 1
        }
        return false
    }

    private func occurs(in text: UnsafeRawBufferPointer, anchorAt position: Int) -> Bool {
        let start = position - anchor
        guard text[position] | 0x20 == bytes[anchor], start >= 0, start + bytes.count <= text.count else {
            return false
        }
        for index in bytes.indices where text[start + index] | 0x20 != bytes[index] { return false }
        return true
    }

    /// Checks a text that is not pure ASCII, with one state bit for each matched byte of the
    /// needle.
    private func mayOccurInFolded(_ text: UnsafeRawBufferPointer) -> Bool {
        let last: UInt64 = 1 << UInt64(bytes.count - 1)
        var position = 0
        var state: UInt64 = 0
        while position < text.count {
            let (folded, length) = FoldedByte.next(in: text, at: position)
            position += length
            switch folded {
            case .unknown: return true
            case .other: state = 0
            case .letter(let letter):
                state = (state << 1 | 1) & masks[Int(letter)]
                if state & last != 0 { return true }
            }
        }
        return false
    }
}

/// The result of folding a scalar, as far as the scalar's first bytes determine it.
enum FoldedByte: Equatable {
    /// The scalar folds to this lowercase letter or digit, or to nothing. It never folds to another
    /// ASCII letter or digit.
    case letter(UInt8)
    /// A character that is not an ASCII letter or digit in any context.
    case other
    /// A character that folding may remove or expand to several letters.
    case unknown

    static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) }

    /// Returns the folding of the scalar at a position, and its length. The result is `unknown` for
    /// invalid UTF-8.
    static func next(in text: UnsafeRawBufferPointer, at position: Int) -> (FoldedByte, Int) {
        let lead = text[position]
        if lead < 0x80 {
            let small = (0x41...0x5A).contains(lead) ? lead | 0x20 : lead
            return (isLetter(small) ? .letter(small) : .other, 1)
        }
        guard position + 1 < text.count else { return (.unknown, 1) }
        let second = text[position + 1]
        switch (lead, second) {
        // The soft hyphen vanishes; superscripts and fractions contain digits. 0xD0 and 0xD1 are
        // Cyrillic.
        case (0xC2, 0xAA...0xBE): return (.unknown, 2)
        case (0xC2, _), (0xD0...0xD1, _): return (.other, 2)
        case (0xC3...0xC8, _): return (latin[Int(lead & 0x1F) << 6 | Int(second & 0x3F)], 2)
        // Dashes and quotation marks, but not invisible characters. Then Kana, ideographs and
        // Hangul.
        case (0xE2, 0x80):
            guard position + 2 < text.count, (0x90...0xA7).contains(text[position + 2]) else { return (.unknown, 1) }
            return (.other, 3)
        case (0xE3, 0x81...0x83), (0xE4...0xE9, _), (0xEB...0xEC, _): return (.other, 3)
        default: return (.unknown, 1)
        }
    }

    /// The foldings of Latin letters up to U+023F.
    private static let latin: [FoldedByte] = (0..<UInt32(0x240)).map { value in
        guard let scalar = Unicode.Scalar(value) else { return .unknown }
        let folded = Array(AttributeKey.folded(String(scalar)))
        guard folded.count == 1 else { return .unknown }
        guard folded[0].isASCII else { return .other }
        let byte = UInt8(folded[0].value)
        return isLetter(byte) ? .letter(byte) : .unknown
    }
}
