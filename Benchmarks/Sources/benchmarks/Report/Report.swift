// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A fact that helps to interpret the figures.
struct Fact: Codable {
    var name: String
    var value: String
}

/// A part that could not be measured.
struct Failure: Codable {
    var part: Part
    var reason: String
}

/// All results of a run.
struct Report: Codable {
    var facts: [Fact] = []
    var measurements: [Measurement] = []
    var searches: [SearchLatency] = []
    var failures: [Failure] = []

    static func += (left: inout Report, right: Report) {
        left.facts += right.facts
        left.measurements += right.measurements
        left.searches += right.searches
        left.failures += right.failures
    }
}

/// A report with its thresholds, as Markdown and as JSON.
struct JudgedReport {
    var report: Report
    let thresholds: Thresholds
    /// The requested parts; rows of other parts are not reported as unmeasured.
    let parts: [Part]

    /// The figures that miss their threshold without a documented reason.
    var missed: [Measurement] { report.measurements.filter { verdict($0) == .missed } }

    /// The thresholds in the requested parts for which there is no figure.
    var unmeasured: [Threshold] {
        let measured = Set(report.measurements.compactMap(\.row))
        return thresholds.all.filter { threshold in
            !measured.contains(threshold.row) && threshold.row.part.map(parts.contains) == true
        }
    }

    private func threshold(_ measurement: Measurement) -> Threshold? { measurement.row.flatMap { thresholds[$0] } }
    private func verdict(_ measurement: Measurement) -> Verdict? { measurement.verdict(threshold(measurement)) }

    // MARK: For people

    var markdown: String {
        var lines = report.facts.map { "- \($0.name): \($0.value)" }
        for failure in report.failures {
            lines.append("- **not measured**: \(failure.part.rawValue): \(failure.reason)")
        }
        lines += table("Bars of the design", thresholds.all.filter { $0.design != nil })
        lines += table("Goals of single areas", thresholds.all.filter { $0.goal != nil })
        let others = report.measurements.filter { $0.row == nil }
        if !others.isEmpty {
            lines += [
                "", "## Other figures", "", "| What | Figure | Baseline | Its figure | Ratio |",
                "|---|---|---|---|---|",
            ]
            lines += others.map { "| \($0.cells) |" }
        }
        if !report.searches.isEmpty {
            lines += ["", "## Searches", "", SearchLatency.header] + report.searches.map { $0.row(thresholds) }
        }
        return lines.joined(separator: "\n")
    }

    private func table(_ title: String, _ thresholds: [Threshold]) -> [String] {
        var rows: [String] = []
        let missing = Set(unmeasured.map(\.row))
        for threshold in thresholds {
            let source = threshold.design ?? threshold.goal ?? ""
            if missing.contains(threshold.row) { rows.append("| \(source) | | | | | \(threshold) | not measured |") }
            for measurement in report.measurements where measurement.row == threshold.row {
                let said =
                    switch verdict(measurement) {
                    case .met: "met"
                    case .explained: "missed, [explained](\(threshold.explained ?? ""))"
                    case .missed: "**missed**"
                    case nil: ""
                    }
                rows.append("| \(source) | \(measurement.cells) | \(threshold) | \(said) |")
            }
        }
        if rows.isEmpty { return [] }
        return [
            "", "## \(title)", "", "| From | What | Figure | Baseline | Its figure | Ratio | Bar | |",
            "|---|---|---|---|---|---|---|---|",
        ] + rows
    }

    // MARK: For programs

    private struct Document: Encodable {
        struct Entry: Encodable {
            var measurement: Measurement
            var ratio: Double?
            var threshold: Threshold?
            var verdict: Verdict?

            private enum CodingKeys: CodingKey { case ratio, threshold, verdict }

            func encode(to encoder: any Encoder) throws {
                try measurement.encode(to: encoder)
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encodeIfPresent(ratio, forKey: .ratio)
                try container.encodeIfPresent(threshold, forKey: .threshold)
                try container.encodeIfPresent(verdict, forKey: .verdict)
            }
        }

        var facts: [Fact]
        var measurements: [Entry]
        var searches: [SearchLatency]
        var failures: [Failure]
        var unmeasured: [String]
    }

    func json() throws -> String {
        let entries = report.measurements.map {
            Document.Entry(measurement: $0, ratio: $0.ratio, threshold: threshold($0), verdict: verdict($0))
        }
        let document = Document(
            facts: report.facts, measurements: entries, searches: report.searches, failures: report.failures,
            unmeasured: unmeasured.map(\.row.rawValue))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(document), as: UTF8.self)
    }
}
