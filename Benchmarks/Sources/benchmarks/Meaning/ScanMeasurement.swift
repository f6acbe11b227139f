// SPDX-License-Identifier: Apache-2.0
import Foundation
import SemanticEmbedding
import TestSupport

/// Measures scans over the embeddings of real titles: their time, and the share of the ten most
/// similar rows, according to 32-bit floats, that they find. A million rows are the real ones plus
/// mixtures of two of them with noise.
struct ScanMeasurement {
    let folder: String
    let seed: UInt64
    let rows: Int

    static let queries = 100
    private static let (million, hits) = (1_000_000, 10)

    func run(model: String, titles: (Int) -> String) throws -> [Measurement] {
        var random = SplitMix64(seed: seed)
        let embedder = try TextEmbedder(folder: try ModelFolder(path: model))
        Progress.say("  Embedding \(rows + Self.queries) titles …")
        var embeddings = try embedded(rows + Self.queries, embedder, titles)
        let queries = Array(embeddings.suffix(Self.queries))
        embeddings.removeLast(Self.queries)
        var measurements = measure(embeddings, queries, "\(rows) rows of real titles", .meaningScan, .meaningRecall)
        Progress.say("  Making \(Self.million) rows …")
        embeddings.reserveCapacity(Self.million)
        while embeddings.count < Self.million {
            let (one, other) = (embeddings[random.below(rows)], embeddings[random.below(rows)])
            let share = 0.35 + 0.3 * Float(random.below(1000)) / 1000
            let sum = (0..<one.count).map {
                share * one[$0] + (1 - share) * other[$0] + 0.02 * (Float(random.below(1000)) / 1000 - 0.5)
            }
            let length = sum.reduce(0) { $0 + $1 * $1 }.squareRoot()
            embeddings.append(sum.map { $0 / length })
        }
        measurements += measure(
            embeddings, queries, "a million rows, most of them made", .meaningMillion, .meaningMillionRecall)
        return measurements
    }

    private func embedded(_ count: Int, _ embedder: TextEmbedder, _ titles: (Int) -> String) throws -> [[Float]] {
        let path = "\(folder)/title-embeddings-\(count).f32"
        if let data = FileManager.default.contents(atPath: path), data.count == count * embedder.width * 4 {
            let numbers = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
            return stride(from: 0, to: numbers.count, by: embedder.width).map {
                Array(numbers[$0..<$0 + embedder.width])
            }
        }
        let embeddings = try (0..<count).map { try embedder.embed(query: titles($0)) }
        var data = Data()
        for embedding in embeddings { embedding.withUnsafeBytes { data.append(contentsOf: $0) } }
        try data.write(to: URL(filePath: path))
        return embeddings
    }

    private func measure(
        _ embeddings: [[Float]], _ queries: [[Float]], _ name: String, _ time: Row, _ recall: Row
    ) -> [Measurement] {
        let truth = queries.map { query in Set(Self.nearest(query, embeddings)) }
        var rows = EmbeddingTable(width: queries[0].count)
        rows.reserve(embeddings.count)
        for embedding in embeddings { rows.append(QuantizedEmbedding(embedding)) }
        rows.completeCodes()
        var (times, found): ([Double], Int) = ([], 0)
        for (query, nearest) in zip(queries, truth) {
            var hits: [EmbeddingHit] = []
            times.append(ProcessCost.measure { hits = rows.best(Self.hits, for: query) }.cpu * 1000)
            found += nearest.intersection(hits.map(\.row)).count
        }
        let share = Double(found) / Double(Self.hits * queries.count)
        return [
            Measurement(
                name: "a scan of \(name), processor time, the least of \(queries.count)", value: times.min() ?? 0,
                unit: "ms", row: time),
            Measurement(name: "… the median", value: Percentiles(times).p50, unit: "ms"),
            Measurement(name: "… recall@10 against 32-bit numbers", value: share, unit: "", row: recall),
        ]
    }

    /// Returns the rows with the largest dot products.
    private static func nearest(_ query: [Float], _ embeddings: [[Float]]) -> [Int] {
        var best: [(similarity: Float, row: Int)] = []
        for (row, embedding) in embeddings.enumerated() {
            let similarity = query.withUnsafeBytes { one in
                embedding.withUnsafeBytes { other in
                    var sums = SIMD16<Float>()
                    for start in stride(from: 0, to: one.count, by: 64) {
                        sums +=
                            one.loadUnaligned(fromByteOffset: start, as: SIMD16<Float>.self)
                            * other.loadUnaligned(fromByteOffset: start, as: SIMD16<Float>.self)
                    }
                    return sums.sum()
                }
            }
            if best.count == hits, similarity <= best[hits - 1].similarity { continue }
            best.insert((similarity, row), at: best.firstIndex { $0.similarity < similarity } ?? best.count)
            if best.count > hits { best.removeLast() }
        }
        return best.map(\.row)
    }
}
