// SPDX-License-Identifier: Apache-2.0
import CTables

/// Canonical decomposition and composition (NFD, NFC), which the standard library does not offer publicly.
///
/// The table is of Unicode 14; pairs added later stay as they are. Combining classes are the standard library's.
enum CanonicalForm {
    /// A scalar and whether a word may begin before it; the mark survives all rearranging.
    struct Element: Equatable {
        var scalar: Unicode.Scalar
        var startsWord = false

        var combiningClass: UInt8 { CanonicalForm.combiningClass(of: scalar) }
    }

    /// Every scalar below is a starter that nothing before it composes with, so texts of such scalars are in form C.
    static let firstThatMayChange: UInt32 = 0x300

    /// Whether composing a text may change it because it holds the scalar; most texts are answered by this alone.
    private static func mayChange(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<firstThatMayChange, 0x3400...0x9FFF, 0xAC00...0xD7A3: false
        case ...0xFFFF: changing[Int(scalar.value >> 6)] >> UInt64(scalar.value & 63) & 1 == 1
        case 0x1F000...0x1FAFF, 0x20000...0x2F7FF: false
        default: true
        }
    }

    /// One bit for each scalar of the first plane: marks, second halves of pairs, and what does not compose again.
    private static let changing: [UInt64] = {
        var bits = [UInt64](repeating: 0, count: 1_024)
        func set(_ value: UInt32) {
            if value <= 0xFFFF { bits[Int(value >> 6)] |= 1 << UInt64(value & 63) }
        }
        for entry in decompositionTable {
            if entry >> 63 == 0 { set(UInt32(entry >> 42 & 0x1F_FFFF)) }
            set(UInt32(entry & 0x1F_FFFF))
        }
        for value in firstThatMayChange...0xFFFF where !(0x3400...0x9FFF).contains(value) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            if (0x1160...0x11FF).contains(value) || combiningClass(of: scalar) != 0 { set(value) }
        }
        return bits
    }()

    static func combiningClass(of scalar: Unicode.Scalar) -> UInt8 {
        scalar.value < firstThatMayChange ? 0 : scalar.properties.canonicalCombiningClass.rawValue
    }

    /// The text in form C.
    static func composed(_ elements: [Element]) -> [Element] {
        guard elements.contains(where: { mayChange($0.scalar) }) else { return elements }
        var decomposed: [Element] = []
        decomposed.reserveCapacity(elements.count)
        for element in elements {
            var startsWord = element.startsWord
            decompose(element.scalar) {
                decomposed.append(Element(scalar: $0, startsWord: startsWord))
                startsWord = false
            }
        }
        reorder(&decomposed)
        return compose(decomposed)
    }

    /// Calls back with the scalars of the full canonical decomposition, in order.
    static func decompose(_ scalar: Unicode.Scalar, _ body: (Unicode.Scalar) -> Void) {
        if scalar.value < 0xC0 { return body(scalar) }
        if let syllable = HangulSyllable(scalar) { return syllable.decompose(body) }
        guard let (first, second) = step(scalar) else { return body(scalar) }
        // The table's steps are at most four deep.
        decompose(first, body)
        if let second { decompose(second, body) }
    }

    /// Marks are sorted by class behind each starter; equal classes keep their order.
    private static func reorder(_ elements: inout [Element]) {
        var start = 0
        while start < elements.count {
            guard elements[start].combiningClass != 0 else {
                start += 1
                continue
            }
            var end = start + 1
            while end < elements.count, elements[end].combiningClass != 0 { end += 1 }
            if end - start > 1 {
                let run = elements[start..<end].enumerated().map { ($0.element.combiningClass, $0.offset, $0.element) }
                let sorted = run.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
                elements.replaceSubrange(start..<end, with: sorted.map(\.2))
            }
            start = end
        }
    }

    private static func compose(_ elements: [Element]) -> [Element] {
        var result: [Element] = []
        result.reserveCapacity(elements.count)
        var starter: Int?
        // The class of the last element kept behind the starter; a mark is blocked by one of its class or higher.
        var lastClass: UInt8 = 0
        for element in elements {
            let elementClass = element.combiningClass
            if let index = starter {
                let isAdjacent = index == result.count - 1
                if isAdjacent || (lastClass != 0 && lastClass < elementClass),
                    let merged = pair(result[index].scalar, element.scalar)
                {
                    result[index].scalar = merged
                    continue
                }
            }
            if elementClass == 0 { starter = result.count }
            lastClass = elementClass
            result.append(element)
        }
        return result
    }

    // MARK: Table

    /// The decompositions of one step, ascending by the composed scalar (Hangul syllables are computed).
    ///
    /// Each entry packs, from the high bit: 1 bit whether the pair composes again, 21 bits the composed scalar,
    /// 21 bits the first and 21 bits the second scalar of the decomposition (0: there is only one).
    private static let decompositionTable: [UInt64] = {
        let text = ctables_decompositions()
        var entries: [UInt64] = []
        entries.reserveCapacity(text.count / 15)
        var (entry, number, shift) = (UInt64(1) << 63, UInt64(0), 42)
        for byte in UnsafeBufferPointer(start: text.start, count: text.count) {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte & 15)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): number = number << 4 | UInt64(byte - 55)
            case UInt8(ascii: "!"): entry &= ~(1 << 63)
            default:
                entry |= number << shift
                (number, shift) = (0, shift - 21)
                if byte == UInt8(ascii: "\n") {
                    entries.append(entry)
                    (entry, shift) = (1 << 63, 42)
                }
            }
        }
        return entries
    }()

    private static let compositions: [UInt64: Unicode.Scalar] = {
        var pairs: [UInt64: Unicode.Scalar] = [:]
        for entry in decompositionTable where entry >> 63 == 1 {
            pairs[entry & 0x3FF_FFFF_FFFF] = Unicode.Scalar(UInt32(entry >> 42 & 0x1F_FFFF))
        }
        return pairs
    }()

    private static func pair(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        HangulSyllable.composed(first, second) ?? compositions[UInt64(first.value) << 21 | UInt64(second.value)]
    }

    private static func step(_ scalar: Unicode.Scalar) -> (Unicode.Scalar, Unicode.Scalar?)? {
        var low = 0
        var high = decompositionTable.count
        while low < high {
            let middle = (low + high) / 2
            let entry = decompositionTable[middle]
            let composed = UInt32(entry >> 42 & 0x1F_FFFF)
            if composed == scalar.value {
                guard let first = Unicode.Scalar(UInt32(entry >> 21 & 0x1F_FFFF)) else { return nil }
                let second = UInt32(entry & 0x1F_FFFF)
                return (first, second == 0 ? nil : Unicode.Scalar(second))
            }
            if composed < scalar.value { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}

/// The arithmetic of Korean syllables (The Unicode Standard, section 3.12).
private struct HangulSyllable {
    private static let syllables: UInt32 = 0xAC00
    private static let leading: UInt32 = 0x1100
    private static let vowels: UInt32 = 0x1161
    private static let trailing: UInt32 = 0x11A7

    private let index: UInt32

    init?(_ scalar: Unicode.Scalar) {
        guard (0xAC00...0xD7A3).contains(scalar.value) else { return nil }
        index = scalar.value - Self.syllables
    }

    func decompose(_ body: (Unicode.Scalar) -> Void) {
        let parts = [Self.leading + index / 588, Self.vowels + index % 588 / 28, Self.trailing + index % 28]
        for part in parts where part != Self.trailing {
            if let scalar = Unicode.Scalar(part) { body(scalar) }
        }
    }

    static func composed(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        if (leading..<(leading + 19)).contains(first.value), (vowels..<(vowels + 21)).contains(second.value) {
            return Unicode.Scalar(syllables + ((first.value - leading) * 21 + second.value - vowels) * 28)
        }
        if let syllable = HangulSyllable(first), syllable.index % 28 == 0,
            ((trailing + 1)..<(trailing + 28)).contains(second.value)
        {
            return Unicode.Scalar(first.value + second.value - trailing)
        }
        return nil
    }
}
