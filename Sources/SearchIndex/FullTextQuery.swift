// SPDX-License-Identifier: Apache-2.0

/// What a person typed, as an FTS5 query: all words must occur, words in double quotes side by side, and the last word
/// may be the beginning of one.
struct FullTextQuery {
    /// The text for `MATCH`, or `nil` if nothing was typed that could be searched for.
    let match: String?

    /// More words than a person types only cost time.
    static let maximumWords = 32

    init(_ text: String) {
        var terms: [String] = []
        for (position, piece) in text.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            let isQuoted = position % 2 == 1
            let words = isQuoted ? [piece] : piece.split(whereSeparator: \.isWhitespace)
            // Punctuation alone has no tokens, and FTS5 would find nothing for it.
            for word in words
            where word.unicodeScalars.contains(where: { $0.properties.isAlphabetic || $0.properties.numericType != nil }
            ) {
                terms.append("\"\(word)\"")
            }
        }
        terms = Array(terms.prefix(Self.maximumWords))
        // A closing quote or a space says that the last word is complete.
        if let last = terms.last, text.last?.isWhitespace == false, text.last != "\"" {
            terms[terms.count - 1] = last + "*"
        }
        match = terms.isEmpty ? nil : terms.joined(separator: " ")
    }
}
