// SPDX-License-Identifier: Apache-2.0

/// The rules that a model's tokenizer uses to normalize text.
package struct TextRules: Hashable, Sendable {
    /// Maps letters to lower case.
    package var lowercases = true
    /// Decomposes text canonically and removes non-spacing marks.
    package var stripsAccents = true
    /// Treats each Chinese character as a word.
    package var separatesIdeographs = true

    package init(lowercases: Bool = true, stripsAccents: Bool = true, separatesIdeographs: Bool = true) {
        self.lowercases = lowercases
        self.stripsAccents = stripsAccents
        self.separatesIdeographs = separatesIdeographs
    }
}
