// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Checks the thresholds that apply to any machine. Other load can only worsen figures, so a
/// threshold that is met once counts as met, and a threshold that is missed each time is a failure.
struct Check {
    let thresholds: Thresholds
    private(set) var options: Benchmarks

    private static let attempts = 3

    init(thresholds: Thresholds, options: Benchmarks) {
        self.thresholds = thresholds
        self.options = options
        // Uses its own folder, so that another run can be in progress.
        self.options.folder += "/check"
    }

    func run() throws {
        var open = thresholds.inTests.map(\.row)
        for attempt in 1...Self.attempts where !open.isEmpty {
            if attempt > 1 { Progress.say("Once more: \(open.map(\.rawValue).joined(separator: ", "))") }
            for part in Part.allCases where open.contains(where: { $0.part == part }) {
                let report = options.measure(part)
                // A part that fails will fail again.
                guard report.failures.isEmpty else { throw ExitCode.failure }
                let judged = JudgedReport(report: report, thresholds: thresholds, parts: [part])
                open.removeAll { $0.part == part && isMet($0, judged) }
            }
        }
        guard open.isEmpty else {
            Progress.say("Missed \(Self.attempts) times: \(open.map(\.rawValue).joined(separator: ", "))")
            throw ExitCode.failure
        }
    }

    /// Returns `true` if the row has figures and all of them meet the threshold.
    private func isMet(_ row: Row, _ judged: JudgedReport) -> Bool {
        let threshold = thresholds[row]
        let measurements = judged.report.measurements.filter { $0.row == row }
        for measurement in measurements {
            let verdict = measurement.verdict(threshold)?.rawValue ?? ""
            Progress.say("  \(measurement.cells) | \(threshold.map { "\($0)" } ?? "") | \(verdict)")
        }
        return !measurements.isEmpty && measurements.allSatisfy { $0.verdict(threshold) == .met }
    }
}
