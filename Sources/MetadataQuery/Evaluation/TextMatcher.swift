// SPDX-License-Identifier: Apache-2.0
import TextAnalysis

/// A pattern prepared for comparison with many texts.
struct TextMatcher {
    let options: MatchOptions
    private let runs: [WildcardRun]
    private let isEmptyText: Bool
    private let isTokenized: Bool

    init(_ pattern: TextPattern, options: MatchOptions) {
        self.options = options
        isEmptyText = pattern.elements.isEmpty
        isTokenized = options.contains(.tokenized)
        var elements: [WildcardRun.Element] = []
        for element in pattern.elements {
            switch element {
            case .anyText: elements.append(.anyText)
            case .anyCharacter: elements.append(.anyCharacter)
            case .literal(let text):
                let folded = ComparableText(text, options: options.subtracting([.wordBased, .tokenized]), limit: .max)
                elements += folded.scalars.map { .scalar($0) }
            }
        }
        runs = isTokenized ? Self.words(elements).map(WildcardRun.init) : [WildcardRun(elements)]
    }

    /// Splits the pattern at separators. Parts that consist only of `*` impose no condition.
    private static func words(_ elements: [WildcardRun.Element]) -> [[WildcardRun.Element]] {
        let parts = elements.split { element in
            guard case .scalar(let scalar) = element else { return false }
            return CharacterKind(scalar) == .separator
        }
        return parts.map(Array.init).filter { part in part.contains { $0 != .anyText } }
    }

    /// Returns `true` if the text satisfies the pattern. The text must have been prepared with the
    /// same options.
    ///
    /// - Complexity: In the worst case, the length of the text times the length of the pattern
    ///   divided by 64.
    func matches(_ text: ComparableText) -> Bool {
        if isEmptyText { return text.scalars.isEmpty && !text.isCut }
        if isTokenized { return !runs.isEmpty && runs.allSatisfy { $0.isFound(in: text) } }
        return options.contains(.wordBased) ? runs[0].isFound(in: text) : runs[0].equals(text)
    }
}
