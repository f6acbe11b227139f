// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import UserSearch

/// An item's text, with the item's numbers in the store.
struct IndexedText {
    var item: Int64
    var row: Int64
    var text: SearchableText
}

/// The column values that the store's full-text tables indexed for each item. The tables are
/// contentless, so the values cannot be read back.
struct FullTextColumns {
    /// The full-text tables whose rows are copied from another table.
    static let copiedRows = ["term_trigram": "SELECT id, text FROM term ORDER BY id"]

    private let columns: [(SearchableText) -> String]

    /// Returns `nil` if the table is filled in a different way.
    init?(of table: StoreSchema.Table, columns names: [String]) throws {
        guard table.isFullText, Self.copiedRows[table.name] == nil else { return nil }
        guard table.isContentless else {
            throw BenchmarkError("The full-text table \(table.name) keeps its text. Let TableFiller copy it.")
        }
        let words = RankedWords()
        columns = try names.map { name -> (SearchableText) -> String in
            switch name {
            case "title": { $0.title }
            case "keywords": { $0.keywords }
            case "description": { $0.description }
            case "body": { $0.body }
            case "tags": { $0.textTagsApart }
            case "words": { $0.terms(by: words) }
            default:
                throw BenchmarkError("The content of \(table.name).\(name) is unknown. Add it to FullTextColumns.")
            }
        }
    }

    func append(_ item: IndexedText, to chunk: inout RowChunk) {
        chunk.append(item.row)
        for column in columns { chunk.append(column(item.text)) }
    }
}

extension SearchableText {
    /// The tags as separate words. In the store, each scalar after a marker is a word, but SQLite's
    /// tokenizers need spaces between words.
    fileprivate var textTagsApart: String { Self.apart(textTags) }

    private static func apart(_ tags: String) -> String {
        tags.unicodeScalars.dropFirst().map { String($0) }.joined(separator: " ")
    }
}
