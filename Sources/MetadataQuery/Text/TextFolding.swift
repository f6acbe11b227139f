// SPDX-License-Identifier: Apache-2.0

/// Makes texts comparable: canonically equivalent texts become equal, on request also those that differ only in case or
/// in diacritics. The evaluator of queries and the index must use the same folding, or they disagree.
///
/// The result is in Unicode normalisation form C, and folding it again changes nothing.
///
/// - **Case** is full case folding, obtained as lower(upper(lower(x))) from the standard library's mappings, with `ı` kept. It
///   differs from Unicode's table in form only: Cherokee letters fold to small instead of capital ones.
/// - **Diacritics** are nonspacing marks after canonical decomposition. Marks that are vowels or parts of letters stay: those
///   of combining class 0, the nukta, the Japanese voicing marks, the virama, and the Telugu, Thai, Lao and Tibetan vowel
///   signs. Letters with a stroke (`ø`, `ł`, `đ`) and ligatures (`æ`) have no decomposition and stay.
public enum TextFolding {
    /// The folded text.
    ///
    /// - Parameters:
    ///   - foldsCase: whether case is taken away.
    ///   - foldsDiacritics: whether diacritics are taken away.
    /// - Complexity: linear in the length, but for runs of combining marks, which are sorted.
    public static func folded(_ text: String, case foldsCase: Bool, diacritics foldsDiacritics: Bool) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return foldsCase ? lowercasedASCII(text) : text }
        let elements = CanonicalForm.composed(text.unicodeScalars.map { CanonicalForm.Element(scalar: $0) })
        var result = String.UnicodeScalarView()
        for element in folded(elements, case: foldsCase, diacritics: foldsDiacritics) { result.append(element.scalar) }
        return String(result)
    }

    /// Folds elements that are in form C; the mark of a scalar goes to the first one it becomes.
    static func folded(
        _ elements: [CanonicalForm.Element], case foldsCase: Bool, diacritics foldsDiacritics: Bool
    ) -> [CanonicalForm.Element] {
        guard foldsCase || foldsDiacritics else { return elements }
        var result: [CanonicalForm.Element] = []
        result.reserveCapacity(elements.count)
        let table = foldsCase ? (foldsDiacritics ? foldedFully : foldedInCase) : foldedInDiacritics
        for element in elements {
            if let scalar = folded(element.scalar, by: table) {
                result.append(CanonicalForm.Element(scalar: scalar, startsWord: element.startsWord))
                continue
            }
            var startsWord = element.startsWord
            fold(element.scalar, case: foldsCase, diacritics: foldsDiacritics) {
                result.append(CanonicalForm.Element(scalar: $0, startsWord: startsWord))
                startsWord = false
            }
        }
        return CanonicalForm.composed(result)
    }

    // MARK: Tables

    // Latin, Greek, Cyrillic, Hebrew: what each scalar becomes if that is one scalar, else 0. Made on first use.
    private static let foldedInCase = table(case: true, diacritics: false)
    private static let foldedInDiacritics = table(case: false, diacritics: true)
    private static let foldedFully = table(case: true, diacritics: true)

    private static func table(case foldsCase: Bool, diacritics foldsDiacritics: Bool) -> [UInt32] {
        (0..<UInt32(0x600)).map { value in
            guard let scalar = Unicode.Scalar(value) else { return 0 }
            var folded: [CanonicalForm.Element] = []
            fold(scalar, case: foldsCase, diacritics: foldsDiacritics) {
                folded.append(CanonicalForm.Element(scalar: $0))
            }
            let composed = CanonicalForm.composed(folded)
            return composed.count == 1 ? composed[0].scalar.value : 0
        }
    }

    /// The one scalar that the scalar becomes, if that is known at once. Ideographs and Hangul syllables stay.
    private static func folded(_ scalar: Unicode.Scalar, by table: [UInt32]) -> Unicode.Scalar? {
        switch scalar.value {
        case 1..<0x600:
            let value = table[Int(scalar.value)]
            return value == 0 ? nil : Unicode.Scalar(value)
        case 0x3400...0x9FFF, 0xAC00...0xD7A3: return scalar
        default: return nil
        }
    }

    private static func fold(
        _ scalar: Unicode.Scalar, case foldsCase: Bool, diacritics foldsDiacritics: Bool,
        _ body: (Unicode.Scalar) -> Void
    ) {
        func emit(_ scalar: Unicode.Scalar) {
            if !foldsDiacritics || !isDiacritic(scalar) { body(scalar) }
        }
        CanonicalForm.decompose(scalar) { part in
            guard foldsCase else { return emit(part) }
            for folded in caseFolded(part) { CanonicalForm.decompose(folded, emit) }
        }
    }

    private static func caseFolded(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
        let properties = scalar.properties
        // The dotless i is a letter of its own, though its capital is the common I.
        guard scalar != "ı", properties.changesWhenLowercased || properties.changesWhenUppercased else {
            return String.UnicodeScalarView([scalar])
        }
        var result = String.UnicodeScalarView()
        for lower in properties.lowercaseMapping.unicodeScalars {
            for upper in lower.properties.uppercaseMapping.unicodeScalars {
                result.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
            }
        }
        return result
    }

    static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= CanonicalForm.firstThatMayChange else { return false }
        switch CanonicalForm.combiningClass(of: scalar) {
        case 0, 7, 8, 9, 84, 91, 103, 118, 129, 130, 132: return false
        default: return scalar.properties.generalCategory == .nonspacingMark
        }
    }

    private static func lowercasedASCII(_ text: String) -> String {
        guard text.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return text }
        return String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
