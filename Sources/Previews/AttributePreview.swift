// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServiceProtocol
import UniformTypeIdentifiers

/// The preview of an item nobody else renders: made from its own attributes.
public struct AttributePreview: Sendable {
    private let record: ItemRecord
    private let highlighter: Highlighter

    /// The most text that is shown, in characters.
    public static let maximumTextCharacters = 100_000

    /// Creates a preview of an item.
    ///
    /// - Parameters:
    ///   - record: The item.
    ///   - query: What a person typed, to be highlighted.
    public init(_ record: ItemRecord, query: String?) {
        self.record = record
        highlighter = Highlighter(query: query)
    }

    /// The title: the item's own, or its identifier.
    public var title: String {
        DisplayText.line(record.text("title") ?? record.text("displayName") ?? record.uniqueIdentifier)
    }

    /// Facts to show below the title, in order.
    public var facts: [(name: String, value: String)] {
        var facts: [(String, String)] = []
        if let type = record.text("contentType") {
            facts.append(("Kind", UTType(type)?.localizedDescription ?? type))
        }
        let dates = [("Created", "contentCreationDate"), ("Changed", "contentModificationDate"), ("Due", "dueDate")]
        for (name, attribute) in dates {
            guard case .date(let moment)? = record.attributes[attribute] else { continue }
            facts.append((name, Self.day(moment)))
        }
        for (name, attribute) in [("Author", "authorNames"), ("Keywords", "keywords")] {
            let texts = record.texts(attribute).map(DisplayText.line)
            if !texts.isEmpty { facts.append((name, texts.joined(separator: ", "))) }
        }
        if let path = record.contentPath ?? record.text("url") { facts.append(("Where", DisplayText.line(path))) }
        return facts.map { ($0.0, $0.1) }
    }

    private var description: String? { record.text("contentDescription").map(DisplayText.safe) }
    private var text: String? {
        record.text("textContent").map { DisplayText.safe(String($0.prefix(Self.maximumTextCharacters))) }
    }

    /// The day of a moment, in the current time zone: 2026-03-09.
    static func day(_ moment: Double) -> String {
        Date(timeIntervalSinceReferenceDate: moment).formatted(.iso8601.year().month().day())
    }

    // MARK: Text

    /// The preview as text.
    ///
    /// - Parameter highlight: Marks a found word, e.g. with terminal escapes; `nil` leaves it as it is.
    public func text(highlight: ((Substring) -> String)? = nil) -> String {
        func marked(_ text: String) -> String {
            guard let highlight else { return text }
            return highlighter.pieces(of: text).map { $0.isHighlight ? highlight($0.text) : String($0.text) }.joined()
        }
        var lines = [marked(title), String(repeating: "─", count: min(72, max(1, title.count)))]
        let width = facts.map(\.name.count).max() ?? 0
        lines += facts.map { $0.name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + $0.value }
        // The text usually begins with its own description; once is enough.
        if let description, text?.hasPrefix(description) != true { lines += ["", marked(description)] }
        if let text { lines += ["", marked(text)] }
        return lines.joined(separator: "\n")
    }

    // MARK: HTML

    /// The preview as a complete HTML document, which loads nothing and runs nothing.
    public var html: String {
        func marked(_ text: String) -> String {
            highlighter.pieces(of: text).map {
                $0.isHighlight ? "<mark>\(Self.escaped($0.text))</mark>" : Self.escaped($0.text)
            }.joined()
        }
        let rows = facts.map { "<tr><th>\(Self.escaped($0.name))</th><td>\(Self.escaped($0.value))</td></tr>" }
        return """
            <!DOCTYPE html>
            <html><head><meta charset="utf-8">\(ContentPolicy.metaElement)
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(Self.escaped(title))</title>
            <style>
            :root { color-scheme: light dark; }
            body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
            th { text-align: left; font-weight: 500; opacity: .65; padding-right: 1.5rem; vertical-align: top; }
            pre { white-space: pre-wrap; font: inherit; }
            </style></head><body>
            <h1>\(marked(title))</h1>
            <table>\(rows.joined())</table>
            \(description.map { "<p>\(marked($0))</p>" } ?? "")
            \(text.map { "<pre>\(marked($0))</pre>" } ?? "")
            </body></html>

            """
    }

    private static func escaped(_ text: some StringProtocol) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

extension ItemRecord {
    /// The absolute path of the item's content, when that is a file on this machine.
    public var contentPath: String? {
        guard let text = text("contentURL"), let url = URL(string: text), url.isFileURL else { return nil }
        return url.path
    }
}
