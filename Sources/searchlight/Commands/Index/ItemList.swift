// SPDX-License-Identifier: Apache-2.0
import Previews
import SearchIndex

/// Items as “query” and “list” print them.
struct ItemList {
    var page: QueryPage
    /// The attributes that are shown; `nil` is none in text, and all in JSON.
    var attributes: [String]?

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
        if json { return try Output.printJSON(ItemListReport(items: reports, hasMore: page.next != nil)) }
        for (item, report) in zip(page.items, reports) {
            let index = report.index.map { " (\($0))" } ?? ""
            try Output.line("\(dim: "@\(report.number)")  \(bold: DisplayText.line(item.displayTitle))")
            let indent = String(repeating: " ", count: "@\(report.number)".count + 2)
            try Output.line(
                "\(indent)\(dim: "\(report.bundle)\(index) · \(DisplayText.line(report.uniqueIdentifier))")")
            for name in attributes ?? [] {
                guard let value = report.attributes[name] else { continue }
                try Output.line("\(indent)\(DisplayText.line(name)): \(value.line)")
            }
        }
        if page.next != nil {
            try Output.line("\(dim: "\(counted(page.items.count, "item")); there may be more, --limit shows them")")
        }
    }
}

private struct ItemListReport: Encodable {
    var items: [ItemReport]
    /// Whether the limit ended the list.
    var hasMore: Bool
}
