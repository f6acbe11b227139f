// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import MetadataQuery
import Previews
import SearchIndex
import SearchlightEngine
import UserSearch

struct SearchCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find items by the words you remember, best first.",
        discussion: """
            Items with all words come first, then items with some. The last word may be incomplete; a space or \
            quote after it completes it. Words in double quotes must be adjacent (quote the whole \
            for your shell: searchlight search '"release notes"'). A word after a minus sign must not occur (put -- \
            before it: searchlight search -- -release notes). Case, accents and forms of words do not matter.

            Filters may be among the words: kind:pdf, from:anna, to:, app:mail, in:folder, tag:, title:, before:, \
            after:, on: (2026-11-16, yesterday, last week), larger:10MB, smaller:500kB, has:attachment. larger: and \
            smaller: compare fileSize, in megabytes of 1,000,000 bytes. A comma separates alternatives, a minus sign \
            before a filter excludes, and quotes enclose a value with spaces: from:"Anna Smith".

            A word without any match is corrected, unless it is in quotes; a note on standard error shows the corrected \
            search. --as-typed turns correction off.

            With an embedding model (“searchlight semantic”), a search with three words or more also compares \
            meanings. Items with a similar meaning rank higher, and some are found without any of the words. \
            --words-only turns this off.

            The exit status is 0 even if nothing is found.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The words.")
    var words: [String]
    @Option(
        name: .shortAndLong, parsing: .unconditional, help: ListLimit.help("Show at most this many items"),
        transform: ListLimit.items)
    var limit = 10
    @Option(help: "Show only items of this bundle.", completion: BundleNames.completion)
    var bundle: String?
    @Flag(help: "Search for the words as typed, without correction.")
    var asTyped = false
    @Flag(help: "Compare only words, even if an embedding model is installed.")
    var wordsOnly = false
    @Flag(help: "Show the parts of each hit's score.")
    var explain = false
    @OptionGroup var list: NumbersFlag

    /// The maximum number of hits to count, because counting takes time.
    private static let maximumCounted = 1000
    private static let shownHints = 3
    /// The maximum length of a word in messages, in characters.
    private static let shownWordLength = 80
    /// The maximum length of a text in messages, in characters.
    private static let shownTextLength = 200
    /// The maximum length of a snippet, in characters: in a terminal, and in JSON.
    private static let (shownSnippetLength, reportedSnippetLength) = (100, 160)

    func validate() throws {
        try refuseEmpty(bundle, "--bundle")
        guard !list.numbers || !explain else {
            throw ValidationError("--numbers and --explain exclude each other.")
        }
        guard !list.numbers || !options.json else { throw ValidationError("--numbers and --json exclude each other.") }
        // With --json, perform() reports the problem as a JSON object.
        if let problem, !options.json { throw ValidationError(problem) }
    }

    /// The reason why there is nothing to search for.
    private var problem: String? { SearchText.problem(of: words, example: "searchlight search notes") }

    func perform() async throws {
        if let problem { throw CommandFailure(message: problem, status: .usage) }
        let text = words.joined(separator: " ")
        // The notes are part of the answer, so the service is called only once.
        try await options.withStore(.read, notesFollow: true) { store in try await search(text, in: store) }
    }

    private func search(_ text: String, in store: any EngineClient) async throws {
        var search = ItemSearch(text, bundle: bundle)
        search.limit = limit
        search.correctsSpelling = !asTyped
        search.usesMeaning = !wordsOnly
        search.notes = .init(extensionFolders: options.explicitExtensionFolders)
        if !list.numbers {
            search.countsUpTo = Self.maximumCounted
            search.snippetLength = options.json ? Self.reportedSnippetLength : Self.shownSnippetLength
        }
        let found = try await store.find(search)
        if let notes = found.notes { options.warnOfOpening(notes) }
        let notes =
            (found.notes?.messages(asksService: !options.inProcess) ?? [])
            + (found.isLocked ? [lockedNote] : [])
        defer { for note in notes { Output.complain("Note: \(note)") } }
        if options.json { return try Output.printJSON(JSONObject(query: text, found, notes, explains: explain)) }
        defer { warnOfPending(found.pending) }
        if let correction = found.correction {
            let shown = DisplayText.line(correction.text, limit: Self.shownTextLength)
            Output.complain("Showing results for “\(shown)”. Add --as-typed to search for the words as you typed them.")
        }
        if list.numbers {
            try list.print(found.hits.map(\.item))
        } else {
            for line in found.hits.lines(explains: explain, columns: Output.columns) { try Output.line(line) }
        }
        explainFilters(in: text)
        if found.hits.isEmpty {
            explainNothing()
            let counts = try await store.perform(ItemCountsCall())
            guard counts.values.contains(where: { $0 > 0 }) || found.isLocked else {
                return Output.complain("The index has no items yet. To choose what to index, run: searchlight setup")
            }
            try await warnOfUnknown(bundle, in: store)
        } else if found.next != nil, let total = found.total {
            // All items with all words are shown. The others have some words or a similar meaning.
            let shown =
                total.isExact && total.count <= found.hits.count
                ? "More items match in part; --limit shows them"
                : "\(found.hits.count) of \(total.phrase); --limit shows more"
            try Output.line("\(dim: shown)")
        }
    }

    private func explainNothing() {
        let typed = words.flatMap { $0.split(whereSeparator: \.isWhitespace) }
        let shown = typed.map { $0.count > Self.shownWordLength ? $0.prefix(Self.shownWordLength) + "…" : $0 }
        Output.complain("Nothing is found for “\(shown.joined(separator: " "))”.")
        if typed.contains(where: { $0.hasSuffix("*") }) {
            Output.complain("Search knows no operator *. The last word may be incomplete.")
        }
    }

    /// Reports on standard error words that look like filters but were treated as text, and words
    /// or filters in excess of a limit.
    private func explainFilters(in text: String) {
        let intent = SearchIntent(text, clock: QueryClock(now: Date.now.timeIntervalSinceReferenceDate))
        for hint in intent.hints.prefix(Self.shownHints) { Output.complain("Note: \(hint.message)") }
        if intent.isTruncated {
            Output.complain(
                """
                Note: A search takes \(UserQuery.maximumTerms) words or phrases and \(SearchIntent.maximumFilters) filters of \
                \(SearchIntent.maximumValues) values. The rest was ignored or searched as words.
                """)
        }
    }
}

extension StoreNotes {
    /// Returns the reasons why items may be missing, each as one or more sentences for the user.
    ///
    /// - Parameter asksService: `false` if the user does without the service (`--in-process`). Then
    ///   no message proposes to start it.
    fileprivate func messages(asksService: Bool) -> [String] {
        let now = Date.now.timeIntervalSinceReferenceDate
        return reindexes + (asksService ? unfollowed(now) : []) + pendingFiles(now)
    }

    /// The pending reindexes. Those of several installed extensions are combined in one sentence.
    private var reindexes: [String] {
        let installed = pendingReindexes.filter(\.isInstalled)
        guard installed.count > 1 else { return pendingReindexes.map(\.message) }
        let rest = pendingReindexes.filter { !$0.isInstalled }
        return [
            "Reindexes of \(installed.count) apps are pending; items may be missing. Run: searchlight reindex"
        ] + rest.map(\.message)
    }

    /// Returns messages about changed files that cannot be found yet. Changes made within the last
    /// 10 s are left out, because they are usually indexed a moment later.
    private func pendingFiles(_ now: Double) -> [String] {
        pendingFiles.filter { now - $0.since > 10 }.map { one in
            """
            \(counted(one.files, "changed file")) of \(one.bundle) are not up to date in the index yet. To see the reason: \
            searchlight why \(one.bundle). To index them now: searchlight update \(one.bundle)
            """
        }
    }

    /// Returns a message if changes to files may be missing because no service follows them.
    private func unfollowed(_ now: Double) -> [String] {
        guard let last = unfollowedSince, now - last > 60 else { return [] }
        let since = last == -.infinity ? "" : " since \(moment(last))"
        return [
            """
            Your files are not watched\(since), so changes may be missing. Run: searchlight update. To watch them, start \
            the service: systemctl --user enable --now searchlightd.service, or run searchlightd
            """
        ]
    }
}

extension StoreNotes.PendingReindex {
    fileprivate var message: String {
        let remedy =
            isInstalled
            ? "Run: searchlight reindex \(bundle)"
            : """
            It is not installed. Install it again, or delete its items and pending jobs: searchlight forget \(bundle)
            """
        return "A reindex of \(bundle) is pending; items may be missing. \(remedy)"
    }
}

extension JSONObject {
    fileprivate init(query: String, _ found: FoundItems, _ notes: [String], explains: Bool) {
        self = [
            "query": query, "total": found.total?.count ?? found.hits.count,
            // `true` if the total includes all hits.
            "totalIsExact": found.total?.isExact ?? (found.next == nil),
            // The text that was searched for instead of the query, with the ranges of the corrected
            // words.
            "correction": found.correction.map { correction -> JSONObject in
                [
                    "text": correction.text,
                    "ranges": correction.ranges.map { [$0.lowerBound, $0.upperBound] },
                ]
            },
            // The donations that are not included yet.
            "pending": found.pending,
            // The reasons why items may be missing.
            "notes": notes.isEmpty ? nil : notes,
            "items": found.hits.map { JSONObject($0, explains: explains) },
        ]
    }
}
