// SPDX-License-Identifier: Apache-2.0
import TextAnalysis

/// The one place where this module folds text and divides it into words, so that both follow the index's rule.
enum FoldedText {
    /// The text in lower case and without diacritics.
    static func fold(_ text: String) -> String { TextFolding.folded(text, case: true, diacritics: true) }

    /// The folded words of a text, in order.
    static func words(_ text: String) -> [String] { TextAnalyzer.words(of: text) }
}
