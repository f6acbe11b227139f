// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// The text of an item from which its embeddings are computed.
///
/// Increment ``rule`` when the derivation changes; all stored embeddings are then recomputed.
package struct EmbeddedText: Hashable, Sendable {
    /// The version of the rule.
    static let rule = 1

    /// The title, which begins every passage.
    package let title: String
    /// The text to divide into passages.
    package let text: String

    /// The attributes that make up the text, in this order. Names, addresses and numbers are
    /// omitted: a model knows little about them, and word search finds them.
    private static let attributes = [
        "keywords", "subject", "contentDescription", "comment", "headline", "textContent", "transcribedTextContent",
    ]
    /// The largest size of a text in bytes. Passages cover about 20 KB.
    static let maximumBytes = 64 << 10
    private static let maximumTitleBytes = 2 << 10

    init(_ record: ItemRecord) {
        func texts(_ name: String) -> [String] {
            guard record.isSearchable(name) else { return [] }
            return record.attributes[name]?.texts ?? []
        }
        let title = texts("title").first ?? texts("displayName").first ?? ""
        self.title = Self.cut(title, Self.maximumTitleBytes)
        var text = ""
        for name in Self.attributes where text.utf8.count < Self.maximumBytes {
            let part = texts(name).joined(separator: ", ")
            guard !part.isEmpty, name != "subject" || part != title else { continue }
            if !text.isEmpty { text += "\n\n" }
            text += Self.cut(part, Self.maximumBytes)
        }
        self.text = Self.cut(text, Self.maximumBytes)
    }

    /// Returns the part of the text in a range of UTF-8 bytes; `nil` if the range does not fit.
    func passage(_ range: Range<Int>) -> String? {
        guard !range.isEmpty,
            let start = text.utf8.index(text.startIndex, offsetBy: range.lowerBound, limitedBy: text.endIndex),
            let end = text.utf8.index(start, offsetBy: range.count, limitedBy: text.endIndex)
        else { return nil }
        return String(text[start..<end])
    }

    private static func cut(_ text: String, _ bytes: Int) -> String {
        guard text.utf8.count > bytes else { return text }
        return String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
    }
}
