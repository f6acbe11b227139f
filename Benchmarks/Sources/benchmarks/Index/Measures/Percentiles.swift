// SPDX-License-Identifier: Apache-2.0

/// The median and the upper percentiles of a set of durations.
struct Percentiles: Codable {
    var count: Int
    var p50: Double
    var p95: Double
    var p99: Double
    var maximum: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        func at(_ share: Double) -> Double {
            // The nearest-rank method.
            sorted.isEmpty ? 0 : sorted[max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)]
        }
        count = values.count
        // The median. For an even count, it is the mean of the two middle values, which may differ
        // considerably in small samples.
        p50 = sorted.isEmpty ? 0 : (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        p95 = at(0.95)
        p99 = at(0.99)
        maximum = sorted.last ?? 0
    }
}
