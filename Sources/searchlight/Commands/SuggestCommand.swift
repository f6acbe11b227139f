// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import Previews
import SearchIndex
import SearchlightEngine

struct SuggestCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggest",
        abstract: "Complete a search that is not fully typed.",
        discussion: """
            Each line has a search text, its kind and the number of items that it finds. Kinds are a completion of the last \
            word, a phrase of a title, a person, a filter, and the correction of a misspelled word. The likeliest comes first. A \
            text that ends in a space has no completions (quote it for your shell: searchlight suggest 'release n').

            The exit status is 0 even if nothing is suggested.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The beginning of a search.")
    var words: [String]
    @Option(
        name: .shortAndLong, help: ArgumentHelp("Show at most this many, 1 to \(maximum).", valueName: "number"))
    var limit = maximum
    @Option(help: "Show only suggestions from items of this bundle.", completion: BundleNames.completion)
    var bundle: String?

    private static let maximum = Suggestion.maximumCount
    /// The maximum length of a text in the list, in characters.
    private static let shownTextLength = 100

    func validate() throws {
        try refuseEmpty(bundle, "--bundle")
        if let problem = SearchText.lengthProblem(of: words.joined(separator: " ")) { throw ValidationError(problem) }
        guard !words.joined().allSatisfy(\.isWhitespace) else {
            throw ValidationError("The text is empty. Type the beginning of a search: searchlight suggest ferr")
        }
        guard (1...Self.maximum).contains(limit) else {
            throw ValidationError("--limit takes a number from 1 to \(Self.maximum).")
        }
    }

    func perform() async throws {
        var request = SuggestionRequest(words.joined(separator: " "), bundle: bundle)
        request.limit = limit
        try await options.withStore(.read) { store in
            let suggestions = try await store.suggestions(request)
            await warnOfLocked(bundle, in: store)
            if suggestions.isEmpty, !options.json { try await warnOfUnknown(bundle, in: store) }
            if options.json { return try Output.printJSON(suggestions.map { JSONObject($0) }) }
            if suggestions.isEmpty {
                Output.complain("No suggestion for “\(DisplayText.line(request.text, limit: Self.shownTextLength))”.")
            }
            let texts = suggestions.map { DisplayText.line($0.text, limit: Self.shownTextLength) }
            let width = texts.map(\.count).max() ?? 0
            for (suggestion, text) in zip(suggestions, texts) {
                let facts = [suggestion.kind.rawValue, suggestion.total?.phrase].compactMap { $0 }
                try Output.line("\(bold: text.padded(to: width))  \(dim: facts.joined(separator: " · "))")
            }
        }
    }
}

extension JSONObject {
    fileprivate init(_ suggestion: Suggestion) {
        self = [
            "kind": suggestion.kind.rawValue, "text": suggestion.text, "count": suggestion.total?.count,
            "isExact": suggestion.total?.isExact,
        ]
    }
}
