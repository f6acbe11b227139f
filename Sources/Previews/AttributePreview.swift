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
    /// The most that is shown of the title and of each fact, in characters; then an ellipsis.
    public static let maximumLineCharacters = 1000
    /// The most elements of a list that are shown.
    private static let maximumListElements = 100

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
        Self.line(record.text("title") ?? record.text("displayName") ?? record.uniqueIdentifier)
    }

    /// Facts to show below the title, in order.
    public var facts: [(name: String, value: String)] {
        var facts: [(String, String)] = []
        if let type = record.text("contentType") {
            facts.append(("Kind", Self.line(UTType(type)?.localizedDescription ?? type)))
        }
        let dates = [("Created", "contentCreationDate"), ("Changed", "contentModificationDate"), ("Due", "dueDate")]
        for (name, attribute) in dates {
            guard case .date(let moment)? = record.attributes[attribute] else { continue }
            facts.append((name, Self.day(moment) ?? "unknown"))
        }
        for (name, attribute) in [("Author", "authorNames"), ("Keywords", "keywords")] {
            let texts = record.texts(attribute).prefix(Self.maximumListElements).map(Self.line)
            if !texts.isEmpty { facts.append((name, Self.line(texts.joined(separator: ", ")))) }
        }
        if let path = record.contentPath ?? record.text("url") { facts.append(("Where", Self.line(path))) }
        return facts.map { ($0.0, $0.1) }
    }

    /// The description, unless the text begins with it, or with the title and it: once is enough.
    private var description: String? {
        guard let description = record.text("contentDescription").map(Self.passage) else { return nil }
        guard let content else { return description }
        var lead = DisplayText.line(String(description.prefix(120)))
        if lead.hasSuffix("…") { lead.removeLast() }
        return DisplayText.line(String(content.prefix(2_000))).contains(lead) ? nil : description
    }
    private var content: String? { record.text("textContent").map(Self.passage) }

    private static func line(_ text: String) -> String { DisplayText.line(text, limit: maximumLineCharacters) }
    private static func passage(_ text: String) -> String {
        DisplayText.safe(String(text.prefix(maximumTextCharacters)))
    }

    /// The day of a moment in a time zone: 2026-03-09. `nil` for a moment that is no time.
    static func day(_ moment: Double, in zone: TimeZone = .current) -> String? {
        guard DisplayText.datableMoments.contains(moment) else { return nil }
        let style = Date.ISO8601FormatStyle(timeZone: zone).year().month().day()
        return Date(timeIntervalSinceReferenceDate: moment).formatted(style)
    }

    // MARK: Text

    /// The preview as text.
    public var text: String { textPieces.map { String($0.text) }.joined() }

    /// The preview as text cut at what was searched for: pieces in order, each with whether it is to be highlighted.
    public var textPieces: [(text: Substring, isHighlight: Bool)] {
        var pieces = highlighter.pieces(of: title)
        func add(_ text: String) { pieces.append((text[...], false)) }
        add("\n" + String(repeating: "─", count: min(72, max(1, title.count))))
        let width = facts.map(\.name.count).max() ?? 0
        for fact in facts {
            add("\n" + fact.name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + fact.value)
        }
        if let description {
            add("\n\n")
            pieces += highlighter.pieces(of: description)
        }
        if let content {
            add("\n\n")
            pieces += highlighter.pieces(of: content)
        }
        return pieces
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
            \(content.map { "<pre>\(marked($0))</pre>" } ?? "")
            </body></html>

            """
    }

    private static func escaped(_ text: some StringProtocol) -> String {
        // By scalars: as a character, "<" melts with a mark after it or a sign such as U+0600 before it, and would stay.
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}

extension ItemRecord {
    /// The absolute path of the item's content, when that is a file on this machine.
    public var contentPath: String? {
        guard let text = text("contentURL"), let url = URL(string: text), url.isFileURL else { return nil }
        guard ["", "localhost"].contains(url.host(percentEncoded: false)?.lowercased() ?? "") else { return nil }
        let path = url.path(percentEncoded: false)
        // The system would end the path at a NUL, and open another file.
        return path.utf8.first == UInt8(ascii: "/") && !path.utf8.contains(0) ? path : nil
    }
}
