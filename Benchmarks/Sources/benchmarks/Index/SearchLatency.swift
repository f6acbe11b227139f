// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// The latencies of the searches in one class, in milliseconds.
struct SearchLatency: Codable {
    var name: String
    /// The wall-clock time when the index does no other work.
    var idle: Percentiles
    /// The CPU time of the same searches.
    var cpu: Percentiles
    /// The wall-clock time while another task commits.
    var whileWriting: Percentiles?
    /// The wall-clock time of the same searches in plain FTS5.
    var plain: Percentiles
    /// The mean number of hits, of ten requested, in the index and in plain FTS5. The two numbers
    /// should be similar.
    var meanHits: Double
    var plainMeanHits: Double
    /// The share of the ten best matches among the ten returned hits, 0 to 1.
    /// `nil` if nothing was compared.
    var overlap: Double?
    var kind: SearchKind

    /// The time limits per class. A slow class gets fewer samples.
    private static let warmUpSeconds = 1.5
    private static let timedSeconds = 3.0

    /// Measures a class while there is no other work, in the index and in plain FTS5.
    init(_ queries: QueryClass, index: SearchIndex, plain store: PlainStore, compared: Int) async throws {
        name = queries.name
        _ = try await Self.run(queries, seconds: Self.warmUpSeconds) { try await Searching.search(index, $0).count }
        let timed = try await Self.run(queries, seconds: Self.timedSeconds) {
            try await Searching.search(index, $0).count
        }
        idle = Percentiles(timed.costs.map { $0.wall * 1000 })
        cpu = Percentiles(timed.costs.map { $0.cpu * 1000 })
        meanHits = Double(timed.hits) / Double(max(1, timed.costs.count))
        _ = try Self.run(queries, seconds: Self.warmUpSeconds / 2) { try store.search($0) }
        let other = try Self.run(queries, seconds: Self.timedSeconds / 2) { try store.search($0) }
        plain = Percentiles(other.costs.map { $0.wall * 1000 })
        plainMeanHits = Double(other.hits) / Double(max(1, other.costs.count))
        overlap =
            compared == 0
            ? nil : try await Searching.overlap(index, queries.queries, seconds: Self.timedSeconds, least: compared)
        kind = queries.kind
    }

    /// Measures the class again while a writer commits.
    mutating func measureWhileWriting(_ queries: QueryClass, index: SearchIndex) async throws {
        let timed = try await Self.run(queries, seconds: Self.timedSeconds) {
            try await Searching.search(index, $0).count
        }
        whileWriting = Percentiles(timed.costs.map { $0.wall * 1000 })
    }

    private static func run(
        _ queries: QueryClass, seconds: Double, _ search: (SearchQuery) async throws -> Int
    ) async rethrows -> (costs: [ProcessCost], hits: Int) {
        let start = ProcessCost.now
        var costs: [ProcessCost] = []
        var hits = 0
        for query in queries.queries where (ProcessCost.now - start).wall < seconds || costs.isEmpty {
            costs.append(try await ProcessCost.measure { hits += try await search(query) })
        }
        return (costs, hits)
    }

    private static func run(
        _ queries: QueryClass, seconds: Double, _ search: (SearchQuery) throws -> Int
    ) rethrows -> (costs: [ProcessCost], hits: Int) {
        let start = ProcessCost.now
        var costs: [ProcessCost] = []
        var hits = 0
        for query in queries.queries where (ProcessCost.now - start).wall < seconds || costs.isEmpty {
            costs.append(try ProcessCost.measure { hits += try search(query) })
        }
        return (costs, hits)
    }

    /// Returns the figures for the slowest class without other work, to which the typing thresholds
    /// apply.
    static func slowest(of searches: [SearchLatency], items: Int) -> [Measurement] {
        func row(
            _ row: Row, _ percentile: String, _ searches: [SearchLatency], _ value: (Percentiles) -> Double
        ) -> Measurement? {
            guard let slowest = searches.max(by: { value($0.idle) < value($1.idle) }) else { return nil }
            return Measurement(
                name: "search among \(items) items, \(percentile) of the slowest class: \(slowest.name)",
                value: value(slowest.idle), unit: "ms", baseline: "plain FTS5", baselineValue: value(slowest.plain),
                row: row)
        }
        return [
            row(.searchP50, "p50", searches.filter { $0.kind != .question }, \.p50),
            row(.searchP95, "p95", searches.filter { $0.kind == .word }, \.p95),
            row(.infixP95, "p95", searches.filter { $0.kind == .inside }, \.p95),
            row(.questionP50, "p50", searches.filter { $0.kind == .question }, \.p50),
            row(.questionP95, "p95", searches.filter { $0.kind == .question }, \.p95),
            searches.compactMap { one in one.overlap.map { (name: one.name, overlap: $0) } }
                .min { $0.overlap < $1.overlap }.map { least in
                    Measurement(
                        name:
                            "share of the best ten that are found among \(items) items, the worst class: \(least.name)",
                        value: least.overlap, unit: "", row: .overlap)
                },
        ].compactMap { $0 }
    }

    /// Returns the verdict for both thresholds: without other work, and while writing.
    private func verdict(_ p50: Threshold?, _ p95: Threshold?) -> String {
        func isMet(_ times: Percentiles) -> Bool { p50?.isMet(times.p50) != false && p95?.isMet(times.p95) != false }
        if !isMet(idle) { return "missed" }
        return whileWriting.map(isMet) ?? true ? "met" : "met idle"
    }

    static let header = """
        | Search, ms p50 / p95 | Searchlight | its CPU time | while writing | plain FTS5 | hits of 10, both | overlap | Bar | |
        |---|---|---|---|---|---|---|---|---|
        """

    /// Returns a row of a Markdown table.
    func row(_ thresholds: Thresholds) -> String {
        let (p50, p95) = (thresholds[kind.rows.p50], thresholds[kind.rows.p95])
        func pair(_ times: Percentiles?) -> String {
            guard let times else { return "" }
            let few = times.count < 100 ? " (\(times.count))" : ""
            return "\(Measurement.number(times.p50)) / \(Measurement.number(times.p95))\(few)"
        }
        return "| \(name) | \(pair(idle)) | \(pair(cpu)) | \(pair(whileWriting)) | \(pair(plain)) "
            + "| \(Measurement.number(meanHits)) / \(Measurement.number(plainMeanHits)) | \(overlap.map(Measurement.number) ?? "") "
            + "| \(p50.map { "\($0)" } ?? "") / \(p95.map { "\($0)" } ?? "") | \(verdict(p50, p95)) |"
    }
}
