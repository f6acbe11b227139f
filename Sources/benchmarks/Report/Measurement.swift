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
    var bar: Bar?

    var ratio: Double? { baselineValue.map { value / $0 } }
    var isMet: Bool? {
        guard let bar, let number = bar.subject == .ratio ? ratio : value else { return nil }
        return bar.isMet(number)
    }

    static func number(_ value: Double?) -> String {
        guard let value else { return "" }
        return abs(value) >= 999.5 ? String(format: "%.0f", value) : String(format: "%.3g", value)
    }

    /// A row of a Markdown table.
    var row: String {
        let met = isMet.map { $0 ? "met" : "missed" } ?? ""
        return "| \(name) | \(Self.number(value)) \(unit) | \(baseline ?? "") | \(Self.number(baselineValue)) "
            + "| \(Self.number(ratio)) | \(bar.map { "\($0)" } ?? "") | \(met) |"
    }

    static let header = """
        | What | Value | Baseline | Baseline's value | Ratio | Bar | |
        |---|---|---|---|---|---|---|
        """

    private enum CodingKeys: CodingKey { case name, value, unit, baseline, baselineValue, bar, ratio, isMet }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(value, forKey: .value)
        try container.encode(unit, forKey: .unit)
        try container.encodeIfPresent(baseline, forKey: .baseline)
        try container.encodeIfPresent(baselineValue, forKey: .baselineValue)
        try container.encodeIfPresent(bar, forKey: .bar)
        try container.encodeIfPresent(ratio, forKey: .ratio)
        try container.encodeIfPresent(isMet, forKey: .isMet)
    }
}
