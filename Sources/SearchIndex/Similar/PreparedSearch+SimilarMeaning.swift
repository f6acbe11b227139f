// SPDX-License-Identifier: Apache-2.0
import GRDB
import SemanticEmbedding
import UserSearch

extension PreparedSearch {
    /// The number of passages in the first scan, and the largest number. If filters reject most
    /// items, each further scan is four times as large as the previous one.
    private static let (firstPassages, maximumPassages) = (256, 1 << 14)
    /// The number of bytes of text after which no further items are checked against the filters.
    private static let maximumBytes = 64 << 20

    /// Returns the items whose best passages are similar in meaning to the passages of an item,
    /// taken together; `nil` if the item has no embeddings by the model.
    ///
    /// The item is represented by the mean of its embeddings. Items less similar than
    /// ``MeaningRule/similarFloor`` are left out.
    func itemsOfSimilarMeaning(
        to item: Int64, _ model: String, _ limit: Int, _ db: Database
    ) throws -> SimilarPage? {
        guard let state = try EmbeddingTables.state(of: model, db),
            let mean = try EmbeddingTables.meanEmbedding(of: item, state, db)
        else { return nil }
        let run = try run(db)
        let relevance = try run.relevance([])
        let (bundles, cache) = (try bundles(db), embeddings)
        let textRow = try db.cachedStatement(
            sql: """
                SELECT item.text_row FROM embedding JOIN item ON item.id = embedding.item
                WHERE embedding.id = ? AND item.text_row IS NOT NULL
                """)
        var hits: [SearchHit] = []
        var known: Set<Int64> = [item]
        var (count, bytes, floor) = (Self.firstPassages, 0, Double?.none)
        search: while true {
            let near = try cache.withRows(state, db) { rows in
                let allowed = rows.positions(ofBundles: bundles)
                let least =
                    floor
                    ?? rows.spread(of: mean, among: allowed).map {
                        $0.rows < Self.fewestRowsForFloor
                            ? -Double.infinity : $0.mean + MeaningRule.similarFloor * $0.deviation
                    }
                let found = rows.best(count, for: mean, filter: allowed.map { rows.bitmap($0) })
                return (
                    floor: least ?? -.infinity,
                    rows: found.map { (rows.items[$0.row], rows.numbers[$0.row], Double($0.similarity)) }
                )
            }
            floor = near.floor
            for (other, row, similarity) in near.rows where !known.contains(other) {
                guard similarity >= near.floor, bytes < Self.maximumBytes else { break search }
                // The row of an item that was changed may still be in memory.
                guard let text = try Int64.fetchOne(textRow, arguments: [row]) else { continue }
                known.insert(other)
                guard var ranked = try run.read(text, relevance, &bytes) else { continue }
                ranked.parts = Relevance.partsWithoutWords(age: 0)
                (ranked.parts.meaning, ranked.score) = (similarity, similarity)
                guard var hit = try run.read(ranked) else { continue }
                hit.passage = try run.passage(row: row, of: hit.item)
                hits.append(projected(hit))
                if hits.count == limit { break search }
            }
            guard near.rows.count == count, count < Self.maximumPassages else { break }
            count *= 4
        }
        return SimilarPage(hits: hits, basis: .meaning, isPartial: try EmbeddingTables.isPartial(state, db))
    }

    /// The number of passages below which no item is left out, because deviations are not
    /// meaningful for so few passages.
    private static let fewestRowsForFloor = 64
}

extension EmbeddingTables {
    /// Returns the mean of an item's embeddings, normalized to length 1; `nil` if the item has
    /// none.
    static func meanEmbedding(of item: Int64, _ state: State, _ db: Database) throws -> [Float]? {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT scale, vector FROM embedding WHERE item = ?"), arguments: [item])
        var sum = [Float](repeating: 0, count: state.width)
        while let row = try rows.next() {
            let scale: Double = try row.decode(forColumn: "scale")
            try row.withUnsafeData(named: "vector") { vector in
                guard let vector, vector.count == state.width else { return }
                // Each embedding has length 1, so all passages have equal weight.
                for (index, byte) in vector.enumerated() { sum[index] += Float(scale) * Float(Int8(bitPattern: byte)) }
            }
        }
        let length = sum.reduce(0) { $0 + $1 * $1 }.squareRoot()
        guard length.isNormal else { return nil }
        return sum.map { $0 / length }
    }

    /// Returns `true` if some items have no embeddings yet.
    static func isPartial(_ state: State, _ db: Database) throws -> Bool {
        if try !next(1, db).isEmpty { return true }
        guard state.listed > .min else { return false }
        return try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM text_row WHERE id < ?)", arguments: [state.listed]) ?? false
    }
}
