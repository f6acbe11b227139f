// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import JSONText
import MetadataQuery
import Previews
import SearchIndex
import SearchlightEngine

/// The reason why a tool has no result, as a sentence for the assistant.
struct ToolProblem: Error {
    var message: String

    init(_ message: String) { self.message = message }
}

/// The result of a tool.
struct ToolAnswer {
    var text: String
    var structured: JSONValue

    /// The result in the protocol's format.
    var result: JSONValue {
        ["content": [["type": "text", "text": .text(text)]], "structuredContent": structured, "isError": false]
    }
}

/// The tools for assistants. Each request is checked against the grants and logged before its
/// answer is returned.
struct AssistantTools: Sendable {
    /// The index; `nil` if there is none yet.
    var store: (any EngineClient)?
    let grants: AssistantGrantsFile
    let log: AssistantLog
    let now: @Sendable () -> Double
    var open: (@Sendable (Int64) async throws -> String)?

    /// The maximum number of hits, and of characters per passage in a list.
    private static let (maximumHits, passageCharacters) = (50, 600)
    /// The default and the maximum number of text bytes that one call reads.
    private static let (usualBytes, maximumBytes) = (16 << 10, 64 << 10)
    private static let (titleCharacters, valueCharacters) = (200, 500)

    func has(_ name: String) -> Bool {
        switch name {
        case "search", "similar", "read_item", "list_apps": true
        case "open_item": open != nil
        default: false
        }
    }

    func call(
        _ name: String, _ arguments: [String: JSONValue], _ assistant: String
    ) async throws(ToolProblem) -> ToolAnswer {
        guard store != nil else { throw Self.isEmpty }
        let access = try access(of: assistant, name, query: Self.text("query", arguments))
        switch name {
        case "search": return try await search(arguments, access)
        case "similar": return try await similar(arguments, access)
        case "read_item": return try await readItem(arguments, access)
        case "open_item": return try await openItem(arguments, access)
        default: return try await listApps(access)
        }
    }

    private static let isEmpty = ToolProblem("The index is empty. The user can fill it: searchlight setup")

    /// Runs an index call, and explains its failure.
    private func fromIndex<Value>(
        _ body: (any EngineClient) async throws(EngineError) -> Value
    ) async throws(ToolProblem) -> Value {
        guard let store else { throw Self.isEmpty }
        do throws(EngineError) { return try await body(store) } catch {
            if case .index(.noStore) = error { throw Self.isEmpty }
            throw ToolProblem(error.description)
        }
    }

    // MARK: Access

    /// An assistant's access rights during one request.
    private struct Access {
        let grants: AssistantGrants
        let assistant: String
        let tool: String
        let query: String?

        var isForAll: Bool { grants.assistants[assistant]?.all ?? false }

        func allows(_ bundle: String) -> Bool { grants.allows(assistant, bundle) }
    }

    private func access(
        of assistant: String, _ tool: String, query: String?
    ) throws(ToolProblem) -> Access {
        do throws(AssistantFileError) {
            let grants = try grants.read()
            let access = Access(
                grants: grants, assistant: assistant, tool: tool,
                query: query.map { String($0.prefix(UserQuery.maximumBytes)) })
            guard grants.assistants[assistant] == nil else { return access }
            try log.append(
                .init(time: now(), assistant: assistant, tool: tool, query: access.query, isDenied: true))
        } catch {
            throw ToolProblem(error.description)
        }
        let shown = DisplayText.line(assistant, limit: AssistantGrants.maximumNameBytes)
        throw ToolProblem(
            """
            The user has not granted “\(shown)” access to any app. Only the user can do that, in a terminal: \
            searchlight access grant '\(shown)' BUNDLE, or --all for all apps.
            """)
    }

    /// Logs the items in an answer. If the entry cannot be written, there is no answer.
    private func logged(_ access: Access, _ items: [StoredItem]) throws(ToolProblem) {
        do throws(AssistantFileError) {
            try log.append(
                .init(
                    time: now(), assistant: access.assistant, tool: access.tool, query: access.query,
                    items: items.map(\.number), bundles: Set(items.map(\.scope.bundle)).sorted()))
        } catch {
            throw ToolProblem(error.description)
        }
    }

    // MARK: Searching

