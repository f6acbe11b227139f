// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Previews
import SearchIndex
import SearchlightEngine

/// A list of items, formatted for “query” and “list”.
struct ItemList {
    var page: QueryPage
    /// The attributes to print; `nil` means no attributes in text, and all attributes in JSON.
    var attributes: [String]?
    /// The user-visible names of the apps, by bundle identifier.
    var names: [String: String]

    func print(json: Bool) throws {
        let reports = page.items.map { item in
            var report = ItemReport(item)
            if let attributes {
                report.attributes = report.attributes.filter { attributes.contains($0.key) }
                let keys = report.customKeys?.filter { attributes.contains($0.key) } ?? [:]
                report.customKeys = keys.isEmpty ? nil : keys
            }
            return report
        }
        if json {
            // The value of “next” can be passed to --after.
            return try Output.printJSON(
                ["items": reports, "hasMore": page.next != nil, "next": page.next?.number] as JSONObject)
        }
        for (item, report) in zip(page.items, reports) {
            let app = DisplayText.line(names[report.bundle] ?? report.bundle)
            let index = report.index.map { " (\($0))" } ?? ""
            try Output.line(
                "\(dim: "@\(report.number)")  \(bold: DisplayText.line(item.displayTitle, limit: shownTitleLength))")
            let indent = String(repeating: " ", count: "@\(report.number)".count + 2)
            try Output.line(
                "\(indent)\(dim: "\(app)\(index) · \(DisplayText.line(report.uniqueIdentifier))")")
            for name in attributes ?? [] {
                guard let value = report.attributes[name] else { continue }
                try Output.line("\(indent)\(DisplayText.line(name)): \(value.line(of: name))")
            }
        }
        if let next = page.next {
            let count = counted(page.items.count, "item")
            try Output.line(
                "\(dim: "\(count); there may be more. Raise --limit, or continue with --after @\(next.number)")"
            )
        }
    }
}

extension EngineClient {
    /// Returns the user-visible names of the items' apps, by bundle identifier.
    func displayNames(in items: [StoredItem]) async throws(EngineError) -> [String: String] {
        items.isEmpty ? [:] : try await perform(DisplayNamesCall(of: items.map(\.scope.bundle)))
    }
}

/// The maximum length of a title in lists, in characters. Longer titles are truncated.
let shownTitleLength = 200

/// The option for continuing a list.
struct ListPlace: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Show items after the item with this number, such as the last item of the previous page.",
            valueName: "@number"))
    var after: String?

    func validate() throws {
        guard after == nil || cursor != nil else {
            throw ValidationError("--after needs the number of an item, such as --after @12.")
        }
    }

    /// The position after the named item, which may no longer exist.
    var cursor: QueryCursor? {
        guard let after, let number = Int64(after.hasPrefix("@") ? String(after.dropFirst()) : after) else {
            return nil
        }
        return QueryCursor(after: number)
    }
}
