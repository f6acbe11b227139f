// SPDX-License-Identifier: Apache-2.0

/// One search, in the form that each side takes.
struct SearchQuery: Sendable {
    /// What a person has typed so far.
    var typed: String
    /// The same for plain FTS5, or for `LIKE`.
    var plainArgument: String
    /// Only items of this bundle.
    var bundle: String?
    var isInsideWords = false

    /// All of these words, and the beginning of another.
    init(words: [String] = [], prefix: String? = nil, bundle: String? = nil) {
        // The space says that the last word is finished.
        typed = words.map { $0 + " " }.joined() + (prefix ?? "")
        plainArgument = (words.map { "\"\($0)\"" } + (prefix.map { ["\"\($0)\"*"] } ?? [])).joined(separator: " ")
        self.bundle = bundle
    }

    /// These words side by side.
    init(phrase: [String]) {
        plainArgument = "\"" + phrase.joined(separator: " ") + "\""
        typed = plainArgument
    }

    /// Letters from inside of a word. Plain FTS5 has nothing for it, so titles are looked through.
    init(inside letters: String) {
        typed = letters
        plainArgument = "%\(letters)%"
        isInsideWords = true
    }
}

/// Searches of one kind, which must be equally quick.
struct QueryClass: Sendable {
    var name: String
    var queries: [SearchQuery]
    /// Whether letters inside of words are looked for, which may take longer.
    var isInfix = false
}
