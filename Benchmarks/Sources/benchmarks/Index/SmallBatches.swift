// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchIndex

/// Measures durable batches of ten new items, as apps donate them.
enum SmallBatches {
    static let itemsPerBatch = 10
    private static let secondsPerWay = 4.0

    /// Supplies new items from the corpus's reserve. When the reserve is used up, the source starts
    /// again with other item names.
    struct Source {
        private var reader: Corpus.Reader
        private let corpus: Corpus
        private var round = 0
        private let suffix: String

        /// - Parameter suffix: Distinguishes the names of several sources.
        init(_ corpus: Corpus, suffix: String) throws {
            self.corpus = corpus
            self.suffix = suffix
            reader = try Self.reader(corpus)
        }

        private static func reader(_ corpus: Corpus) throws -> Corpus.Reader {
            let reader = try corpus.reader()
            for _ in 0..<corpus.count { _ = try reader.next() }
            return reader
        }

        mutating func batch() throws -> (bundle: String, items: [EncodedItem]) {
            var items: [EncodedItem] = []
            var bundle = 0
            while items.count < itemsPerBatch {
                guard let next = try reader.next() else {
                    reader = try Self.reader(corpus)
                    round += 1
                    continue
                }
                var record = try ItemRecord(decoding: next.record)
                record.uniqueIdentifier += "-\(suffix)-\(round)"
                items.append(try EncodedItem(record))
                bundle = next.bundle
            }
            return (CorpusMaker.bundle(bundle), items)
        }

        /// Returns `count` batches, created in advance.
        mutating func batches(_ count: Int) throws -> [(bundle: String, items: [EncodedItem])] {
            try (0..<count).map { _ in try batch() }
        }
    }

    static func run(index: SearchIndex, plain: PlainStore, corpus: Corpus) async throws -> [Measurement] {
        var source = try Source(corpus, suffix: "\(plain.count)")
        // Enough batches for several FTS5 merges.
        let first = try source.batches(1000)
        var times: [Double] = []
        let start = ProcessCost.now
        for batch in first where (ProcessCost.now - start).wall < secondsPerWay {
            let cost = try ProcessCost.measure { try plain.insert(batch.items.map { (batch.bundle, $0) }) }
            times.append(cost.wall)
        }
        let naive = rate(times.count, times.reduce(0, +))

        let (alone, settled, latency) = try await commit(try source.batches(1000), index: index, tasks: 1)
        let (together, _, _) = try await commit(try source.batches(2000), index: index, tasks: 8)
        let baseline = "plain FTS5, a transaction each"
        return [
            Measurement(
                name: "batches of 10, one after the other", value: alone, unit: "items/s", baseline: baseline,
                baselineValue: naive, row: .batchesOfOne),
            Measurement(
                name: "batches of 10, one after the other, until all can be found", value: settled, unit: "items/s",
                baseline: baseline,
                baselineValue: naive),
            Measurement(
                name: "batches of 10 from 8 tasks", value: together, unit: "items/s", baseline: baseline,
                baselineValue: naive, row: .batchesOfEight),
            Measurement(
                name: "one batch of 10 durable, p50", value: latency.p50, unit: "ms", baseline: baseline,
                baselineValue: Percentiles(times).p50 * 1000),
            Measurement(
                name: "one batch of 10 durable, p95", value: latency.p95, unit: "ms", baseline: baseline,
                baselineValue: Percentiles(times).p95 * 1000),
            Measurement(
                name: "one batch of 10 durable, longest", value: latency.maximum, unit: "ms", baseline: baseline,
                baselineValue: Percentiles(times).maximum * 1000),
        ]
    }

    private static func rate(_ batches: Int, _ seconds: Double) -> Double {
        Double(batches * itemsPerBatch) / max(seconds, 1e-9)
    }

    private static func commit(
        _ batches: [(bundle: String, items: [EncodedItem])], index: SearchIndex, tasks: Int
    ) async throws -> (acknowledged: Double, settled: Double, latency: Percentiles) {
        try await index.settle()
        let start = ProcessCost.now
        let times = try await withThrowingTaskGroup(of: [Double].self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var times: [Double] = []
                    for place in stride(from: task, to: batches.count, by: tasks) {
                        let (bundle, items) = batches[place]
                        let cost = try await ProcessCost.measure {
                            try await index.index(items, in: IndexScope(bundle: bundle))
                        }
                        times.append(cost.wall * 1000)
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let acknowledged = (ProcessCost.now - start).wall
        try await index.settle()
        let settled = (ProcessCost.now - start).wall
        return (rate(batches.count, acknowledged), rate(batches.count, settled), Percentiles(times))
    }
}