    private func search(
        _ arguments: [String: JSONValue], _ access: Access
    ) async throws(ToolProblem) -> ToolAnswer {
        guard let query = access.query, !query.allSatisfy(\.isWhitespace) else {
            throw ToolProblem("Pass the words or the question as “query”.")
        }
        if let problem = Self.lengthProblem(query) { throw ToolProblem(problem) }
        var search = try await scoped(query, arguments, access)
        search.countsUpTo = 1000
        // Corrections are based on the words of all apps.
        search.correctsSpelling = access.isForAll
        let request = search
        let found = try await fromIndex { store throws(EngineError) in try await store.find(request) }
        let shown = found.correction.map { "Nothing has all words as typed; these are for “\($0.text)”. " } ?? ""
        return try listed(found.hits, access) { count in
            let total = found.total.map { $0.isExact ? "\($0.count)" : "more than \($0.count)" } ?? "\(count)"
            return count == 0 ? "Nothing is found in the granted apps." : "\(shown)\(count) of \(total) items:"
        }
    }

    private func similar(
        _ arguments: [String: JSONValue], _ access: Access
    ) async throws(ToolProblem) -> ToolAnswer {
        let item = try await item(arguments, access)
        let request = try await scoped("", arguments, access)
        let found = try await fromIndex { store throws(EngineError) in
            try await store.perform(SimilarCall(to: item.number, request))
        }
        let kind = found.basis == .meaning ? "a similar meaning" : "the same rare words"
        return try listed(found.hits, access) { count in
            count == 0 ? "No item of the granted apps has \(kind)." : "\(count) items have \(kind):"
        }
    }

    /// Returns a search restricted to the granted apps, with the arguments “app” and “limit”.
    private func scoped(
        _ text: String, _ arguments: [String: JSONValue], _ access: Access
    ) async throws(ToolProblem) -> ItemSearch {
        let app = try Self.text("app", arguments, orProblem: "“app” is the bundle identifier of an app; see list_apps.")
        if let app, !access.allows(app) { throw Self.noGrant(app) }
        var search = ItemSearch(text, bundle: app)
        search.limit = try Self.number("limit", arguments, 1...Self.maximumHits) ?? 10
        search.snippetLength = Self.passageCharacters
        search.includesPending = false
        search.attributes = ["contentModificationDate", "contentCreationDate", "startDate", "authorNames"]
        if app == nil {
            let bundles = try await fromIndex { store throws(EngineError) in try await store.perform(ItemCountsCall()) }
            search.excludedBundles = Set(bundles.keys.filter { !access.allows($0) })
        }
        return search
    }

    /// Logs hits, and returns them as an answer.
    ///
    /// - Parameter introduction: Returns the first line for a given number of hits.
    private func listed(
        _ found: [FoundItem], _ access: Access, _ introduction: (Int) -> String
    ) throws(ToolProblem) -> ToolAnswer {
        // An app may have donated its first items after the bundles were counted.
        let hits = found.filter { access.allows($0.item.scope.bundle) }
        try logged(access, hits.map(\.item))
        var text = MarkedText()
        for hit in hits {
            let facts = [hit.bundleName, hit.kindName, hit.item.date].compactMap { $0 }
                .map { DisplayText.line($0, limit: Self.titleCharacters) }.joined(separator: ", ")
            text.add(
                "Item \(hit.item.number): \(DisplayText.line(hit.title, limit: Self.titleCharacters)) (\(facts))",
                hit.snippet.map { DisplayText.line($0.text, limit: Self.passageCharacters) })
        }
        let first = introduction(hits.count)
        return ToolAnswer(
            text: hits.isEmpty ? first : text.whole(first),
            structured: [
                "items": .list(
                    hits.map { hit in
                        .object([
                            ("item", .integer(hit.item.number)), ("title", .text(DisplayText.line(hit.title))),
                            ("app", .text(hit.item.scope.bundle)), ("appName", .text(hit.bundleName)),
                            ("kind", hit.kindName.map { .text($0) }), ("date", hit.item.date.map { .text($0) }),
                            ("passage", hit.snippet.map { .text(DisplayText.safe($0.text)) }),
                            ("uri", .text("searchlight://item/\(hit.item.number)")),
                        ])
                    }), "isData": true,
            ])
    }

    // MARK: Reading

