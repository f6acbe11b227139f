// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// Commits batches of ten new items one after the other until it is told to stop.
struct ContinuousWriter {
    private let task: Task<[Double], any Error>
    private let start = ProcessCost.now

    init(index: SearchIndex, corpus: Corpus, suffix: String) throws {
        task = Task {
            var source = try SmallBatches.Source(corpus, suffix: suffix)
            var times: [Double] = []
            while !Task.isCancelled {
                let (bundle, items) = try source.batch()
                let cost = try await ProcessCost.measure {
                    try await index.index(items, in: IndexScope(bundle: bundle))
                }
                times.append(cost.wall * 1000)
            }
            return times
        }
    }

    /// Stops, and tells how fast it was.
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
