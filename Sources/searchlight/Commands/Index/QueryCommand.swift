// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ExtensionHost
import MetadataQuery
import Previews
import SearchIndex
import SearchlightEngine

struct QueryCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Find the items that match a metadata query.",
        discussion: """
            For example: searchlight query 'title == "*report*"cd && contentCreationDate >= $time.this_year'. Quote the \
            whole for your shell. Items are in the order of their first donation. An invalid query ends with status 64, and \
            a caret shows the position of the error.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The query.")
    var query: String
    @Option(help: "Show only items of this bundle.", completion: BundleNames.completion)
    var bundle: String?
    @Option(help: ArgumentHelp("Show these attributes, separated by commas.", valueName: "names"))
    var attributes: String?
    @Option(
        name: .shortAndLong, parsing: .unconditional, help: ListLimit.help("Show at most this many items"),
        transform: ListLimit.items)
    var limit = 100
    @OptionGroup var place: ListPlace
    @OptionGroup var list: NumbersFlag
    @Flag(help: "Print only the number of items.")
    var count = false
    @Flag(help: "Show the plan of the query without running it.")
    var explain = false

    func validate() throws {
        try refuseEmpty(bundle, "--bundle")
        guard !count || !explain else { throw ValidationError("--count and --explain exclude each other.") }
        guard !list.numbers || !(count || explain || options.json || attributes != nil) else {
            throw ValidationError("--numbers excludes --count, --explain, --attributes and --json.")
        }
    }

    private var shownAttributes: [String]? {
        attributes.map { $0.split(separator: ",").map { AttributeNames.propertyName(for: String($0)) } }
    }

    func perform() async throws {
        let expression: QueryExpression
        do throws(QuerySyntaxError) {
            expression = try QueryExpression(parsing: query)
        } catch {
            throw try failure(error)
        }
        try await options.withStore(.read) { store in try await answer(expression, from: store) }
    }

    private func answer(_ expression: QueryExpression, from store: any EngineClient) async throws {
        if explain { return try show(try await store.perform(ExplainCall(expression, bundle: bundle))) }
        await warnOfLocked(bundle, in: store)
        if count {
            let total = try await store.perform(CountCall(expression, bundle: bundle))
            if options.json { return try Output.printJSON(["total": total]) }
            try Output.line("\(total)")
            return warnOfPending(try await store.perform(PendingCall()))
        }
        let page = try await store.items(
            matching: expression, bundle: bundle, limit: limit, after: place.cursor)
        defer { warnOfPending(page.pending) }
        if list.numbers {
            try list.print(page.items)
        } else {
            let names = options.json ? [:] : try await store.displayNames(in: page.items)
            try ItemList(page: page, attributes: shownAttributes, names: names).print(json: options.json)
        }
        if page.items.isEmpty, !options.json {
            Output.complain(
                place.after == nil ? "No item matches the query." : "No further item matches the query.")
            if place.after == nil { tellOfMisspelling(in: expression) }
            try await warnOfUnknown(bundle, in: store)
        }
    }

    /// Suggests similar attribute names for a query without results. Using an attribute that no
    /// item has is not an error.
    private func tellOfMisspelling(in expression: QueryExpression) {
        for name in expression.attributeNames.subtracting(AttributeNames.standard).sorted() {
            let known = AttributeNames.standard(for: name).sorted()
            guard let near = SpellingSuggestions.sentence(to: name, among: known) else { continue }
            Output.complain("Note: “\(Output.tidied(name))” is not a predefined attribute. \(near)")
        }
    }

    /// Reports an invalid query, with a caret below the position, or as the message in a JSON
    /// object.
    private func failure(_ error: QuerySyntaxError) throws -> any Error {
        if options.json { return CommandFailure(message: error.description, status: .usage) }
        Output.fail(error.description)
        let excerpt = QueryExcerpt(query, at: error.position)
        Output.complain("  \(excerpt.line)")
        Output.complain("  \(String(repeating: " ", count: excerpt.indent))^")
        return ExitCode(ExitStatus.usage.rawValue)
    }

    private func show(_ plan: QueryPlan) throws {
        if options.json { return try Output.printJSON(JSONObject(plan)) }
        try Output.line(plan.usesIndex ? "Indexes choose the items." : "All items are read.")
        try Output.line(
            plan.isExact ? "The indexes alone decide." : "The query is evaluated on the records of these items.")
        for step in plan.steps { try Output.line("  \(step)") }
        try Output.line("\(dim: plan.sql)")
    }
}

/// An excerpt of a query around a position, for displaying a caret below it.
struct QueryExcerpt {
    let line: String
    /// The number of terminal columns that precede the position.
    let indent: Int

    private static let contextLength = 60

    init(_ query: String, at position: QuerySyntaxError.Position) {
        let lines = query.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        let scalars = lines.indices.contains(position.line - 1) ? lines[position.line - 1] : lines[lines.count - 1]
        let before = scalars.prefix(max(0, position.column - 1))
        let after = scalars.dropFirst(before.count)
        let start = before.suffix(Self.contextLength)
        let end = after.prefix(Self.contextLength)
        let head = (start.count < before.count ? "…" : "") + Self.oneLine(start)
        line = head + Self.oneLine(end) + (end.count < after.count ? "…" : "")
        indent = head.reduce(0) { $0 + Self.width($1) }
    }

    /// Returns the text as shown in a terminal, on one line.
    private static func oneLine(_ scalars: Substring.UnicodeScalarView) -> String {
        String(DisplayText.safe(String(String.UnicodeScalarView(scalars))).map { $0.isWhitespace ? " " : $0 })
    }

    /// Returns the width of a character in columns: two for East Asian scripts and emoji.
    private static func width(_ character: Character) -> Int {
        switch character.unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}

extension JSONObject {
    fileprivate init(_ plan: QueryPlan) {
        self = [
            "usesIndex": plan.usesIndex, "isExact": plan.isExact, "steps": plan.steps, "sql": plan.sql,
            "arguments": plan.argumentCount,
        ]
    }
}
