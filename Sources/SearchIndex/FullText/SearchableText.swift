// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord
import UserSearch

/// The text of an item as the full-text index sees it: columns that weigh differently, and its tags.
///
/// What it holds for a given record must not change without a new format of ``FullTextIndex/derived``: words are taken
/// out of the index by being told again.
package struct SearchableText {
    package var title: String
    package var keywords: String
    package var description: String
    package var body: String
    /// What the table of titles and keywords knows beside the words.
    package var tags: String
    /// What the table of all words knows beside them.
    package var textTags: String { tags + textHints.scalars }

    /// The column of an attribute's texts; `nil` if they are in none.
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
    /// The other attributes a person would expect to find words of.
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

    /// The language that an item names, or else the one that its text seems to be in.
    static func language(of record: ItemRecord, _ fields: [String]) -> WordLanguage {
        LanguageGuess.indexLanguage(tags: record.texts("languages"), text: telling(fields))
    }

    /// The field that tells the language.
    static func telling(_ fields: [String]) -> String { fields.last { !$0.isEmpty } ?? "" }

    /// The text of each field of an item, by its number (`TextField`).
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

    /// In which language the forms of its words are found.
    package let language: WordLanguage

    /// The text of each field, by its number (`TextField`).
    var fields: [String] { [title, keywords, description, body] }

    /// How many bytes the texts have.
    var bytes: Int { fields.reduce(0) { $0 + $1.utf8.count } }

    /// The terms for the table of ranked words, with the tags.
    package func terms(by words: RankedWords) -> String {
        let tags = tags.unicodeScalars.dropFirst().map { FullTextTag.word(of: $0) }
        return words.terms(fields, language: language) + tags.joined(separator: " ")
    }

    private var textHints: FullTextHints {
        var hints = FullTextHints()
        for text in [title, keywords, description, body] { hints.add(text) }
        return hints
    }

    /// Those that the item itself calls searchable by default, in one order, but for those that have their place anyway.
    private static func customAttributes(of record: ItemRecord) -> [String] {
        guard !record.traits.isEmpty else { return [] }
        let others = Set(titleAttributes + keywordAttributes + descriptionAttributes + bodyAttributes)
        return record.traits.keys.filter { record.isSearchableByDefault($0) && !others.contains($0) }.sorted()
    }

    /// The text with spaces for NULs, at which SQLite would end it, and for what marks tags.
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
