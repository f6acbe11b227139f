// SPDX-License-Identifier: Apache-2.0
import GRDB
import SemanticEmbedding
import TextAnalysis
import UserSearch

/// The meaning of a search text, as an embedding.
package struct SearchMeaning: Hashable, Sendable {
    /// The identity of the model.
    package var model: String
    /// The embedding, normalized to length 1.
    package var embedding: [Float]
    /// The folded words of the text that are in the model's vocabulary, and therefore not
    /// misspelled.
    let knownWords: Set<String>

    /// - Parameter knownWords: The words of the text that are in the model's vocabulary.
    package init(model: String, embedding: [Float], knownWords: [String] = []) {
        (self.model, self.embedding) = (model, embedding)
        self.knownWords = Set(knownWords.flatMap(TextAnalyzer.words))
    }
}

/// The similarity of items to a search text, for one state of the store.
///
/// The similarity of an item is the similarity of its best passage, as a number of standard
/// deviations above the mean of all passages that the search may find. The score of a hit also
/// takes the number of its passages into account (``MeaningRule/expected(passages:)``).
struct MeaningRanking {
    /// An item among the most similar ones.
    struct Candidate {
        var item: Int64
        /// The number of the best passage's row.
        var row: Int64
        /// The similarity of the best passage.
        var deviations: Double
    }

    private let embedding: [Float]
    private let state: EmbeddingTables.State
    private let cache: EmbeddingCache
    private let mean: Double
    private let deviation: Double
    /// The most similar items, the best first.
    let candidates: [Candidate]
    private let byItem: [Int64: Candidate]

    /// The number of passages and the number of items among the candidates.
    private static let (candidateRows, candidateItems) = (256, 64)

    /// Scans the embeddings; `nil` if the store has too few embeddings by this model, or none.
    ///
    /// - Parameter bundles: The numbers of the bundles whose items are searched; `nil` for all.
    init?(_ meaning: SearchMeaning, bundles: Set<Int64>?, _ cache: EmbeddingCache, _ db: Database) throws {
        guard let state = try EmbeddingTables.state(of: meaning.model, db), state.width == meaning.embedding.count
        else { return nil }
        (embedding, self.state, self.cache) = (meaning.embedding, state, cache)
        let found = try cache.withRows(state, db) { rows in Self.scan(rows, meaning.embedding, bundles) }
        guard let found else { return nil }
        (mean, deviation) = (found.mean, found.deviation)
        var candidates: [Candidate] = []
        var known: Set<Int64> = []
        let exists = try db.cachedStatement(sql: "SELECT 1 FROM embedding WHERE id = ?")
        for hit in found.hits where candidates.count < Self.candidateItems && !known.contains(hit.item) {
            guard try Int.fetchOne(exists, arguments: [hit.row]) != nil else { continue }
            known.insert(hit.item)
            candidates.append(
                Candidate(
                    item: hit.item, row: hit.row, deviations: (hit.similarity - found.mean) / found.deviation))
        }
        self.candidates = candidates
        byItem = Dictionary(candidates.map { ($0.item, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the candidate of an item; `nil` if it is not among the most similar ones.
    func candidate(_ item: Int64) -> Candidate? { byItem[item] }

    /// Returns the similarity of items, in standard deviations beyond what the best of that many
    /// passages would have by chance. Items without embeddings are omitted.
    func deviations(of items: [Int64], _ db: Database) throws -> [Int64: Double] {
        let statement = try db.cachedStatement(sql: "SELECT id FROM embedding WHERE item = ?")
        let numbers = try items.flatMap { try Int64.fetchAll(statement, arguments: [$0]) }
        let passages = try cache.withRows(state, db) { rows in
            let positions = numbers.compactMap { rows.position(of: $0) }
            return rows.similarities(of: positions, to: embedding)
                .map { (item: rows.items[$0.row], similarity: Double($0.similarity)) }
        }
        // The passages are sorted, so the best one of each item comes first.
        var found: [Int64: (best: Double, count: Int)] = [:]
        for passage in passages { found[passage.item, default: (passage.similarity, 0)].count += 1 }
        return found.mapValues { ($0.best - mean) / deviation - MeaningRule.expected(passages: $0.count) }
    }

    private struct Found: Sendable {
        var mean: Double
        var deviation: Double
        var hits: [(item: Int64, row: Int64, similarity: Double)]
    }

    private static func scan(
        _ rows: borrowing EmbeddingCache.Rows, _ embedding: [Float], _ bundles: Set<Int64>?
    ) -> Found? {
        let allowed = rows.positions(ofBundles: bundles)
        guard let spread = rows.spread(of: embedding, among: allowed) else { return nil }
        let hits = rows.best(candidateRows, for: embedding, filter: allowed.map { rows.bitmap($0) })
        return Found(
            mean: spread.mean, deviation: spread.deviation,
            hits: hits.map { (rows.items[$0.row], rows.numbers[$0.row], Double($0.similarity)) })
    }
}

extension EmbeddingCache.Rows {
    /// The size of the sample of passages used to compute the mean and the deviation.
    private static let sample = 4096
    /// The number of passages below which there are no meaningful deviations.
    private static let fewestRows = 8
    /// The fraction (one in 50) of the most similar passages that is excluded from the mean and the
    /// deviation. These passages are the answers, and would increase the deviation of a small
    /// store.
    private static let leftOutShare = 50

    /// Returns the positions of the rows of some bundles; `nil` for all rows.
    func positions(ofBundles bundles: Set<Int64>?) -> [Int]? {
        bundles.map { wanted in self.bundles.indices.filter { wanted.contains(self.bundles[$0]) } }
    }

    /// Returns the mean and the standard deviation of the similarities to an embedding, from a
    /// sample of some rows; `nil` if there are too few rows, or if all are equally similar.
    ///
    /// - Parameter allowed: The positions of the rows; `nil` for all.
    func spread(of embedding: [Float], among allowed: [Int]?) -> (rows: Int, mean: Double, deviation: Double)? {
        let size = allowed?.count ?? numbers.count
        guard size >= Self.fewestRows else { return nil }
        let step = (size + Self.sample - 1) / Self.sample
        let sampled = stride(from: 0, to: size, by: step).map { allowed?[$0] ?? $0 }
        let similarities = similarities(of: sampled, to: embedding).map { Double($0.similarity) }
        let rest = similarities.dropFirst(max(1, similarities.count / Self.leftOutShare))
        let mean = rest.reduce(0, +) / Double(max(1, rest.count))
        let variance = rest.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(max(1, rest.count))
        guard variance > 1e-9 else { return nil }
        return (size, mean, variance.squareRoot())
    }
}
