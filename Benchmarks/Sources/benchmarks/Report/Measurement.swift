// SPDX-License-Identifier: Apache-2.0
import Foundation

/// One figure, beside the named baseline it is to be compared with; where it stands under a row, it has a bar to reach.
struct Measurement: Codable {
    var name: String
    var value: Double
    var unit: String
    /// What the same work, or its bare core, costs without Searchlight, measured in the same run.
    var baseline: String?
    var baselineValue: Double?
    var row: Row?

    /// Nil also beside a baseline of nothing, such as a time too short to be counted: JSON knows no infinity.
    var ratio: Double? { baselineValue.flatMap { $0 == 0 ? nil : value / $0 } }

    /// Whether it reaches its bar; nil where there is none.
    func verdict(_ threshold: Threshold?) -> Verdict? {
        guard let threshold, threshold.subject == .value || baselineValue != nil else { return nil }
        if let number = threshold.subject == .ratio ? ratio : value, threshold.isMet(number) { return .met }
        return threshold.explained == nil ? .missed : .explained
    }

    static func number(_ value: Double?) -> String {
        guard let value else { return "" }
        return abs(value) >= 999.5 ? String(format: "%.0f", value) : String(format: "%.3g", value)
    }

    /// What a Markdown table says of it: the figure, the baseline, its figure, the ratio.
    var cells: String {
        "\(name) | \(Self.number(value)) \(unit) | \(baseline ?? "") | \(Self.number(baselineValue)) "
            + "| \(Self.number(ratio))"
    }
}

/// Whether a bar is reached, and if not, whether it is written down why.
enum Verdict: String, Encodable { case met, missed, explained }
