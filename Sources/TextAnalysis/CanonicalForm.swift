// SPDX-License-Identifier: Apache-2.0

import CTextTables

/// A scalar of a text, marked if a word begins at it. The mark survives reordering.
public struct TextElement: Equatable, Sendable {
    /// The scalar.
    public var scalar: Unicode.Scalar
    /// `true` if a word or a separator begins at the scalar.
    public var startsWord = false

    /// Creates an element.
    public init(scalar: Unicode.Scalar, startsWord: Bool = false) {
        self.scalar = scalar
        self.startsWord = startsWord
    }

    var combiningClass: UInt8 { CanonicalForm.combiningClass(of: scalar) }
}

/// Canonical decomposition and composition (NFD, NFC).
package enum CanonicalForm {
    /// The first scalar that may change. All scalars below it are starters that do not compose with
    /// a preceding scalar, so texts of such scalars are in form C.
    static let firstThatMayChange: UInt32 = 0x300

    static func combiningClass(of scalar: Unicode.Scalar) -> UInt8 {
        scalar.value < firstThatMayChange ? 0 : UnicodeTable.record(of: scalar).combining_class
    }

    /// Calls `body` with the scalars of the full canonical decomposition, in order.
    package static func decompose(_ scalar: Unicode.Scalar, _ body: (Unicode.Scalar) -> Void) {
        if scalar.value < 0xC0 { return body(scalar) }
        if let syllable = HangulSyllable(scalar) { return syllable.decompose(body) }
        UnicodeTable.forEach(in: UnicodeTable.record(of: scalar).canonical, of: scalar, body)
    }

    /// Returns decomposed elements in form C.
    static func composed(_ decomposed: [TextElement]) -> [TextElement] {
        var elements = decomposed
        reorder(&elements)
        return compose(elements)
    }

    /// Sorts the marks after each starter by combining class; marks of equal class keep their
    /// order.
    private static func reorder(_ elements: inout [TextElement]) {
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

    private static func compose(_ elements: [TextElement]) -> [TextElement] {
        var result: [TextElement] = []
        result.reserveCapacity(elements.count)
        var starter: Int?
        // The class of the last element kept after the starter. A mark is blocked by a preceding
        // mark of the same or a higher class.
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

    private static func pair(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        HangulSyllable.composed(first, second) ?? UnicodeTable.composed(first, second)
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
