// SPDX-License-Identifier: Apache-2.0
import TextAnalysis

/// A text of an item, folded and split into words for the comparisons with one set of options.
struct ComparableText {
    /// The folded text in composed form.
    let scalars: [Unicode.Scalar]
    /// `true` for each scalar at which a word or a separator begins; empty if the options do not
    /// use words.
    private let boundaries: [Bool]
    /// `true` if the limit cut off the end of the text.
    let isCut: Bool

    init(_ text: String, options: MatchOptions, limit: Int) {
        let source = text.unicodeScalars
        let kept = source.prefix(limit)
        isCut = kept.endIndex != source.endIndex
        var elements = TextFolding.folded(kept.map { TextElement(scalar: $0) }, case: false, diacritics: false)
        let needsWords = !options.isDisjoint(with: [.wordBased, .tokenized])
        if needsWords {
            // Words are found before folding, which would remove case changes.
            var boundary = WordBoundary(splitsCaseChanges: options.contains(.wordBased))
            for index in elements.indices {
                elements[index].startsWord = boundary.isBoundary(before: elements[index].scalar)
            }
        }
        elements = TextFolding.folded(
            elements, case: options.contains(.caseInsensitive), diacritics: options.contains(.diacriticInsensitive))
        if needsWords, options.contains(.caseInsensitive) {
            // Folding may also split a scalar into several words.
            var boundary = WordBoundary(splitsCaseChanges: false)
            for index in elements.indices where boundary.isBoundary(before: elements[index].scalar) {
                elements[index].startsWord = true
            }
        }
        scalars = elements.map(\.scalar)
        boundaries = needsWords ? elements.map(\.startsWord) : []
    }

    /// Returns `true` if a word may begin or end before the scalar at the index.
    func isBoundary(_ index: Int) -> Bool {
        if index == 0 { return true }
        if index >= scalars.count { return !isCut }
        return boundaries[index]
    }
}
