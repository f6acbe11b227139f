// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchIndex

/// Fills a store with the whole corpus, in large batches as an app does.
enum Filling {
    /// The number of items in one donation by an app.
    private static let itemsPerBatch = 500

    /// Fills the store. The cost covers the time from the first donation until all items are
    /// searchable, and includes reading the corpus and encoding the items.
    static func fill(_ index: SearchIndex, from corpus: Corpus) async throws -> (cost: ProcessCost, donatedBytes: Int) {
        let reader = try corpus.reader()
        var donated = 0
        let cost = try await ProcessCost.measure {
            var waiting: [[EncodedItem]] = Array(repeating: [], count: CorpusMaker.bundleCount)
            for _ in 0..<corpus.count {
                guard let next = try reader.next() else { throw BenchmarkError("The corpus is too short. Remove it.") }
                let item = try EncodedItem(try ItemRecord(decoding: next.record))
                donated += item.bytes.count
                waiting[next.bundle].append(item)
                if waiting[next.bundle].count == itemsPerBatch {
                    try await donate(waiting[next.bundle], bundle: next.bundle, to: index)
                    waiting[next.bundle] = []
                }
            }
            for (bundle, items) in waiting.enumerated() where !items.isEmpty {
                try await donate(items, bundle: bundle, to: index)
            }
            try await index.settle()
        }
        let count = try await index.itemCounts().values.reduce(0, +)
        guard count == corpus.count, index.rejectedItems.isEmpty else {
            throw BenchmarkError("Of \(corpus.count) items donated, \(count) are in the store: a bug of the index.")
        }
        return (cost, donated)
    }

    private static func donate(_ items: [EncodedItem], bundle: Int, to index: SearchIndex) async throws {
        try await index.index(items, in: IndexScope(bundle: CorpusMaker.bundle(bundle)))
    }
}
