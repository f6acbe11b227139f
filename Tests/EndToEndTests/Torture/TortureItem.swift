// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// An item that a torture expects.
struct TortureItem {
    let record: ItemRecord
    /// The words of the item in the full-text index.
    let words: Set<String>
    let pageCount: Int

    init(record: ItemRecord) {
        self.record = record
        let texts = ["title", "keywords", "contentDescription"].flatMap { record.texts($0) }
        words = Set(texts.flatMap { $0.split(separator: " ").map(String.init) })
        if case .integer(let number)? = record.attributes["pageCount"] {
            pageCount = Int(number)
        } else {
            pageCount = 0
        }
    }
}
