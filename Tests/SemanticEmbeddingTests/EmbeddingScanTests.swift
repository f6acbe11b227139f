// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import SemanticEmbedding

@Suite("Scans over embeddings")
struct EmbeddingScanTests {
    /// Quantized rows with random components, and the same rows as floats.
    private struct Store {
        var components: [Int8] = []
        var scales: [Float] = []
        let width: Int

        init(count: Int, width: Int, random: inout SplitMix64) {
            self.width = width
            for _ in 0..<count { add(Self.vector(width, &random)) }
        }

        mutating func add(_ vector: [Float]) {
            let quantized = QuantizedEmbedding(vector)
            components += quantized.components
            scales.append(quantized.scale)
        }

        static func vector(_ width: Int, _ random: inout SplitMix64) -> [Float] {
            let vector = (0..<width).map { _ in Float(random.below(2001)) / 1000 - 1 }
            let length = vector.reduce(0) { $0 + $1 * $1 }.squareRoot()
            return vector.map { $0 / max(length, 1e-6) }
        }

        func scan<Result>(_ body: (EmbeddingRows) throws -> Result) rethrows -> Result {
            try components.withUnsafeBufferPointer { components in
                try scales.withUnsafeBufferPointer { scales in
                    try body(EmbeddingRows(components: components, scales: scales, width: width))
                }
            }
        }

        /// Returns the similarity of each row, in double precision.
        func similarities(_ query: [Float]) -> [Double] {
            scales.indices.map { row in
                (0..<width).reduce(0) { $0 + Double(components[row * width + $1]) * Double(query[$1]) }
                    * Double(scales[row])
            }
        }
    }

    @Test("Every level finds the most similar rows that the filter allows")
    func exact() {
        var random = SplitMix64(seed: 41)
        for (count, width) in [(0, 16), (1, 16), (130, 48), (700, 384), (65, 1024)] {
            let store = Store(count: count, width: width, random: &random)
            let query = Store.vector(width, &random)
            let similarities = store.similarities(query)
            for isFiltered in [false, true] {
                // Some groups of 64 rows are excluded.
                let filter = (0..<(count + 63) / 64).map { _ in random.below(3) == 0 ? 0 : random.next() }
                let allowed = similarities.indices.filter { !isFiltered || filter[$0 / 64] >> UInt64($0 % 64) & 1 == 1 }
                let expected = allowed.map { similarities[$0] }.sorted(by: >)
                for level in KernelLevel.available {
                    let hits = store.scan {
                        EmbeddingScan(level: level).best(10, for: query, in: $0, filter: isFiltered ? filter : nil)
                    }
                    #expect(hits.count == min(10, allowed.count))
                    #expect(Set(hits.map(\.row)).count == hits.count && hits.allSatisfy { allowed.contains($0.row) })
                    for (index, hit) in hits.enumerated() {
                        #expect(abs(Double(hit.similarity) - similarities[hit.row]) < 1e-3)
                        #expect(abs(Double(hit.similarity) - expected[index]) < 2e-3, "\(level) \(count) \(width)")
                    }
                }
            }
        }
    }

    @Test("All levels give equal hits, and equal rows in their order")
    func equalHits() {
        var random = SplitMix64(seed: 42)
        var store = Store(count: 300, width: 64, random: &random)
        let query = Store.vector(64, &random)
        for _ in 0..<20 { store.add(query) }
        let hits = KernelLevel.available.map { level in
            store.scan { EmbeddingScan(level: level).best(15, for: query, in: $0) }
        }
        #expect(hits.allSatisfy { $0 == hits[0] })
        #expect(hits[0].map(\.row) == Array(300..<315))
    }

    @Test("Invalid scales hide their rows, and a query of zeros finds nothing")
    func notNumbers() {
        var random = SplitMix64(seed: 43)
        var store = Store(count: 40, width: 32, random: &random)
        for row in stride(from: 0, to: 40, by: 2) { store.scales[row] = .nan }
        let query = Store.vector(32, &random)
        for level in KernelLevel.available {
            let hits = store.scan { EmbeddingScan(level: level).best(40, for: query, in: $0) }
            #expect(hits.map(\.row).sorted() == Array(stride(from: 1, to: 40, by: 2)))
            for component: Float in [0, .nan, .infinity, .leastNonzeroMagnitude] {
                let none = [component] + [Float](repeating: 0, count: 31)
                #expect(store.scan { EmbeddingScan(level: level).best(5, for: none, in: $0) }.isEmpty)
            }
        }
    }

