// SPDX-License-Identifier: Apache-2.0
import CTextTables

/// Folds texts for comparison. Canonically equivalent texts become equal. Optionally, texts that
/// differ only in case and form, or in diacritics, become equal too. Queries, the index,
/// highlighting and suggestions all use this folding (docs/TEXT.md).
///
/// The result is in Unicode normalization form C, and folding it again changes nothing.
///
/// - **Case** is Unicode's NFKC_Casefold: full case folding. Wide, narrow, superscript and other
///   forms become plain letters. Invisible characters (soft hyphens, joiners, variation selectors)
///   are removed.
/// - **Diacritics** are nonspacing marks after canonical decomposition. Marks that are vowels or
///   parts of letters are kept: marks of combining class 0, the nukta, the Japanese voicing marks,
///   the virama, and the Telugu, Thai, Lao and Tibetan vowel signs. Letters become the letters that
///   users type for them (`ø` o, `ł` l, `æ` ae, `ı` i). Digits of all scripts become ASCII digits,
///   and the Arabic tatweel is removed.
public enum TextFolding {
    /// Returns the folded text.
    ///
    /// - Parameters:
    ///   - foldsCase: `true` to fold case and form.
    ///   - foldsDiacritics: `true` to remove diacritics.
    /// - Complexity: Linear in the length, except for runs of combining marks, which are sorted.
    public static func folded(_ text: String, case foldsCase: Bool, diacritics foldsDiacritics: Bool) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return foldsCase ? lowercasedASCII(text) : text }
        if !foldsCase, !foldsDiacritics, !text.unicodeScalars.contains(where: { UnicodeTable.record(of: $0).mayChange })
        {
            return text
        }
        let elements = folded(
            text.unicodeScalars.lazy.map { TextElement(scalar: $0) }, case: foldsCase, diacritics: foldsDiacritics)
        var result = String.UnicodeScalarView()
        for element in elements { result.append(element.scalar) }
        return String(result)
    }

    /// Folds elements. If a scalar expands to several scalars, the first one keeps its word mark.
    public static func folded(
        _ elements: some Sequence<TextElement>, case foldsCase: Bool, diacritics foldsDiacritics: Bool
    ) -> [TextElement] {
        // The iota subscript is a mark that becomes a letter, so marks must be in canonical order
        // first.
        if foldsCase, elements.contains(where: { hasIotaSubscript($0.scalar) }) {
            return inOrder(
                inOrder(elements, case: false, diacritics: false), case: true, diacritics: foldsDiacritics)
        }
        return inOrder(elements, case: foldsCase, diacritics: foldsDiacritics)
    }

    private static func hasIotaSubscript(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value == 0x345 || (0x1F80...0x1FFC).contains(scalar.value)
    }

    /// Folds elements whose marks are in canonical order.
    private static func inOrder(
        _ elements: some Sequence<TextElement>, case foldsCase: Bool, diacritics foldsDiacritics: Bool
    ) -> [TextElement] {
        var result: [TextElement] = []
        result.reserveCapacity(elements.underestimatedCount)
        var mayCompose = false
        var startsWord = false
        for element in elements {
            startsWord = startsWord || element.startsWord
            fold(element.scalar, case: foldsCase, diacritics: foldsDiacritics) { scalar, composes in
                result.append(TextElement(scalar: scalar, startsWord: startsWord))
                mayCompose = mayCompose || composes
                startsWord = false
            }
        }
        return mayCompose ? CanonicalForm.composed(result) : result
    }

    /// Calls `body` with the decomposed folding of a scalar; `mayCompose` is `true` for scalars
    /// that may compose with the preceding one.
    static func fold(
        _ scalar: Unicode.Scalar, case foldsCase: Bool, diacritics foldsDiacritics: Bool,
        _ body: (Unicode.Scalar, _ mayCompose: Bool) -> Void
    ) {
        let record = UnicodeTable.record(of: scalar)
        let place =
            switch (foldsCase, foldsDiacritics) {
            case (false, false): record.canonical
            case (true, false): record.case_folded
            case (false, true): record.plain
            case (true, true): record.folded
            }
        guard place != 0 else { return body(scalar, record.mayCompose) }
        UnicodeTable.forEach(in: place, of: scalar) {
            body($0, $0.value >= CanonicalForm.firstThatMayChange && UnicodeTable.record(of: $0).mayCompose)
        }
    }

    private static func lowercasedASCII(_ text: String) -> String {
        guard text.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return text }
        return String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
