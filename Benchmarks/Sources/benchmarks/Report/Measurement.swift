// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A figure, with an optional baseline from the same run. A figure that belongs to a row has a
/// threshold.
struct Measurement: Codable {
    var name: String
    var value: Double
    var unit: String
    /// The name of the baseline: the same work, or its core, without Searchlight, measured in the
    /// same run.
    var baseline: String?
    var baselineValue: Double?
    var row: Row?

    /// The ratio to the baseline. Also nil for a baseline of 0, such as a time below the clock's
    /// resolution, since JSON has no infinity.
    var ratio: Double? { baselineValue.flatMap { $0 == 0 ? nil : value / $0 } }

    /// Returns the verdict for a threshold; nil without a threshold.
    func verdict(_ threshold: Threshold?) -> Verdict? {
        guard let threshold, threshold.subject == .value || baselineValue != nil else { return nil }
        if let number = threshold.subject == .ratio ? ratio : value, threshold.isMet(number) { return .met }
        return threshold.explained == nil ? .missed : .explained
    }

    static func number(_ value: Double?) -> String {
        guard let value else { return "" }
        return abs(value) >= 999.5 ? String(format: "%.0f", value) : String(format: "%.3g", value)
    }

    /// The cells of a Markdown table row: the name, the figure, the baseline, its figure, the
    /// ratio.
    var cells: String {
        "\(name) | \(Self.number(value)) \(unit) | \(baseline ?? "") | \(Self.number(baselineValue)) "
            + "| \(Self.number(ratio))"
    }
}

/// The result of a comparison with a threshold. `explained` is a miss whose reason is documented.
enum Verdict: String, Encodable { case met, missed, explained }
