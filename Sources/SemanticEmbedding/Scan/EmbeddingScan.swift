// SPDX-License-Identifier: Apache-2.0
import CEmbeddingKernels

/// Finds the rows that are most similar to a query: the rows with the largest dot products, exact
/// up to quantization. If products are equal, the first rows are taken. Allocates memory only for
/// the results, and uses one thread.
///
/// There are two scans. An exact scan reads all components. A scan of sign codes reads one bit of
/// each component, and then the components of the nearest candidates. For many rows, it is faster
/// but misses some rows; docs/SEMANTIC.md has measurements for various numbers of candidates.
package struct EmbeddingScan {
    private let kernels: cembedding_kernels

    /// - Parameter level: The instruction set to use; by default, the fastest one on this
    ///   processor.
    package init(level: KernelLevel = .best) { kernels = level.kernels }

    /// Scans all rows.
    ///
    /// - Parameters:
    ///   - count: The largest number of hits.
    ///   - filter: One bit per row, starting with the lowest bit of the first word. Only rows whose
    ///     bit is set are found. `nil` allows all rows.
    /// - Returns: The hits, best first.
    package func best(
        _ count: Int, for query: [Float], in rows: EmbeddingRows, filter: [UInt64]? = nil
    ) -> [EmbeddingHit] {
        best(count, query, rows, filter, list: nil)
    }

    /// Scans the sign codes of all rows, then scores the nearest candidates.
    ///
    /// - Parameters:
    ///   - codes: The codes of the rows (``signCodes(of:)``).
    ///   - candidates: The number of rows to score, at least `count`.
    package func best(
        _ count: Int, for query: [Float], in rows: EmbeddingRows, codes: UnsafeBufferPointer<UInt64>, candidates: Int,
        filter: [UInt64]? = nil
    ) -> [EmbeddingHit] {
        let words = Self.codeWords(rows.width)
        precondition(codes.count == rows.count * words)
        guard let base = codes.baseAddress, count > 0, rows.count > 0 else { return [] }
        check(query, rows, filter)
        let wanted = min(max(candidates, count), rows.count)
        var code = [UInt64](repeating: 0, count: words)
        for (index, component) in query.enumerated() where component < 0 { code[index / 64] |= 1 << UInt64(index % 64) }
        let capacity = 2 * wanted + 1024
        let list = [UInt32](unsafeUninitializedCapacity: capacity) { list, found in
            found = withUnsafeTemporaryAllocation(of: UInt16.self, capacity: capacity) { distances in
                guard let list = list.baseAddress, let distances = distances.baseAddress else { return 0 }
                return kernels.nearest_codes(base, rows.count, words, code, filter, list, distances, wanted)
            }
        }
        return best(count, query, rows, nil, list: list)
    }

    /// Returns some rows with their similarities, best first.
    ///
    /// - Precondition: Each position is below the number of rows.
    package func similarities(of positions: [Int], to query: [Float], in rows: EmbeddingRows) -> [EmbeddingHit] {
        precondition(positions.allSatisfy { $0 >= 0 && $0 < rows.count })
        return best(positions.count, query, rows, nil, list: positions.map(UInt32.init))
    }

    /// Returns the sign codes of rows, as 64-bit words: one bit per component, 1 if the component
    /// is negative.
    package func signCodes(of rows: EmbeddingRows) -> [UInt64] {
        let count = rows.count * Self.codeWords(rows.width)
        return [UInt64](unsafeUninitializedCapacity: count) { codes, written in
            guard let components = rows.components.baseAddress, let base = codes.baseAddress else { return }
            kernels.sign_codes(components, rows.count, rows.width, base)
            written = count
        }
    }

    /// Returns the number of words in a sign code.
    package static func codeWords(_ width: Int) -> Int { (width + 63) / 64 }

    private func check(_ query: [Float], _ rows: EmbeddingRows, _ filter: [UInt64]?) {
        precondition(query.count == rows.width, "the width of the query differs from the width of the rows")
        precondition(filter.map { $0.count * 64 >= rows.count } ?? true, "the filter has too few bits")
    }

    private func best(
        _ count: Int, _ query: [Float], _ rows: EmbeddingRows, _ filter: [UInt64]?, list: [UInt32]?
    ) -> [EmbeddingHit] {
        check(query, rows, filter)
        guard let components = rows.components.baseAddress, let scales = rows.scales.baseAddress, count > 0 else {
            return []
        }
        // A query is quantized more finely than the rows, because there is only one.
        guard query.allSatisfy(\.isFinite) else { return [] }
        let step = query.reduce(0) { max($0, abs($1)) } / Float(CEMBEDDING_QUERY_PEAK)
        guard step.isNormal else { return [] }
        let quantized = query.map { Int16(($0 / step).rounded()) }
        let wanted = min(count, rows.count)
        let hits = [cembedding_hit](unsafeUninitializedCapacity: wanted) { hits, found in
            guard let base = hits.baseAddress else { return }
            found = kernels.best_rows(
                components, scales, rows.count, rows.width, quantized, filter, list, list?.count ?? 0, base, wanted)
        }
        return hits.map { EmbeddingHit(row: Int($0.row), similarity: $0.score * step) }
    }
}
