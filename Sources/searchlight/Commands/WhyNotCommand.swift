// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ItemRecord
import JSONText
import Previews
import SearchIndex
import SearchlightEngine
import SystemSupport
import UserSearch

struct WhyNotCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "why-not",
        abstract: "Explain why a search does not show an item, and suggest searches that do.",
        discussion: """
            Shows the attributes that contain each word, and checks each phrase, excluded word and filter. Compares the \
            item's rank and score with the last hit that is shown. Suggests tested searches that find the item. Ranks are \
            determined up to \(SearchDiagnosis.maximumRank).

            searchlight why-not @12 annual report kind:pdf

            To exclude a word, put -- after the item: searchlight why-not @12 -- release -notes. The exit status is 0 even if \
            the search shows the item.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help:
            "An item number that “search” prints (@12), a unique identifier, or the path of a file."
    )
    var item: String
    @Argument(help: "The words of the search.")
    var words: [String]
    @Option(
        name: .shortAndLong, parsing: .unconditional, help: ListLimit.help("Assume this --limit of the search"),
        transform: ListLimit.items)
    var limit = 10
    @Option(
        help: "Choose the item of this bundle if several bundles have the same identifier.",
        completion: BundleNames.completion)
    var bundle: String?
    @Option(
        help: ArgumentHelp("Assume that the search has this --bundle.", valueName: "bundle"),
        completion: BundleNames.completion)
    var searchBundle: String?
    @Flag(help: "Assume that the search has --as-typed.")
    var asTyped = false

    /// The maximum length of a text in messages, in characters.
    private static let shownTextLength = 200
    /// The maximum length of a value, in characters.
    private static let valueLength = 80

    func validate() throws {
        try refuseEmpty(bundle, "--bundle")
        try refuseEmpty(searchBundle, "--search-bundle")
        // With --json, perform() reports the problem as a JSON object.
        if let problem, !options.json { throw ValidationError(problem) }
    }

    private var problem: String? { SearchText.problem(of: words, example: "searchlight why-not @12 notes") }

    /// The error for an item that does not exist. The words of the search may come first by
    /// mistake.
    private func notFound(_ item: String) -> any Error {
        guard let number = words.first(where: { $0.wholeMatch(of: /@\d+/) != nil }) else {
            return EngineError.itemNotFound(item)
        }
        let rest = ([item] + words.filter { $0 != number }).map(\.shellWord).joined(separator: " ")
        return CommandFailure(
            message:
                "There is no item \(item.debugDescription). The item comes first: searchlight why-not \(number) \(rest)",
            status: .notFound)
    }

    func perform() async throws {
        if let problem { throw CommandFailure(message: problem, status: .usage) }
        var search = ItemSearch(words.joined(separator: " "), bundle: searchBundle)
        search.limit = limit
        search.correctsSpelling = !asTyped
        let wanted = search
        let diagnosis = try await options.withStore(.read) { store in
            let number: Int64
            do throws(EngineError) {
                number = try await ItemChoice.find(item, bundle: bundle, in: store).number
            } catch .itemNotFound(let missing) {
                let expired = try await store.perform(ExpiredItemCall(item, bundle: bundle))
                guard let expired else { throw notFound(missing) }
                number = expired
            }
            return try await store.perform(DiagnoseCall(wanted, item: number))
        }
        if options.json { return try Output.printJSON(JSONObject(diagnosis)) }
        defer { warnOfPending(diagnosis.pending) }
        if let correction = diagnosis.correction {
            let shown = DisplayText.line(correction.text, limit: Self.shownTextLength)
            Output.complain(
                "The search looks for “\(shown)”. Add --as-typed to search for the words as you typed them.")
        }
        for line in lines(diagnosis) { try Output.line(line) }
    }

    private func lines(_ diagnosis: SearchDiagnosis) -> [StyledText] {
        let item = diagnosis.item
        let title = DisplayText.line(item.displayTitle, limit: shownTitleLength)
        let summary = DisplayText.line(diagnosis.summary)
        var lines: [StyledText] = [
            "\(dim: "@\(item.number)")  \(bold: title)  \(dim: item.scope.bundle)", "\(summary)", "",
        ]
        let facts =
            diagnosis.words.map { ($0.text, $0.occurrences.isEmpty, $0.places) }
            + diagnosis.conditions.map { ($0.name, !$0.isMet, state(of: $0, item)) }
        // Longer names would move the column, so they stand out.
        let width = facts.map(\.0.count).filter { $0 <= Self.maximumWidth }.max() ?? 0
        for (name, isBad, text) in facts {
            let padded = DisplayText.line(name).padded(to: width)
            let text = DisplayText.line(text)
            lines.append(isBad ? "  \(bad: padded)  \(text)" : "  \(padded)  \(text)")
        }
        lines += scores(diagnosis)
        if !diagnosis.suggestions.isEmpty { lines += ["", "To find it:"] }
        lines += diagnosis.suggestions.map { suggestion in
            "  \(DisplayText.line(suggestion.command))  \(dim: "hit \(suggestion.rank)")"
        }
        return lines
    }

    private static let maximumWidth = 24

    private func scores(_ diagnosis: SearchDiagnosis) -> [StyledText] {
        guard let hit = diagnosis.hit else { return [] }
        var lines: [StyledText] = ["", "  its \(hit.parts.sum)"]
        if let last = diagnosis.lastShown, last.number != hit.number {
            let title = DisplayText.line(last.title, limit: Self.valueLength)
            lines.append("  last shown: \(dim: "@\(last.number)")  \(title)")
            lines.append("      \(last.parts.sum)")
        }
        return lines
    }

    private func state(of condition: SearchDiagnosis.Condition, _ item: StoredItem) -> String {
        var values = condition.attributes.map { name in
            let value = item.record.attributes[name].map { JSONValue($0).line(of: name) }
            let shown = value.map { $0.count > Self.valueLength ? $0.prefix(Self.valueLength) + "…" : $0 }
            return "\(name) is \(shown ?? "too long to show")"
        }
        switch condition.kind {
        case .bundle, .app: values = ["it is of \(item.scope.bundle)"]
        case .expiry: values = ["it expired \(item.expires.flatMap(DisplayText.moment) ?? "some time ago")"]
        default: break
        }
        if values.isEmpty, !condition.isMet, [.filter, .query].contains(condition.kind) {
            values = ["it has no such attribute"]
        }
        return (condition.isMet ? "matches" : "does not match")
            + (values.isEmpty ? "" : ": \(values.joined(separator: "; "))")
    }
}

extension SearchDiagnosis.Condition {
    /// The condition as typed by the user, or its sentence.
    fileprivate var name: String { text.isEmpty ? sentence : text }
}

extension SearchDiagnosis.Suggestion {
    /// The command that finds the item.
    fileprivate var command: String {
        var words = ["searchlight search"]
        if limit != 10 { words.append("--limit \(limit)") }
        if let bundle { words.append("--bundle \(bundle.shellWord)") }
        if text.hasPrefix("-") { words.append("--") }
        return (words + [text.shellWord]).joined(separator: " ")
    }
}

extension JSONObject {
    fileprivate init(_ diagnosis: SearchDiagnosis) {
        let item = diagnosis.item
        self = [
            "item": [
                "number": item.number, "bundle": item.scope.bundle, "index": item.scope.index,
                "uniqueIdentifier": item.record.uniqueIdentifier, "title": item.displayTitle,
            ] as JSONObject,
            "query": diagnosis.text, "correction": diagnosis.correction?.text, "outcome": diagnosis.outcome.rawValue,
            "summary": diagnosis.summary,
            "rank": diagnosis.rank, "limit": diagnosis.limit, "total": diagnosis.total.count,
            "totalIsExact": diagnosis.total.isExact,
            "words": diagnosis.words.map { word -> JSONObject in
                [
                    "word": word.text, "mayGoOn": word.isOpen, "tells": word.tells,
                    "occurrences": word.occurrences.map { occurrence -> JSONObject in
                        [
                            "field": occurrence.field.rawValue, "match": occurrence.match.rawValue,
                            "as": occurrence.example,
                        ]
                    },
                    "unsearched": word.unsearched,
                ]
            },
            "conditions": diagnosis.conditions.map { condition -> JSONObject in
                [
                    "kind": condition.kind.rawValue, "text": condition.text, "sentence": condition.sentence,
                    "isMet": condition.isMet,
                    "attributes": item.record.attributes.filter { condition.attributes.contains($0.key) }
                        .mapValues(JSONValue.init),
                ]
            },
            "hit": diagnosis.hit.map(JSONObject.init), "lastShown": diagnosis.lastShown.map(JSONObject.init),
            "suggestions": diagnosis.suggestions.map { suggestion -> JSONObject in
                [
                    "query": suggestion.text, "bundle": suggestion.bundle, "limit": suggestion.limit,
                    "rank": suggestion.rank,
                ]
            },
            "pending": diagnosis.pending,
        ]
    }

    fileprivate init(_ hit: SearchDiagnosis.RankedItem) {
        self = [
            "number": hit.number, "title": hit.title, "score": hit.score.shortened, "kind": "\(hit.parts.fit)",
            "parts": JSONObject(hit.parts),
        ]
    }
}
