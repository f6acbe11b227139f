// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import UniformTypeIdentifiers

/// A preview that is made from an item's attributes, for items that no extension renders.
public struct AttributePreview: Sendable {
    private let record: ItemRecord
    let highlighter: Highlighter
    let thumbnail: Thumbnail?

    /// The maximum length of the displayed text, in characters.
    public static let maximumTextCharacters = 100_000
    /// The maximum length of the title and of each fact, in characters. A longer text is truncated
    /// with an ellipsis.
    public static let maximumLineCharacters = 1000
    /// The maximum number of displayed list elements.
    private static let maximumListElements = 100

    /// Creates a preview of an item.
    ///
    /// - Parameters:
    ///   - record: The item.
    ///   - query: The user's query, whose words are highlighted.
    ///   - thumbnail: The thumbnail that was read from ``ItemRecord/thumbnailReference``.
    public init(_ record: ItemRecord, query: String?, thumbnail: Thumbnail? = nil) {
        self.record = record
        self.thumbnail = thumbnail
        highlighter = Highlighter(query: query)
    }

    /// The item's title, or its identifier.
    public var title: String {
        Self.line(record.text("title") ?? record.text("displayName") ?? record.uniqueIdentifier)
    }

    /// The facts to show below the title, in order.
    public var facts: [(name: String, value: String)] {
        var facts: [(String, String)] = []
        if let type = record.text("contentType") {
            facts.append(("Kind", Self.line(UTType(type)?.kindName ?? type)))
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
        if let path = record.contentPath ?? record.text("url") ?? record.text("path") {
            facts.append(("Where", Self.line(path)))
        }
        return facts.map { ($0.0, $0.1) }
    }

    /// The description; `nil` if the start of the text repeats it.
    public var description: String? {
        guard let description = record.text("contentDescription").map(Self.passage) else { return nil }
        guard let content else { return description }
        var lead = DisplayText.line(String(description.prefix(120)))
        if lead.hasSuffix("…") { lead.removeLast() }
        return DisplayText.line(String(content.prefix(2_000))).contains(lead) ? nil : description
    }
    /// The item's text. It is truncated after ``maximumTextCharacters``, with an ellipsis.
    public var content: String? { record.text("textContent").map(Self.passage) }

    private static func line(_ text: String) -> String { DisplayText.line(text, limit: maximumLineCharacters) }
    private static func passage(_ text: String) -> String {
        let shown = text.prefix(maximumTextCharacters)
        return DisplayText.safe(String(shown)) + (shown.endIndex < text.endIndex ? "…" : "")
    }

    /// Returns the day of a moment in a time zone, such as “9 Mar 2026”; `nil` if the moment has no
    /// date.
    static func day(_ moment: Double, in zone: TimeZone = .current, _ locale: Locale = .ofDates) -> String? {
        guard DisplayText.datableMoments.contains(moment) else { return nil }
        let style = Date.FormatStyle(locale: locale, timeZone: zone).day().month().year()
        return Date(timeIntervalSinceReferenceDate: moment).formatted(style)
    }
}

extension ItemRecord {
    /// The absolute path of the item's content, if it is a file on this machine.
    public var contentPath: String? { localPath(of: "contentURL") }

    /// Returns the absolute path in an attribute, if it is a file on this machine.
    func localPath(of attribute: String) -> String? {
        guard let text = text(attribute), let url = URL(string: text), url.isFileURL else { return nil }
        guard ["", "localhost"].contains(url.host(percentEncoded: false)?.lowercased() ?? "") else { return nil }
        let path = url.path(percentEncoded: false)
        // The kernel would truncate the path at a NUL and open a different file.
        return path.utf8.first == UInt8(ascii: "/") && !path.utf8.contains(0) ? path : nil
    }
}
