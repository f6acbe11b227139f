// SPDX-License-Identifier: Apache-2.0
import MetadataQuery

/// What a person typed, as an FTS5 query: all words and phrases must occur, the last word may be the beginning of one,
/// and excluded words must not occur.
struct FullTextQuery {
    /// The text for `MATCH`, or `nil` if nothing was typed that could be searched for.
    let match: String?

    init(_ text: String) {
        var wanted: [String] = []
        var excluded: [String] = []
        for term in UserQuery(text).terms where !term.words.isEmpty {
            // Between quotes FTS5 knows no operators; it divides the text into words as it divided the items' texts.
            // By scalars: as a character, a quote melts with a mark after it or a sign such as U+0600 before it.
            let text = term.text.unicodeScalars.map { $0 == "\"" || $0 == "\0" ? " " : $0 }
            let phrase = "\"" + String(String.UnicodeScalarView(text)) + "\"" + (term.isPrefix ? "*" : "")
            if term.isExcluded { excluded.append(phrase) } else { wanted.append(phrase) }
        }
        guard !wanted.isEmpty else {
            match = nil
            return
        }
        // Without AND between them, FTS5 passes over phrases in which it finds no word of its own, such as an emoji.
        let all = "(" + wanted.joined(separator: " ") + ")"
        match = excluded.isEmpty ? all : all + " NOT (" + excluded.joined(separator: " OR ") + ")"
    }
}
