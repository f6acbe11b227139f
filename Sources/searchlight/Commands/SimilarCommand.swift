// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import Previews
import SearchIndex
import SearchlightEngine

struct SimilarCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "similar",
        abstract: "Find the items that are similar to an item.",
        discussion: """
            With an embedding model (“searchlight semantic”), items with a similar meaning come first. Without a \
            model, or until the item is embedded, finds items that share its rare words; a note on standard error \
            reports this.

            Filters may follow the item, as in a search: searchlight similar @12 kind:pdf after:"last month". To exclude with a \
            minus sign, put -- first: searchlight similar -- @12 -app:mail

            The exit status is 0 even if nothing is similar.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "An item number that “search” prints (@12), a unique identifier, or the path of a file.")
    var item: String
    @Argument(help: "Filters that the similar items satisfy.")
    var filters: [String] = []
    @Option(
        name: .shortAndLong, parsing: .unconditional,
        help: ArgumentHelp("Show at most this many items, 1 to \(SimilarCall.maximumHits).", valueName: "number"),
        transform: ListLimit.items)
    var limit = 10
    @Option(
        help: "Choose the item of this bundle if several bundles have the same identifier.",
        completion: BundleNames.completion)
    var bundle: String?
    @OptionGroup var list: NumbersFlag

    /// The maximum length of a snippet, in characters: in a terminal, and in JSON.
    private static let (shownSnippetLength, reportedSnippetLength) = (100, 160)

    private var text: String { filters.joined(separator: " ") }

    func validate() throws {
        try refuseEmpty(bundle, "--bundle")
        guard limit <= SimilarCall.maximumHits else {
            throw ValidationError("--limit needs a number from 1 to \(SimilarCall.maximumHits).")
        }
        guard !list.numbers || !options.json else { throw ValidationError("--numbers and --json exclude each other.") }
        // With --json, perform() reports the problem as a JSON object.
        if let problem, !options.json { throw ValidationError(problem) }
    }

    private var problem: String? {
        SearchText.lengthProblem(of: text)
            ?? SimilarItems.problem(ofFilters: text, at: Date.now.timeIntervalSinceReferenceDate)
    }

    func perform() async throws {
        if let problem { throw CommandFailure(message: problem, status: .usage) }
        var search = ItemSearch(text)
        search.limit = limit
        if !list.numbers {
            search.snippetLength = options.json ? Self.reportedSnippetLength : Self.shownSnippetLength
        }
        let wanted = search
        let (named, found) = try await options.withStore(.read) { store in
            let named = try await ItemChoice.find(item, bundle: bundle, in: store)
            return (named, try await store.perform(SimilarCall(to: named.number, wanted)))
        }
        if options.json { return try Output.printJSON(JSONObject(named, found)) }
        if list.numbers {
            try list.print(found.hits.map(\.item))
        } else {
            for line in found.hits.lines(columns: Output.columns) { try Output.line(line) }
        }
        if let advice = found.advice { Output.complain("Note: \(advice)") }
        if found.hits.isEmpty, found.basis != .noText {
            let title = DisplayText.line(named.displayTitle, limit: shownTitleLength)
            Output.complain("No item\(filters.isEmpty ? "" : " with these filters") is similar to “\(title)”.")
        }
    }
}

extension JSONObject {
    fileprivate init(_ item: StoredItem, _ found: SimilarItems) {
        self = [
            "item": [
                "number": item.number, "bundle": item.scope.bundle, "index": item.scope.index,
                "uniqueIdentifier": item.record.uniqueIdentifier, "title": item.displayTitle,
            ] as JSONObject,
            // “meaning”, “wordsWithoutModel”, “wordsWithoutEmbedding” or “noText”.
            "basis": found.basis.rawValue, "words": found.words, "isPartial": found.isPartial,
            "advice": found.advice, "items": found.hits.map { JSONObject($0, explains: false) },
        ]
    }
}
