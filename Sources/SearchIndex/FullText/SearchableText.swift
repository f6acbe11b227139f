// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord
import UserSearch

/// The text of an item in the full-text index: columns with different weights, and tags.
///
/// The text derived from a given record must not change without a new format of
/// ``FullTextIndex/derived``, because removing an item's words derives them again.
package struct SearchableText {
    package var title: String
    package var keywords: String
    package var description: String
    package var body: String
    /// The tags in the table of ranked words.
    package var tags: String
    /// The tags in the table of texts.
    package var textTags: String { tags + textHints.scalars }

    /// Returns the column that contains an attribute's texts; `nil` if no column does.
    static func column(of attribute: String) -> String? { columns[attribute] }

    private static let columns: [String: String] = Dictionary(
        uniqueKeysWithValues: attributes.flatMap { field, names in names.map { ($0, "\(field)") } })

    /// The attributes of each field, in the order of their texts.
    static let attributes: [(field: TextField, names: [String])] = [
        (.title, titleAttributes), (.keywords, keywordAttributes), (.description, descriptionAttributes),
        (.body, bodyAttributes),
    ]

    private static let titleAttributes = ["title", "displayName", "alternateNames"]
    private static let keywordAttributes = ["keywords", "contactKeywords"]
    private static let bodyAttributes = ["textContent", "transcribedTextContent"]
    /// The other attributes in which users expect to find words.
    private static let descriptionAttributes = [
        "contentDescription", "subject", "headline", "comment", "information", "kind", "theme", "authorNames",
        "recipientNames", "authorEmailAddresses", "recipientEmailAddresses", "authors", "primaryRecipients",
        "additionalRecipients", "emailAddresses", "phoneNumbers", "participants", "performers", "artist", "composer",
        "album", "genre", "musicalGenre", "director", "producer", "publishers", "organizations", "projects", "city",
        "stateOrProvince", "country", "namedLocation", "fullyFormattedAddress", "containerTitle", "url",
    ]

    /// - Parameters:
    ///   - record: The item.
    ///   - bundle: The number of its bundle.
    package init(_ record: ItemRecord, bundle: Int64) {
        let fields = Self.fields(of: record)
        (title, keywords, description, body) = (fields[0], fields[1], fields[2], fields[3])
        language = Self.language(of: record, fields)
        tags = FullTextTag(bundle: bundle).text
        var hints = FullTextHints()
        hints.addUncertainties(of: title)
        hints.addUncertainties(of: keywords)
        tags += hints.scalars
    }

    /// Returns the language that an item declares, or else the detected language of its text.
    static func language(of record: ItemRecord, _ fields: [String]) -> WordLanguage {
        LanguageGuess.indexLanguage(tags: record.texts("languages"), text: telling(fields))
    }

    /// Returns the field that determines the language: the last one that is not empty.
    static func telling(_ fields: [String]) -> String { fields.last { !$0.isEmpty } ?? "" }

    /// Returns the text of each field of an item, by field number (`TextField`).
    static func fields(of record: ItemRecord) -> [String] {
        func joined(_ names: [String]) -> String {
            var text = ""
            for name in names {
                guard let value = record.attributes[name], record.isSearchable(name) else { continue }
                for part in value.texts {
                    if !text.isEmpty { text += "\n" }
                    text += part
                }
            }
            return harmless(text)
        }
        return [
            joined(titleAttributes), joined(keywordAttributes),
            joined(descriptionAttributes + customAttributes(of: record)), joined(bodyAttributes),
        ]
    }

    /// The language that determines the forms of the words.
    package let language: WordLanguage

    /// The text of each field, by field number (`TextField`).
    var fields: [String] { [title, keywords, description, body] }

    /// The size of the texts, in bytes.
    var bytes: Int { fields.reduce(0) { $0 + $1.utf8.count } }

    /// Returns the terms for the table of ranked words, followed by the tags.
    package func terms(by words: RankedWords) -> String {
        let tags = tags.unicodeScalars.dropFirst().map { FullTextTag.word(of: $0) }
        return words.terms(fields, language: language) + tags.joined(separator: " ")
    }

    private var textHints: FullTextHints {
        var hints = FullTextHints()
        for text in [title, keywords, description, body] { hints.add(text) }
        return hints
    }

    /// Returns the other attributes that the item declares searchable by default, in a fixed order.
    private static func customAttributes(of record: ItemRecord) -> [String] {
        guard !record.traits.isEmpty else { return [] }
        let others = Set(titleAttributes + keywordAttributes + descriptionAttributes + bodyAttributes)
        return record.traits.keys.filter { record.isSearchableByDefault($0) && !others.contains($0) }.sorted()
    }

    /// Returns the text with NULs, at which SQLite would end it, and tag marks replaced with
    /// spaces.
    static func harmless(_ text: String) -> String {
        var text = text
        let isHarmless = text.withUTF8 { bytes in
            var found = false
            for byte in bytes { found = found || byte <= FullTextTokenizer.tagMark }
            return !found
        }
        if isHarmless { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.value <= UInt32(FullTextTokenizer.tagMark) ? " " : $0 }))
    }
}
