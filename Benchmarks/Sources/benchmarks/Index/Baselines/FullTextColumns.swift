// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// The text of an item, and the numbers that it has in the store.
struct IndexedText {
    var item: Int64
    var row: Int64
    var text: SearchableText
}

/// What the store's full-text tables were told of each item; they keep no text, so it cannot be read back.
struct FullTextColumns {
    /// Full-text tables whose rows are those of another table.
    static let copiedRows = ["term_trigram": "SELECT id, text FROM term ORDER BY id"]

    private let columns: [KeyPath<SearchableText, String>]
    /// Whether only items with a title or keywords are in the table.
    private let isOfTitles: Bool

    /// `nil` if the table is filled otherwise.
    init?(of table: StoreSchema.Table, columns names: [String]) throws {
        guard table.isFullText, Self.copiedRows[table.name] == nil else { return nil }
        guard table.isContentless else {
            throw BenchmarkError("The full-text table \(table.name) keeps its text. Teach TableFiller to copy it.")
        }
        let isOfTitles = table.name == "title_text"
        self.isOfTitles = isOfTitles
        columns = try names.map { name in
            switch name {
            case "title": \.title
            case "keywords": \.keywords
            case "description": \.description
            case "body": \.body
            case "tags": isOfTitles ? \.tagsApart : \.textTagsApart
            default:
                throw BenchmarkError("It is not known what \(table.name).\(name) holds. Add it to FullTextColumns.")
            }
        }
    }

    func append(_ item: IndexedText, to chunk: inout RowChunk) {
        if isOfTitles, !item.text.hasTitleOrKeywords { return }
        chunk.append(item.row)
        for column in columns { chunk.append(item.text[keyPath: column]) }
    }
}

extension SearchableText {
    /// The tags as words: behind a mark, each scalar is one, which SQLite's own tokenizers must be told by spaces.
    fileprivate var tagsApart: String { Self.apart(tags) }
    fileprivate var textTagsApart: String { Self.apart(textTags) }

    private static func apart(_ tags: String) -> String {
        tags.unicodeScalars.dropFirst().map { String($0) }.joined(separator: " ")
    }
}
