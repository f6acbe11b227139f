// SPDX-License-Identifier: Apache-2.0
import GRDB
import ItemRecord

/// An item whose passages need embeddings.
package struct EmbeddingJob: Sendable {
    package let item: Int64
    /// The text of the item.
    package let text: EmbeddedText
    /// The number of passages that already have embeddings.
    package let embedded: Int
    fileprivate let bundle: Int64
    /// The checksum of the item's row, used to detect changes to the item.
    fileprivate let checksum: Int64
}

/// The embeddings of some passages of an item.
package struct EmbeddedPassages: Sendable {
    /// A passage: its range in the text, in UTF-8 bytes, and its embedding with 8 bits per
    /// component.
    package struct Passage: Sendable {
        package var range: Range<Int>
        package var scale: Float
        package var components: [Int8]

        package init(range: Range<Int>, scale: Float, components: [Int8]) {
            (self.range, self.scale, self.components) = (range, scale, components)
        }
    }

    package var job: EmbeddingJob
    /// The passages that follow those already embedded.
    package var passages: [Passage]
    /// `true` if these are the last passages of the item.
    package var isComplete: Bool

    package init(job: EmbeddingJob, passages: [Passage], isComplete: Bool) {
        (self.job, self.passages, self.isComplete) = (job, passages, isComplete)
    }
}

/// The number of items with and without embeddings.
package struct EmbeddingCounts: Hashable, Sendable, Codable {
    /// The items with at least one embedding.
    package var embedded: Int
    /// The items with passages that have no embeddings yet.
    package var pending: Int

    package init(embedded: Int, pending: Int) { (self.embedded, self.pending) = (embedded, pending) }
}

extension SearchIndex {
    /// Returns the text whose meaning a search may use; `nil` if the search matches only words.
    package func meaningText(of request: SearchRequest) -> String? {
        guard request.usesMeaning, let search = try? PreparedSearch(self, request) else { return nil }
        return search.meaningText
    }

    /// Returns the next items to embed: the most used first, then the newest. Creates the embedding
    /// tables for the model, and drops the tables of any other model.
    ///
    /// - Parameters:
    ///   - model: The identity of the model.
    ///   - width: The number of components of the model's embeddings.
    ///   - count: The largest number of items.
    /// - Returns: The items, and `true` if older items remain to be listed.
    package func embeddingJobs(
        model: String, width: Int, count: Int
    ) async throws(SearchIndexError) -> (jobs: [EmbeddingJob], lists: Bool) {
        let damaged = embeddings.takeDamaged()
        return try await write("Listing the items to embed") { db in
            if try EmbeddingTables.state(of: model, db)?.width != width {
                try EmbeddingTables.create(
                    model: model, width: width, epoch: .random(in: .min ... .max), db)
            }
            for item in damaged { try EmbeddingTables.repeatItem(item, db) }
            guard let state = try EmbeddingTables.state(db) else { return ([], false) }
            let lists = try EmbeddingTables.listOlder(state, db)
            let statement = try db.cachedStatement(
                sql: "SELECT bundle, checksum, plain_record(record) AS record FROM item WHERE id = ?")
            var jobs: [EmbeddingJob] = []
            for item in try EmbeddingTables.next(count, db) {
                guard let row = try Row.fetchOne(statement, arguments: [item]) else { continue }
                jobs.append(
                    EmbeddingJob(
                        item: item, text: EmbeddedText(try ItemWriter.record(in: row)),
                        embedded: try EmbeddingTables.passages(of: item, db),
                        bundle: try row.decode(forColumn: "bundle"),
                        checksum: try row.decode(forColumn: "checksum")))
            }
            return (jobs, lists)
        }
    }

    /// Stores embeddings in one transaction. Skips items that were changed or deleted since they
    /// were listed.
    package func store(_ embedded: [EmbeddedPassages], model: String) async throws(SearchIndexError) {
        try await write("Storing embeddings") { db in
            guard let state = try EmbeddingTables.state(of: model, db) else { return }
            let current = try db.cachedStatement(sql: "SELECT checksum FROM item WHERE id = ?")
            for one in embedded {
                let job = one.job
                guard try Int64.fetchOne(current, arguments: [job.item]) == job.checksum,
                    try EmbeddingTables.passages(of: job.item, db) == job.embedded,
                    one.passages.allSatisfy({ $0.components.count == state.width })
                else { continue }
                for (index, passage) in one.passages.enumerated() {
                    try EmbeddingTables.insert(
                        passage, item: job.item, bundle: job.bundle, passage: job.embedded + index, db)
                }
                if one.isComplete { try EmbeddingTables.finish(job.item, db) }
            }
        }
    }

    /// Drops all embeddings.
    ///
    /// - Returns: `true` if there were any tables.
    package func dropEmbeddings() async throws(SearchIndexError) -> Bool {
        embeddings.release()
        return try await write("Deleting the embeddings") { db in
            guard try EmbeddingTables.tables.contains(where: { try db.hasTable($0) }) else { return false }
            try EmbeddingTables.drop(db)
            return true
        }
    }

    /// Returns the number of items with embeddings by a model; `nil` if the store has no embeddings
    /// by that model.
    package func embeddingCounts(model: String) async throws(SearchIndexError) -> EmbeddingCounts? {
        try await readApplied("Counting embeddings") { db in
            try EmbeddingTables.state(of: model, db).map { try EmbeddingTables.counts($0, db) }
        }
    }

    /// Returns `true` if background work on embeddings is due.
    ///
    /// - Parameter model: The identity of the installed model; `nil` without one.
    package func needsEmbedding(model: String?) async throws(SearchIndexError) -> Bool {
        let isDamaged = embeddings.hasDamaged
        return try await readApplied("Checking the embeddings") { db in
            guard let model else { return try db.hasTable("embedding_state") }
            guard let state = try EmbeddingTables.state(of: model, db) else { return true }
            return try isDamaged || state.listed > .min || !EmbeddingTables.next(1, db).isEmpty
        }
    }

    /// Frees the memory of the embeddings. The next search that uses them reloads them.
    package func releaseEmbeddings() { embeddings.release() }

    /// Reads the embeddings into memory, so that the next search is faster.
    package func prepareEmbeddings(model: String) async throws(SearchIndexError) {
        try await readApplied("Reading the embeddings") { [embeddings] db in
            guard let state = try EmbeddingTables.state(of: model, db) else { return }
            try embeddings.withRows(state, db) { _ in }
        }
    }
}