    private func readItem(
        _ arguments: [String: JSONValue], _ access: Access
    ) async throws(ToolProblem) -> ToolAnswer {
        let item = try await item(arguments, access)
        let start = try Self.number("offset", arguments, 0...Int(Int32.max)) ?? 0
        let length = try Self.number("length", arguments, 1...Self.maximumBytes) ?? Self.usualBytes
        let whole = item.record.text("textContent") ?? item.record.text("contentDescription") ?? ""
        let (part, end) = whole.part(from: start, bytes: length)
        try logged(access, [item])
        let app = try await fromIndex { store throws(EngineError) in
            try await store.perform(DisplayNamesCall(of: [item.scope.bundle]))
        }
        let title = DisplayText.line(item.displayTitle, limit: Self.titleCharacters)
        let name = DisplayText.line(app[item.scope.bundle] ?? item.scope.bundle, limit: Self.titleCharacters)
        var text = MarkedText()
        text.add("Item \(item.number): \(title) (\(name))", item.facts(limit: Self.valueCharacters))
        if !part.isEmpty { text.add("Text, bytes \(start) to \(end) of \(whole.utf8.count)", DisplayText.safe(part)) }
        let rest = end < whole.utf8.count ? "The text goes on: pass offset \(end)." : "This is the end of the text."
        return ToolAnswer(
            text: text.whole(rest),
            structured: .object([
                ("item", .integer(item.number)), ("title", .text(title)), ("app", .text(item.scope.bundle)),
                ("appName", .text(name)), ("text", .text(DisplayText.safe(part))),
                ("nextOffset", end < whole.utf8.count ? .integer(Int64(end)) : nil), ("isData", true),
            ]))
    }

    private func item(
        _ arguments: [String: JSONValue], _ access: Access
    ) async throws(ToolProblem) -> StoredItem {
        let number: Int64? =
            switch arguments["item"] {
            case .integer(let number)?: number
            case .text(let text)?: Int64(text.hasPrefix("@") ? String(text.dropFirst()) : text)
            default: nil
            }
        guard let number else { throw ToolProblem("Pass the number of an item of a search as “item”.") }
        let item: StoredItem? = try await fromIndex { store throws(EngineError) in
            do throws(EngineError) { return try await store.item(named: "@\(number)") } catch {
                guard case .itemNotFound = error else { throw error }
                return nil
            }
        }
        // The answer is the same in both cases, so that numbers do not reveal which apps exist.
        guard let item, access.allows(item.scope.bundle) else {
            throw ToolProblem("There is no item \(number) in the granted apps.")
        }
        return item
    }

    private func openItem(
        _ arguments: [String: JSONValue], _ access: Access
    ) async throws(ToolProblem) -> ToolAnswer {
        let item = try await item(arguments, access)
        guard let open else { throw ToolProblem("Assistants may not open items.") }
        try logged(access, [item])
        do {
            let app = try await open(item.number)
            return ToolAnswer(text: "Opened in \(DisplayText.line(app)).", structured: ["app": .text(app)])
        } catch {
            throw ToolProblem("\(error)")
        }
    }

    // MARK: Apps

    private func listApps(_ access: Access) async throws(ToolProblem) -> ToolAnswer {
        let counts = try await fromIndex { store throws(EngineError) in try await store.perform(ItemCountsCall()) }
            .filter { access.allows($0.key) }.sorted { $0.key < $1.key }
        let names = try await fromIndex { store throws(EngineError) in
            try await store.perform(DisplayNamesCall(of: counts.map(\.key)))
        }
        try logged(access, [])
        var text = MarkedText()
        for (bundle, count) in counts {
            text.add("\(bundle): \(DisplayText.line(names[bundle] ?? bundle, limit: 80)), \(count) items", nil)
        }
        return ToolAnswer(
            text: counts.isEmpty ? "The granted apps have no items." : text.whole("The granted apps:"),
            structured: [
                "apps": .list(
                    counts.map { bundle, count in
                        [
                            "app": .text(bundle), "name": .text(names[bundle] ?? bundle),
                            "items": .integer(Int64(count)),
                        ]
                    })
            ])
    }

    // MARK: Arguments

    private static func noGrant(_ bundle: String) -> ToolProblem {
        ToolProblem("The user has not granted access to \(DisplayText.line(bundle, limit: 100)).")
    }

    private static func lengthProblem(_ query: String) -> String? {
        query.utf8.count > UserQuery.maximumBytes ? "A query has at most \(UserQuery.maximumBytes) bytes." : nil
    }

    private static func text(_ name: String, _ arguments: [String: JSONValue]) -> String? {
        if case .text(let text)? = arguments[name] { text } else { nil }
    }

    private static func text(
        _ name: String, _ arguments: [String: JSONValue], orProblem problem: String
    ) throws(ToolProblem) -> String? {
        switch arguments[name] {
        case nil, .null?: return nil
        case .text(let text)? where !text.isEmpty && text.utf8.count <= 1024: return text
        default: throw ToolProblem(problem)
        }
    }

    private static func number(
        _ name: String, _ arguments: [String: JSONValue], _ range: ClosedRange<Int>
    ) throws(ToolProblem) -> Int? {
        guard let value = arguments[name], value != .null else { return nil }
        guard let number = value.number, number.rounded() == number, let whole = Int(exactly: number),
            range.contains(whole)
        else { throw ToolProblem("“\(name)” is a number from \(range.lowerBound) to \(range.upperBound).") }
        return whole
    }

