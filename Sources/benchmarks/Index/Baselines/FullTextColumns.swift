// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// The texts that the store gives to the columns of its full-text tables, by the columns' names.
enum FullTextColumns {
    static func text(of column: String, in text: SearchableText, table: String) throws -> String {
        switch column {
        case "title": text.title
        case "keywords": text.keywords
        case "description": text.description
        case "body": text.body
        default:
            throw BenchmarkError(
                "The benchmark does not know what \(table).\(column) holds. Add it to FullTextColumns.")
        }
    }
}
