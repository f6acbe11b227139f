// SPDX-License-Identifier: Apache-2.0

/// Quantized embeddings in memory, for scans. A table with many rows also stores their sign codes,
/// so that a scan reads an eighth of the memory.
///
/// ```swift
/// var table = EmbeddingTable(width: 384)
/// for embedding in stored { table.append(embedding) }
/// table.completeCodes()
/// let hits = table.best(10, for: query)
/// ```
package struct EmbeddingTable: Sendable {
    /// The number of components in a row, a multiple of 16 up to 4096.
    package let width: Int
    private var components: [Int8] = []
    private var scales: [Float] = []
    /// The sign codes of the first rows; empty if the table has few rows.
    private var codes: [UInt64] = []

    /// The number of rows at which scans start to use sign codes.
    static let fewestWithCodes = 1 << 16
    /// The number of candidates whose components are read: one in this many rows, but at least a
    /// fixed number and a multiple of the requested hits (docs/SEMANTIC.md).
    private static let (candidateShare, fewestCandidates, candidatesPerHit) = (100, 4000, 32)

    /// The number of rows.
    package var count: Int { scales.count }

    package init(width: Int) { self.width = width }

    /// Reserves memory for a number of rows.
    package mutating func reserve(_ rows: Int) {
        components.reserveCapacity(rows * width)
        scales.reserveCapacity(rows)
    }

    /// Appends a row.
    ///
    /// - Precondition: There are `width` components, from -127 to 127.
    package mutating func append(components row: UnsafeBufferPointer<Int8>, scale: Float) {
        precondition(row.count == width)
        components.append(contentsOf: row)
        scales.append(scale)
    }

    /// Appends a row.
    package mutating func append(_ embedding: QuantizedEmbedding) {
        embedding.components.withUnsafeBufferPointer { append(components: $0, scale: embedding.scale) }
    }

    /// Computes the sign codes of rows appended since the last call. Until then, scans read all
    /// components of these rows.
    package mutating func completeCodes() {
        guard count >= Self.fewestWithCodes else { return }
        let known = codes.count / EmbeddingScan.codeWords(width)
        guard known < count else { return }
        codes += withRows(from: known) { EmbeddingScan().signCodes(of: $0) }
    }

    /// Returns the most similar rows, best first. A scan of many rows may miss some.
    ///
    /// - Parameters:
    ///   - wanted: The largest number of hits.
    ///   - filter: One bit per row; only rows whose bit is set are found. `nil` allows all rows.
    package func best(
        _ wanted: Int, for query: [Float], filter: [UInt64]? = nil, level: KernelLevel = .best
    ) -> [EmbeddingHit] {
        let scan = EmbeddingScan(level: level)
        let allowed = filter.map { $0.reduce(0) { $0 + $1.nonzeroBitCount } } ?? count
        return withRows { rows in
            guard allowed >= Self.fewestWithCodes, codes.count == count * EmbeddingScan.codeWords(width) else {
                return scan.best(wanted, for: query, in: rows, filter: filter)
            }
            let candidates = max(
                allowed / Self.candidateShare, Self.fewestCandidates, wanted * Self.candidatesPerHit)
            return codes.withUnsafeBufferPointer {
                scan.best(wanted, for: query, in: rows, codes: $0, candidates: candidates, filter: filter)
            }
        }
    }

    /// Returns the rows at the given positions with their similarities, best first.
    ///
    /// - Precondition: Each position is below ``count``.
    package func similarities(of positions: [Int], to query: [Float]) -> [EmbeddingHit] {
        withRows { EmbeddingScan().similarities(of: positions, to: query, in: $0) }
    }

    private func withRows<Result>(from first: Int = 0, _ body: (EmbeddingRows) -> Result) -> Result {
        components.withUnsafeBufferPointer { components in
            scales.withUnsafeBufferPointer { scales in
                body(
                    EmbeddingRows(
                        components: UnsafeBufferPointer(rebasing: components[(first * width)...]),
                        scales: UnsafeBufferPointer(rebasing: scales[first...]), width: width))
            }
        }
    }
}