    // MARK: Descriptions

    /// The tools with their arguments, as JSON Schema.
    var descriptions: [JSONValue] {
        let item: JSONValue = ["type": "integer", "description": "The number of an item of a search."]
        let readOnly: JSONValue = ["readOnlyHint": true, "openWorldHint": false]
        var all: [JSONValue] = [
            [
                "name": "search", "title": "Search the user's apps",
                "description": .text(
                    """
                    Finds items of the user's apps (notes, mail, documents, contacts …) by words or a question, the best first. \
                    The query may have filters: kind:pdf, from:anna, before:2026-01-31, after:"last week", tag:work; quotes \
                    hold words together, a minus sign excludes. Each item has a passage; read_item has the text.
                    """),
                "inputSchema": [
                    "type": "object", "required": ["query"],
                    "properties": [
                        "query": ["type": "string", "description": "Words, a question, and filters."],
                        "app": ["type": "string", "description": "Only items of this app: a bundle identifier."],
                        "limit": ["type": "integer", "minimum": 1, "maximum": .integer(Int64(Self.maximumHits))],
                    ],
                ], "annotations": readOnly,
            ],
            [
                "name": "similar", "title": "Find similar items",
                "description":
                    "Finds the items that are similar to an item, the most similar first, each with a passage.",
                "inputSchema": [
                    "type": "object", "required": ["item"],
                    "properties": [
                        "item": item,
                        "app": ["type": "string", "description": "Only items of this app: a bundle identifier."],
                        "limit": ["type": "integer", "minimum": 1, "maximum": .integer(Int64(Self.maximumHits))],
                    ],
                ], "annotations": readOnly,
            ],
            [
                "name": "read_item", "title": "Read an item",
                "description": "The title, facts and text of an item, in parts of some thousand bytes.",
                "inputSchema": [
                    "type": "object", "required": ["item"],
                    "properties": [
                        "item": item,
                        "offset": [
                            "type": "integer", "minimum": 0, "description": "The byte of the text to begin at.",
                        ],
                        "length": ["type": "integer", "minimum": 1, "maximum": .integer(Int64(Self.maximumBytes))],
                    ],
                ], "annotations": readOnly,
            ],
            [
                "name": "list_apps", "title": "List the apps",
                "description": "The apps whose items this assistant may read, and the number of their items.",
                "inputSchema": ["type": "object", "properties": [:]], "annotations": readOnly,
            ],
        ]
        if open != nil {
            all.append([
                "name": "open_item", "title": "Open an item",
                "description": "Opens an item in its app, on the user's screen.",
                "inputSchema": ["type": "object", "required": ["item"], "properties": ["item": item]],
                "annotations": ["readOnlyHint": false, "destructiveHint": false, "openWorldHint": false],
            ])
        }
        return all
    }
}

extension StoredItem {
    /// The content's date in ISO 8601.
    fileprivate var date: String? {
        for name in ["startDate", "contentModificationDate", "contentCreationDate"] {
            if case .date(let moment)? = record.attributes[name] { return DisplayText.moment(moment) }
        }
        return nil
    }

    /// Returns the short attributes, one per line.
    fileprivate func facts(limit: Int) -> String? {
        let lines = record.attributes.sorted { $0.key < $1.key }.compactMap { name, value -> String? in
            guard name != "textContent", name != "title" else { return nil }
            if case .date(let moment) = value { return DisplayText.moment(moment).map { "\(name): \($0)" } }
            let text = value.texts.joined(separator: "; ")
            return text.isEmpty ? nil : "\(DisplayText.line(name)): \(DisplayText.line(text, limit: limit))"
        }
        return lines.isEmpty ? nil : lines.prefix(60).joined(separator: "\n")
    }
}

extension String {
    /// Returns the part that starts at a byte, without splitting a character, and the position
    /// after it.
    fileprivate func part(from start: Int, bytes: Int) -> (text: String, end: Int) {
        guard start < utf8.count else { return ("", utf8.count) }
        let (first, last) = (start, Swift.min(utf8.count, start + bytes))
        func boundary(_ offset: Int) -> Index {
            var index = utf8.index(utf8.startIndex, offsetBy: offset)
            while index > startIndex, Index(index, within: unicodeScalars) == nil { index = utf8.index(before: index) }
            return index
        }
        let (from, to) = (boundary(first), boundary(last))
        // At least one scalar, so that reading always advances.
        let end = to > from ? to : unicodeScalars.index(after: from)
        return (String(self[from..<end]), utf8.distance(from: utf8.startIndex, to: end))
    }
}