    @Test("Sign codes have a bit for each negative component")
    func signCodes() {
        var random = SplitMix64(seed: 46)
        var store = Store(count: 0, width: 96, random: &random)
        store.add((0..<96).map { [0, 63, 64, 95].contains($0) ? -1 : $0 % 2 == 0 ? 1 : 0 })
        for level in KernelLevel.available {
            let codes = store.scan { EmbeddingScan(level: level).signCodes(of: $0) }
            #expect(codes == [1 << 63 | 1, 1 << 31 | 1] as [UInt64])
        }
    }

    @Test("The candidates are the rows with the smallest Hamming distances, and the first of equal ones")
    func candidates() {
        var random = SplitMix64(seed: 44)
        for (count, width, wanted) in [(5, 16, 9), (3000, 384, 40), (5000, 64, 1), (4000, 112, 700)] {
            let store = Store(count: count, width: width, random: &random)
            let query = Store.vector(width, &random)
            let filter = (0..<(count + 63) / 64).map {
                random.below(5) == 0 && $0 > 0 ? 0 : random.next() | random.next()
            }
            let signs = query.map { $0 < 0 }
            let nearest = (0..<count).filter { filter[$0 / 64] >> UInt64($0 % 64) & 1 == 1 }.map { row in
                ((0..<width).count { (store.components[row * width + $0] < 0) != signs[$0] }, row)
            }.sorted { $0 < $1 }.prefix(wanted).map(\.1)
            for level in KernelLevel.available {
                let scan = EmbeddingScan(level: level)
                let rows = store.scan { rows in
                    let codes = scan.signCodes(of: rows)
                    return codes.withUnsafeBufferPointer {
                        scan.best(wanted, for: query, in: rows, codes: $0, candidates: wanted, filter: filter)
                    }
                }
                #expect(rows.map(\.row).sorted() == nearest.sorted(), "\(level) \(count) \(width)")
                #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.similarity >= $1.similarity })
            }
        }
    }

    @Test("A table with sign codes finds what a scan of all components finds, even with a filter and new rows")
    func table() throws {
        var random = SplitMix64(seed: 47)
        let width = 64
        let centers = (0..<300).map { _ in Store.vector(width, &random) }
        func near(_ center: [Float]) -> [Float] {
            let sum = zip(center, Store.vector(width, &random)).map { $0 + 0.5 * $1 }
            let length = sum.reduce(0) { $0 + $1 * $1 }.squareRoot()
            return sum.map { $0 / length }
        }
        var (table, few) = (EmbeddingTable(width: width), Store(count: 0, width: width, random: &random))
        for number in 0..<(EmbeddingTable.fewestWithCodes + 200) {
            let vector = near(centers[number % centers.count])
            table.append(QuantizedEmbedding(vector))
            few.add(vector)
            // The first call finds no codes, the second computes them all, and the last adds some.
            if [1000, EmbeddingTable.fewestWithCodes + 100].contains(number) { table.completeCodes() }
        }
        table.completeCodes()
        let filter = (0..<(table.count + 63) / 64).map { _ in random.next() | random.next() | random.next() }
        for filter in [nil, filter.map { _ in UInt64.max }, filter] {
            var (found, wanted) = (0, 0)
            for center in centers.prefix(20) {
                let exact = few.scan { EmbeddingScan().best(10, for: center, in: $0, filter: filter) }
                let hits = KernelLevel.available.map { table.best(10, for: center, filter: filter, level: $0) }
                #expect(hits.allSatisfy { $0 == hits[0] })
                found += Set(exact.map(\.row)).intersection(hits[0].map(\.row)).count
                wanted += exact.count
                #expect(hits[0].first == exact.first)
            }
            #expect(Double(found) >= 0.99 * Double(wanted), "\(found) of \(wanted)")
        }
        let some = [5, 70_000 % table.count, 17]
        let similarities = table.similarities(of: some, to: centers[5])
        #expect(Set(similarities.map(\.row)) == Set(some) && similarities.first?.row == 5)
    }

    @Test("A quantized embedding keeps its direction")
    func quantized() {
        var random = SplitMix64(seed: 45)
        for _ in 0..<50 {
            let vector = Store.vector(384, &random)
            let quantized = QuantizedEmbedding(vector)
            let restored = quantized.components.map { Float($0) * quantized.scale }
            let length = restored.reduce(0) { $0 + $1 * $1 }.squareRoot()
            #expect(TextEmbedder.similarity(vector, restored) / length > 0.9999)
            #expect(quantized.components.contains { abs($0) == 127 })
        }
        #expect(QuantizedEmbedding([0, 0]).components == [0, 0])
        #expect(QuantizedEmbedding([.nan, 1]).components == [0, 127])
        let tiny = Float(bitPattern: 1)
        #expect(QuantizedEmbedding([tiny, -tiny]).components == [0, 0])
    }
}
