// SPDX-License-Identifier: Apache-2.0

/// Small ASCII letters and digits that a text must contain once it is folded; looked for in its bytes, without folding it.
struct ByteNeedle: Sendable {
    /// What is looked for, never empty.
    private let bytes: [UInt8]
    /// Which of the bytes is looked for first: the one that is rarest in most languages.
    private let anchor: Int
    /// For each letter the places at which it stands in the needle.
    private let masks: [UInt64]

    private static let maximumCount = 64

    /// Of a longer text the beginning is looked for. `nil` if there is nothing to look for, or something else than small
    /// letters and digits.
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

    /// Whether a text may contain the needle, whatever is folded away: `false` only if it does not.
    func mayOccur(in text: UnsafeRawBufferPointer) -> Bool {
        let wanted = Block(repeating: bytes[anchor])
        let small = Block(repeating: 0x20)
        let plain = Block(repeating: 0x80)
        var position = 0
        while position + Block.scalarCount <= text.count {
            let block = text.loadUnaligned(fromByteOffset: position, as: Block.self)
            if any(block .>= plain) { return mayOccurInFolded(text) }
            // Small and capital letters differ in one bit, which digits have anyway.
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

    /// The same for texts that are not plain: one bit for each byte of the needle that has been met.
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

/// What a scalar becomes by folding, as far as its first bytes tell.
enum FoldedByte: Equatable {
    /// At most this small letter or this digit, and nothing else that is plain.
    case letter(UInt8)
    /// Something that is no plain letter or digit, whatever stands around it.
    case other
    /// It may vanish, or become several letters.
    case unknown

    static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) }

    /// What the scalar at a position becomes, and its length. Of bytes that are no UTF-8 nothing is known.
    static func next(in text: UnsafeRawBufferPointer, at position: Int) -> (FoldedByte, Int) {
        let lead = text[position]
        if lead < 0x80 {
            let small = (0x41...0x5A).contains(lead) ? lead | 0x20 : lead
            return (isLetter(small) ? .letter(small) : .other, 1)
        }
        guard position + 1 < text.count else { return (.unknown, 1) }
        let second = text[position + 1]
        switch (lead, second) {
        // The soft hyphen vanishes; superscripts and fractions are digits. Cyrillic.
        case (0xC2, 0xAA...0xBE): return (.unknown, 2)
        case (0xC2, _), (0xD0...0xD1, _): return (.other, 2)
        case (0xC3...0xC8, _): return (latin[Int(lead & 0x1F) << 6 | Int(second & 0x3F)], 2)
        // Dashes and quotation marks, but not what shows nothing; Kana; ideographs; Hangul.
        case (0xE2, 0x80):
            guard position + 2 < text.count, (0x90...0xA7).contains(text[position + 2]) else { return (.unknown, 1) }
            return (.other, 3)
        case (0xE3, 0x81...0x83), (0xE4...0xE9, _), (0xEB...0xEC, _): return (.other, 3)
        default: return (.unknown, 1)
        }
    }

    /// The Latin letters up to U+023F.
    private static let latin: [FoldedByte] = (0..<UInt32(0x240)).map { value in
        guard let scalar = Unicode.Scalar(value) else { return .unknown }
        let folded = Array(AttributeKey.folded(String(scalar)))
        guard folded.count == 1 else { return .unknown }
        guard folded[0].isASCII else { return .other }
        let byte = UInt8(folded[0].value)
        return isLetter(byte) ? .letter(byte) : .unknown
    }
}
