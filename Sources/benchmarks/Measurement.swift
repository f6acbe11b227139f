// SPDX-License-Identifier: Apache-2.0
import Foundation

/// One figure, beside the named baseline it is to be compared with and the bar it has to reach.
struct Measurement: Encodable {
    var name: String
    var value: Double
    var unit: String
    /// What the same work, or its bare core, costs without Searchlight, measured in the same run.
    var baseline: String?
    var baselineValue: Double?
    /// The most that `value` may be.
    var bar: Double?

    var ratio: Double? { baselineValue.map { value / $0 } }
    var isMet: Bool? { bar.map { value <= $0 } }

    /// A row of a Markdown table.
    var row: String {
        func number(_ value: Double?) -> String { value.map { String(format: "%.3g", $0) } ?? "" }
        let met = isMet.map { $0 ? "met" : "missed" } ?? ""
        return "| \(name) | \(number(value)) \(unit) | \(baseline ?? "") | \(number(baselineValue)) | \(number(ratio)) "
            + "| \(bar.map { number($0) + " " + unit } ?? "") | \(met) |"
    }

    static let header = """
        | What | Value | Baseline | Baseline's value | Ratio | Bar | |
        |---|---|---|---|---|---|---|
        """
}

/// Keeps a value alive, so that the work that made it cannot be left out.
@inline(never)
func blackHole<Value>(_ value: Value) {}

/// The median time of one repetition, in seconds, over several samples; the first is not counted.
func medianSeconds(samples: Int = 9, repetitions: Int, _ body: () -> Void) -> Double {
    var seconds: [Double] = []
    for sample in 0...samples {
        let elapsed = ContinuousClock().measure { for _ in 0..<repetitions { body() } }
        guard sample > 0 else { continue }
        let total = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
        seconds.append(total / Double(repetitions))
    }
    return seconds.sorted()[seconds.count / 2]
}
