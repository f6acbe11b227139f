// SPDX-License-Identifier: Apache-2.0
import TextAnalysis

/// The only functions in this module that fold text and split it into words, so that both follow
/// the index's text rule.
enum FoldedText {
    /// Returns the text in lower case and without diacritics.
    static func fold(_ text: String) -> String { TextFolding.folded(text, case: true, diacritics: true) }

    /// Returns the folded words of a text, in order.
    static func words(_ text: String) -> [String] { TextAnalyzer.words(of: text) }
}
