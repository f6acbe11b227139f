// SPDX-License-Identifier: Apache-2.0
import GRDB
import ServiceProtocol

/// The text of an item as the full-text index sees it: four columns that weigh differently.
package struct SearchableText {
    package var title: String
    package var keywords: String
    package var description: String
    package var body: String

    /// What a hit in each column is worth, in their order: a word in the title says more about an item than one in its
    /// text.
    package static let weights = [10.0, 6.0, 3.0, 1.0]

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

    package init(_ record: ItemRecord) {
        func joined(_ names: [String]) -> String {
            Self.withoutNUL(names.flatMap { record.texts($0) }.joined(separator: "\n"))
        }
        title = joined(Self.titleAttributes)
        keywords = joined(Self.keywordAttributes)
        description = joined(Self.descriptionAttributes)
        body = joined(Self.bodyAttributes)
    }

    /// The text with spaces for NULs, at which SQLite would end it.
    static func withoutNUL(_ text: String) -> String {
        guard text.utf8.contains(0) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? " " : $0 }))
    }

    var arguments: [any DatabaseValueConvertible] { [title, keywords, description, body] }
}
