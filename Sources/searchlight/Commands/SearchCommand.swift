// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Previews
import SearchIndex
import SearchlightEngine
import UniformTypeIdentifiers

struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find items that contain all the given words, best first.",
        discussion: """
            The last word may be the beginning of one. Titles that are or begin with the words come first, then words in \
            titles and keywords, then words anywhere, and at the end titles with words that contain the last one. A space or \
            quote behind it says that it is whole. Words in double quotes must stand side by side (quote the whole \
            for your shell: searchlight search '"release notes"'). A word after a minus sign must not occur (put -- \
            and it first: searchlight search -- -release notes). Case and accents do not matter; there are no \
            other operators. That nothing is found is no failure: the exit status is 0.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The words.")
    var words: [String]
    @Option(name: .shortAndLong, help: ListLimit.help("Show at most so many items"), transform: ListLimit.items)
    var limit = 10
    @Option(help: "Only items of this bundle.", completion: BundleNames.completion)
    var bundle: String?
    @OptionGroup var list: NumbersFlag

    /// More hits are counted as that many: nobody reads them, and counting takes time.
    private static let maximumCounted = 10_000
    /// Longer words are cut in messages, in characters.
    private static let shownWordLength = 80

    func validate() throws {
        try refuseEmpty(bundle, "--bundle")
        guard !list.numbers || !options.json else { throw ValidationError("--numbers and --json exclude each other.") }
        // As an object, where that is asked for, when it runs.
        if let problem, !options.json { throw ValidationError(problem) }
    }

    /// Why nothing can be searched for.
    private var problem: String? {
        let typed = words.joined(separator: " ").split(whereSeparator: \.isWhitespace)
        guard typed.contains(where: { $0.contains(where: Self.isSearchable) }) else {
            return "There is no word to search for. Give letters or digits: searchlight search notes"
        }
        guard typed.contains(where: { $0.first != "-" && $0.contains(where: Self.isSearchable) }) else {
            return "Every word is one to leave out. Add one that must occur."
        }
        return nil
    }

    /// Punctuation alone finds nothing; signs such as emoji may be names.
    private static func isSearchable(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || (character.isSymbol && !character.isASCII)
    }

    func run() async throws {
        try await reportingErrors(json: options.json) {
            if let problem { throw CommandFailure(message: problem, status: .usage) }
            let text = words.joined(separator: " ")
            try await options.withStore(.read) { store in try await search(text, in: store) }
        }
    }

    private func search(_ text: String, in store: any StoreService) async throws {
        var request = SearchRequest(text, bundle: bundle)
        request.limit = limit
        let page = try await store.search(request)
        let hits = page.hits
        let isCounted = page.next != nil && !list.numbers
        let total = !isCounted ? hits.count : try await store.count(request, upTo: Self.maximumCounted)
        if options.json {
            return try Output.printJSON(
                SearchReport(
                    query: text, total: total, totalIsExact: total < Self.maximumCounted, pending: page.pending,
                    hits: hits))
        }
        defer { warnOfPending(page.pending) }
        if list.numbers {
            try list.print(hits.map(\.item))
            if hits.isEmpty { explainNothing() }
            return try await warnOfOwedJobs(store)
        }
        let highlighter = Highlighter(query: text)
        for hit in hits { for line in describe(hit.item, highlighter) { try Output.line(line) } }
        if hits.isEmpty {
            explainNothing()
        } else if page.next != nil {
            let more = total < Self.maximumCounted ? counted(total, "item") : "\(total) items or more"
            try Output.line("\(dim: "\(hits.count) of \(more); --limit shows more")")
        }
        try await warnOfOwedJobs(store)
    }

    private func explainNothing() {
        let typed = words.flatMap { $0.split(whereSeparator: \.isWhitespace) }
        let shown = typed.map { $0.count > Self.shownWordLength ? $0.prefix(Self.shownWordLength) + "…" : $0 }
        Output.complain("Nothing is found for “\(shown.joined(separator: " "))”.")
        if typed.contains(where: { $0.hasSuffix("*") || $0.contains(":") }) {
            Output.complain("Search knows no operators such as * and name:value. The last word may be incomplete.")
        }
    }

    private func describe(_ item: StoredItem, _ highlighter: Highlighter) -> [StyledText] {
        let number = "@\(item.number)"
        let indent = String(repeating: " ", count: number.count + 2)
        let kind = item.contentType.map { UTType($0)?.localizedDescription ?? $0 }
        let place = item.record.contentPath.map(DisplayText.line)
        let facts = [kind, place ?? item.scope.bundle].compactMap { $0 }.joined(separator: " · ")
        var lines: [StyledText] = [
            "\(dim: number)  \(bold: DisplayText.line(item.displayTitle, limit: shownTitleLength))",
            "\(indent)\(dim: facts)",
        ]
        let source = [item.record.text("textContent"), item.record.text("contentDescription")].compactMap { $0 }
        if let text = source.first(where: { !highlighter.ranges(in: $0).isEmpty }) ?? source.first, !text.isEmpty {
            let snippet = highlighter.snippet(of: text, length: 100)
            lines.append("\(indent)\(StyledText(highlighter.pieces(of: snippet)))")
        }
        return lines
    }
}

/// Says on standard error what is missing from the index because a reindex was not acknowledged.
func warnOfOwedJobs(_ store: any StoreService) async throws(EngineError) {
    let owed = try await store.owedReindexes()
    guard !owed.isEmpty else { return }
    let installed = Set(try await store.extensions().identifiers)
    for job in owed {
        let remedy =
            installed.contains(job.bundle)
            ? "Run: searchlight reindex \(job.bundle)"
            : """
            It is not installed: put it back, or have what it donated and owes deleted: searchlight forget \(job.bundle)
            """
        Output.complain("Note: \(job.bundle) still owes a reindex; items may be missing. \(remedy)")
    }
}

private struct SearchReport: Encodable {
    struct Hit: Encodable {
        var number: Int64
        var score: Double
        var bundle: String
        var index: String?
        var uniqueIdentifier: String
        var title: String
        var contentType: String?
        var path: String?
        var snippet: String?
        var kind: String
    }
    var query: String
    var total: Int
    /// Whether there are no more than `total`.
    var totalIsExact: Bool
    /// What is not included yet; absent if everything is.
    var pending: PendingDonations?
    var items: [Hit]

    init(query: String, total: Int, totalIsExact: Bool, pending: PendingDonations?, hits: [SearchHit]) {
        self.pending = pending
        self.query = query
        self.total = total
        self.totalIsExact = totalIsExact
        let highlighter = Highlighter(query: query)
        items = hits.map { hit in
            let text = hit.item.record.text("textContent") ?? hit.item.record.text("contentDescription")
            return Hit(
                number: hit.item.number, score: (hit.score * 1000).rounded() / 1000, bundle: hit.item.scope.bundle,
                index: hit.item.scope.index, uniqueIdentifier: hit.item.record.uniqueIdentifier,
                title: hit.item.displayTitle, contentType: hit.item.contentType, path: hit.item.record.contentPath,
                snippet: text.map { highlighter.snippet(of: $0, length: 160) }, kind: "\(hit.kind)")
        }
    }
}
