// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SearchIndex

/// Commits batches of ten new items, one after the other at an even pace, until it is told to stop.
///
/// Without a pace it would measure something else: donating is quicker than applying, a search sees all that was durable
/// before it, and so would wait for an ever longer backlog.
struct ContinuousWriter {
    /// More than a busy mail program on its first synchronisation.
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
