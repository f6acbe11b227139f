// SPDX-License-Identifier: Apache-2.0
import GRDB
import UserSearch

extension SearchIndex {
    /// Returns the hits of an exhaustive search, which reads and ranks every item. A reference for
    /// ``search(_:)``.
    ///
    /// - Returns: The numbers of the items, their scores and the score components, best first.
    package func rankingOfAll(_ request: SearchRequest) async throws(IndexQueryError) -> [(
        item: Int64, score: Double, parts: ScoreParts
    )] {
        guard let search = try PreparedSearch(self, request) else { return [] }
        return try await query("Ranking all items") { db in
            let run = try search.outcome(1, db).run
            let relevance = try run.relevance(run.soughtWords())
            let texts = try Int64.fetchCursor(db, sql: "SELECT id FROM text_row")
            var hits: [RankedHit] = []
            var bytes = 0
            while let text = try texts.next() {
                if let hit = try run.read(text, relevance, &bytes) { hits.append(hit) }
            }
            hits.sort { ($1.parts.score, $1.text) < ($0.parts.score, $0.text) }
            BundleOrder.apply(to: &hits)
            return hits.map { ($0.item, $0.score, $0.parts) }
        }
    }
}
