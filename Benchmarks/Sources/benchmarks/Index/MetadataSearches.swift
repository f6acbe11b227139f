// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import SearchIndex
import TestSupport

/// Measures typical metadata queries with 100 items per page.
enum MetadataSearches {
    private static let perKind = 20
    private static let secondsPerKind = 4.0
    private static let day = 86_400

    static func run(index: SearchIndex, corpus: Corpus) async throws -> [Measurement] {
        var generator = SplitMix64(seed: corpus.seed &+ 2)
        let records = try corpus.records(at: (0..<(perKind * 4)).map { $0 * (corpus.count / (perKind * 4)) }).map(
            \.record)
        let words = records.compactMap {
            $0.text("textContent")?.split(separator: " ").first { $0.count > 4 && $0.allSatisfy(\.isLetter) }
        }
        let titles = records.compactMap { $0.text("title")?.prefix(5) }
        let kinds: [(name: String, query: (inout SplitMix64) -> String)] = [
            (
                "a custom attribute equals",
                { "com_example_project == \"project-\($0.below(CorpusMaker.projectCount))\"" }
            ),
            (
                "a date range of 18 days (1 %)",
                { generator in
                    let start = 631_152_000 + generator.below(1800) * day
                    return "InRange(contentCreationDate, \(start), \(start + 18 * day))"
                }
            ),
            ("the title begins with", { "title == \"\(TextPattern.escaped(String($0.pick(titles))))*\"cd" }),
            ("the title contains", { "title == \"*\(TextPattern.escaped(String($0.pick(titles).dropFirst())))*\"cd" }),
            ("a type in the tree", { _ in "contentTypeTree == \"public.image\"" }),
            ("any attribute equals a word", { "** == \"\(TextPattern.escaped(String($0.pick(words))))\"c" }),
            ("any attribute has a word", { "** == \"*\(TextPattern.escaped(String($0.pick(words))))*\"cdw" }),
        ]
        var measurements: [Measurement] = []
        for (name, query) in kinds {
            let queries = try (0..<perKind).map { _ in try QueryExpression(parsing: query(&generator)) }
            var times: [Double] = []
            let start = ProcessCost.now
            // The first pass is warm-up.
            for (number, query) in (queries + queries).enumerated() {
                guard (ProcessCost.now - start).wall < secondsPerKind || times.isEmpty else { break }
                let cost = try await ProcessCost.measure { blackHole(try await index.items(matching: query)) }
                if number >= perKind || cost.wall > secondsPerKind / Double(perKind) { times.append(cost.wall * 1000) }
            }
            let percentiles = Percentiles(times)
            measurements.append(Measurement(name: "\(name), p50", value: percentiles.p50, unit: "ms"))
            measurements.append(Measurement(name: "\(name), p95", value: percentiles.p95, unit: "ms"))
        }
        return measurements
    }
}
