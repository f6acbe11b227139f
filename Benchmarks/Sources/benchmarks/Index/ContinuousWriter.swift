// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchIndex

/// Commits batches of ten new items at a fixed rate until it is stopped.
///
/// The rate is limited, since donating is faster than applying. A search waits for all items that
/// were durable before it, so an unlimited writer would make it wait for a growing backlog.
struct ContinuousWriter {
    /// The number of batches per second, more than a busy mail program sends during its first
    /// synchronization.
    static let batchesPerSecond = 100

    private let task: Task<[Double], any Error>
    private let start = ProcessCost.now

    init(index: SearchIndex, corpus: Corpus, suffix: String) throws {
        task = Task {
            var source = try SmallBatches.Source(corpus, suffix: suffix)
            var times: [Double] = []
            var due = ContinuousClock.now
            while !Task.isCancelled {
                let (bundle, items) = try source.batch()
                let cost = try await ProcessCost.measure {
                    try await index.index(items, in: IndexScope(bundle: bundle))
                }
                times.append(cost.wall * 1000)
                due = due.advanced(by: .seconds(1) / Self.batchesPerSecond)
                try? await Task.sleep(until: due, clock: .continuous)
            }
            return times
        }
    }

    /// Stops the writer and returns its throughput.
    func stop() async throws -> [Measurement] {
        task.cancel()
        let times = try await task.value
        let seconds = (ProcessCost.now - start).wall
        let percentiles = Percentiles(times)
        return [
            Measurement(
                name: "batches of 10 while searched", value: Double(times.count * SmallBatches.itemsPerBatch) / seconds,
                unit: "items/s"),
            Measurement(name: "one batch of 10 while searched, p95", value: percentiles.p95, unit: "ms"),
            Measurement(name: "one batch of 10 while searched, longest", value: percentiles.maximum, unit: "ms"),
        ]
    }
}
