// SPDX-License-Identifier: Apache-2.0

/// One search, in the form that each side takes.
struct SearchQuery: Sendable {
    enum Text: Sendable {
        /// What a person has typed so far.
        case typed(String)
        /// A metadata query.
        case metadata(String)
    }

    var text: Text
    /// The same for plain FTS5, or for `LIKE`.
    var plainArgument: String
    /// Only items of this bundle.
    var bundle: String?

    /// All of these words, and the beginning of another.
    init(words: [String] = [], prefix: String? = nil, bundle: String? = nil) {
        // The space says that the last word is finished.
        text = .typed(words.map { $0 + " " }.joined() + (prefix ?? ""))
        plainArgument = (words.map { "\"\($0)\"" } + (prefix.map { ["\"\($0)\"*"] } ?? [])).joined(separator: " ")
        self.bundle = bundle
    }

    /// These words side by side.
    init(phrase: [String]) {
        plainArgument = "\"" + phrase.joined(separator: " ") + "\""
        text = .typed(plainArgument)
    }

    /// Titles with these letters inside, or at the end, of the title.
    init(infix: String, isSuffix: Bool) {
        text = .metadata("title == \"*\(infix)\(isSuffix ? "" : "*")\"cd")
        plainArgument = "%\(infix)\(isSuffix ? "" : "%")"
    }
}

/// Searches of one kind, which must be equally quick.
struct QueryClass: Sendable {
    var name: String
    var queries: [SearchQuery]
    var bars: (p50: Bar, p95: Bar) = (Bars.searchP50, Bars.searchP95)
}
