// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// Measures the suggestions for each typed character: prefixes of words alone and after other
/// words, of filters and of misspelled words.
enum Suggesting {
    private static let secondsPerClass = 3.0

    static func run(index: SearchIndex, classes: [QueryClass], items: Int) async throws -> [Measurement] {
        var texts = classes.filter { $0.name.contains("letter") && $0.kind == .word }
            .map { ($0.name, $0.queries.map(\.typed)) }
        let filters = ["ki", "kind:", "kind:p", "from:a", "before:", "tag:a", "app:"]
        let words = texts.last?.1 ?? []
        texts.append(("a filter", (0..<10).flatMap { _ in filters }))
        texts.append(
            ("a word and a filter", words.prefix(50).map { ($0.split(separator: " ").first ?? "") + " kind:p" }))
        texts.append(
            ("a misspelled word", words.prefix(50).map { String(($0.split(separator: " ").first ?? "") + "qx") }))
        var measurements: [Measurement] = []
        var slowest: (name: String, p95: Double) = ("", -1)
        for (name, texts) in texts {
            var times: [Double] = []
            let start = ProcessCost.now
            // The first pass is warm-up.
            for (number, text) in (texts + texts).enumerated() {
                guard (ProcessCost.now - start).wall < secondsPerClass || times.isEmpty else { break }
                var request = SuggestionRequest(text)
                request.includesPending = false
                let cost = try await ProcessCost.measure { blackHole(try await index.suggestions(request)) }
                if number >= texts.count || cost.wall > secondsPerClass / Double(texts.count) {
                    times.append(cost.wall * 1000)
                }
            }
            let percentiles = Percentiles(times)
            measurements.append(
                Measurement(name: "suggestions for \(name), p95", value: percentiles.p95, unit: "ms"))
            if percentiles.p95 > slowest.p95 { slowest = (name, percentiles.p95) }
        }
        measurements.append(
            Measurement(
                name: "suggestions among \(items) items, p95 of the slowest class: \(slowest.name)", value: slowest.p95,
                unit: "ms", row: .suggestions))
        return measurements
    }
}
