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
            The last word may be the beginning of one. Words in double quotes must stand side by side (quote the whole \
            for your shell: searchlight search '"release notes"'). A word after a minus sign must not occur (put -- \
            first: searchlight search -- notes -release). Case and accents do not matter.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The words.")
    var words: [String]
    @Option(name: .shortAndLong, help: "Show at most so many items.")
    var limit = 10
    @Option(help: "Only items of this bundle.")
    var bundle: String?

    func validate() throws {
        guard (1...10_000).contains(limit) else { throw ValidationError("--limit must be between 1 and 10000.") }
    }

    func run() async throws {
        try await searchlight.run(json: options.json) {
            let text = words.joined(separator: " ")
            let engine = try options.engine(.readOnly)
            let (hits, total) = try await engine.search(text, bundle: bundle, limit: limit)
            if options.json {
                return try Output.printJSON(SearchReport(query: text, total: total, hits: hits))
            }
            let highlighter = Highlighter(query: text)
            for hit in hits { print(describe(hit.item, highlighter)) }
            if hits.isEmpty {
                Output.complain("Nothing is found for “\(DisplayText.line(text))”.")
            } else if total > hits.count {
                print(Output.dim("\(hits.count) of \(total) items; --limit shows more"))
            }
            warnOfOwedJobs(engine)
        }
    }

    private func describe(_ item: StoredItem, _ highlighter: Highlighter) -> String {
        func marked(_ text: String) -> String {
            highlighter.pieces(of: text).map { $0.isHighlight ? Output.found($0.text) : String($0.text) }.joined()
        }
        let number = "@\(item.number)"
        let indent = String(repeating: " ", count: number.count + 2)
        let kind = item.contentType.map { UTType($0)?.localizedDescription ?? $0 }
        let place = item.record.contentPath.map(DisplayText.line)
        let facts = [kind, place ?? item.scope.bundle].compactMap { $0 }.joined(separator: " · ")
        var lines = [
            Output.dim(number) + "  " + Output.bold(DisplayText.line(item.displayTitle)),
            indent + Output.dim(facts),
        ]
        let source = [item.record.text("textContent"), item.record.text("contentDescription")].compactMap { $0 }
        if let text = source.first(where: { !highlighter.ranges(in: $0).isEmpty }) ?? source.first, !text.isEmpty {
            lines.append(indent + marked(highlighter.snippet(of: text, length: 100)))
        }
        return lines.joined(separator: "\n")
    }
}

/// Says on standard error what is missing from the index because a reindex was not acknowledged.
func warnOfOwedJobs(_ engine: SearchlightEngine) {
    for job in engine.owedJobs {
        Output.complain(
            "Note: \(job.bundle) still owes a reindex; items may be missing. Run: searchlight reindex \(job.bundle)")
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
    }
    var query: String
    var total: Int
    var items: [Hit]

    init(query: String, total: Int, hits: [SearchHit]) {
        self.query = query
        self.total = total
        let highlighter = Highlighter(query: query)
        items = hits.map { hit in
            let text = hit.item.record.text("textContent") ?? hit.item.record.text("contentDescription")
            return Hit(
                number: hit.item.number, score: (hit.score * 1000).rounded() / 1000, bundle: hit.item.scope.bundle,
                index: hit.item.scope.index, uniqueIdentifier: hit.item.record.uniqueIdentifier,
                title: hit.item.displayTitle, contentType: hit.item.contentType, path: hit.item.record.contentPath,
                snippet: text.map { highlighter.snippet(of: $0, length: 160) })
        }
    }
}
