// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import SearchIndex

/// Measures how long cancelled work continues: from the cancellation until the reading connection
/// is free again, not until the caller gets the error.
enum Cancelling {
    private static let samples = 50
    /// The delays before a cancellation. They differ, so that every phase of the work is cancelled.
    private static let delays: [Duration] = [.milliseconds(1), .milliseconds(3), .milliseconds(8), .milliseconds(20)]

    static func run(index: SearchIndex) async throws -> [Measurement] {
        let works: [(name: String, run: @Sendable () async throws -> Void)] = [
            ("counting for a letter", { _ = try await index.count(SearchRequest("e")) }),
            ("counting for two words", { _ = try await index.count(SearchRequest("the and ")) }),
            // Words that nearly all texts contain, but never adjacent, so FTS5 searches for a long
            // time until the first match.
            ("a phrase", { _ = try await index.search(SearchRequest("\"with the from and to of\"")) }),
            ("a ranking of all", { _ = try await index.rankingOfAll(SearchRequest("the and")) }),
            ("a query", { _ = try await index.count(matching: try QueryExpression(parsing: "** == \"*zq*\"cd")) }),
        ]
        var times: [Double] = []
        var longest: (time: Double, name: String) = (0, "")
        var cancelled = 0
        for sample in 0..<samples {
            let work = works[sample % works.count]
            let task = Task { try await work.run() }
            try await Task.sleep(for: delays[sample / works.count % delays.count])
            let start = ProcessCost.now
            task.cancel()
            if case .failure = await task.result {
                cancelled += 1
                let time = (ProcessCost.now - start).wall * 1000
                times.append(time)
                if time > longest.time { longest = (time, work.name) }
            }
        }
        let percentiles = Percentiles(times)
        return [
            Measurement(
                name: "cancelled work goes on (\(cancelled) of \(samples)), p50", value: percentiles.p50, unit: "ms"),
            Measurement(
                name: "cancelled work goes on, p95", value: percentiles.p95, unit: "ms", row: .cancellation),
            Measurement(name: "cancelled work goes on, longest (\(longest.name))", value: longest.time, unit: "ms"),
        ]
    }
}
