// SPDX-License-Identifier: Apache-2.0
import TextAnalysis

/// One text of an item, folded and divided for the comparisons with one set of options.
struct ComparableText {
    /// The folded text, composed.
    let scalars: [Unicode.Scalar]
    /// For each scalar whether a word or a separator begins there; empty when the options do not ask for words.
    private let boundaries: [Bool]
    /// Whether the end of the text was left out because of the limit.
    let isCut: Bool

    init(_ text: String, options: MatchOptions, limit: Int) {
        let source = text.unicodeScalars
        let kept = source.prefix(limit)
        isCut = kept.endIndex != source.endIndex
        var elements = TextFolding.folded(kept.map { TextElement(scalar: $0) }, case: false, diacritics: false)
        let needsWords = !options.isDisjoint(with: [.wordBased, .tokenized])
        if needsWords {
            // Before folding, which would take away the changes of case.
            var boundary = WordBoundary(splitsCaseChanges: options.contains(.wordBased))
            for index in elements.indices {
                elements[index].startsWord = boundary.isBoundary(before: elements[index].scalar)
            }
        }
        elements = TextFolding.folded(
            elements, case: options.contains(.caseInsensitive), diacritics: options.contains(.diacriticInsensitive))
        if needsWords, options.contains(.caseInsensitive) {
            // And after it, where one scalar became several words.
            var boundary = WordBoundary(splitsCaseChanges: false)
            for index in elements.indices where boundary.isBoundary(before: elements[index].scalar) {
                elements[index].startsWord = true
            }
        }
        scalars = elements.map(\.scalar)
        boundaries = needsWords ? elements.map(\.startsWord) : []
    }

    /// Whether a word may begin or end before the scalar at the index.
    func isBoundary(_ index: Int) -> Bool {
        if index == 0 { return true }
        if index >= scalars.count { return !isCut }
        return boundaries[index]
    }
}
