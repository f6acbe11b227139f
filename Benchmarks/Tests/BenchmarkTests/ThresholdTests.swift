// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import benchmarks

@Suite struct ThresholdTests {
    /// Returns the stored thresholds of the repository as mutable JSON.
    private func stored() throws -> [[String: Any]] {
        let data = try Data(contentsOf: URL(filePath: Thresholds.path))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    }

    private func error(_ change: (inout [[String: Any]]) -> Void) throws -> String {
        var objects = try stored()
        change(&objects)
        let data = try JSONSerialization.data(withJSONObject: objects)
        return try #require(#expect(throws: BenchmarkError.self) { try Thresholds(json: data) }).description
    }

    @Test func eachRowHasOneThreshold() throws {
        #expect(try Thresholds().all.count == Row.allCases.count)
        #expect(try error { $0.removeAll { $0["row"] as? String == "index.bulk" } } == "index.bulk has no threshold.")
        #expect(try error { $0.append($0[0]) } == "calls.warm occurs twice.")
        #expect(try error { $0[0]["row"] = "calls.cold" } == "no measurement has the row “calls.cold”.")
    }

    @Test func aThresholdHasOneBoundAndOneSource() throws {
        #expect(try error { $0[0]["atLeast"] = 1 } == "calls.warm needs either “atMost” or “atLeast”.")
        #expect(try error { $0[0]["atMost"] = nil } == "calls.warm needs either “atMost” or “atLeast”.")
        #expect(try error { $0[0]["design"] = nil }.hasPrefix("calls.warm needs its source"))
        #expect(try error { $0[0]["explaned"] = "docs" } == "unknown keys “explaned”.")
    }

    @Test func eachRowIsMeasuredBySomething() throws {
        for row in Row.allCases { #expect(row.part != nil, "\(row.rawValue)") }
        let root = URL(filePath: Repository.root + "/Benchmarks/Sources/benchmarks")
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        let sources = try files.compactMap { $0 as? URL }
            .filter { $0.pathExtension == "swift" && $0.lastPathComponent != "Row.swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        for row in Row.allCases {
            #expect(sources.contains(try Regex("[ (]\\.\(row)\\b")), "Nothing measures \(row.rawValue).")
        }
    }

    @Test func whatIsExplainedIsExplainedThere() throws {
        for threshold in try Thresholds().all {
            guard let place = threshold.explained?.split(separator: "#").map(String.init) else { continue }
            try #require(place.count == 2)
            let page = try String(contentsOfFile: Repository.root + "/" + place[0], encoding: .utf8)
            // Anchors as Markdown viewers derive them from headings.
            let anchors = page.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
                heading.drop { $0 == "#" || $0 == " " }.lowercased().filter {
                    $0.isLetter || $0.isNumber || "- ".contains($0)
                }
                .replacing(" ", with: "-")
            }
            #expect(anchors.contains(place[1]), "\(threshold.row.rawValue)")
        }
    }

    @Test func aRatioIsJudgedByItsBarAndAValueByItsOwn() throws {
        let thresholds = try Thresholds()
        func verdict(_ row: Row, _ value: Double, beside baseline: Double? = nil) -> Verdict? {
            Measurement(name: "", value: value, unit: "", baseline: "", baselineValue: baseline, row: row)
                .verdict(thresholds[row])
        }
        #expect(verdict(.copy, 9, beside: 10) == .met)
        #expect(verdict(.copy, 8.9, beside: 10) == .missed)
        #expect(verdict(.copy, 9) == nil)
        #expect(verdict(.copy, 9, beside: 0) == .missed)
        #expect(verdict(.conformance, 20, beside: 1) == .met)
        #expect(verdict(.conformance, 21) == .missed)
        #expect(verdict(.warmCall, 2, beside: 1) == .met)
        #expect(verdict(.warmCall, 4, beside: 1) == .explained)
        #expect(Measurement(name: "", value: 6, unit: "").verdict(nil) == nil)
    }

    @Test func aBaselineOfNothingHasNoRatioAndIsReported() throws {
        let measurement = Measurement(name: "used", value: 1.5, unit: "s", baseline: "without", baselineValue: 0)
        let judged = JudgedReport(
            report: Report(measurements: [measurement]), thresholds: try Thresholds(), parts: [.foreground])
        #expect(judged.markdown.contains("| used | 1.5 s | without | 0 |  |"))
        let json = try JSONSerialization.jsonObject(with: Data(try judged.json().utf8)) as? [String: Any]
        let entry = try #require((json?["measurements"] as? [[String: Any]])?.first)
        #expect(entry["baselineValue"] as? Double == 0 && entry["ratio"] == nil)
    }

    @Test func aReportNamesWhatWasNotMeasured() throws {
        let report = Report(
            measurements: [Measurement(name: "conforms", value: 30, unit: "ns", row: .conformance)],
            failures: [Failure(part: .calls, reason: "no compiler")])
        let judged = JudgedReport(report: report, thresholds: try Thresholds(), parts: [.types, .calls])
        #expect(judged.missed.map(\.name) == ["conforms"])
        #expect(
            Set(judged.unmeasured.map(\.row))
                == [.resolution, .firstUseOfTypes, .memoryOfTypes, .warmCall, .slowestWarmCall])
        #expect(judged.markdown.contains("| conforms | 30 ns |  |  |  | ≤ 20 | **missed** |"))
        #expect(judged.markdown.contains("- **not measured**: calls: no compiler"))
        let json = try JSONSerialization.jsonObject(with: Data(try judged.json().utf8)) as? [String: Any]
        let measurement = try #require((json?["measurements"] as? [[String: Any]])?.first)
        #expect(measurement["verdict"] as? String == "missed")
        #expect((measurement["threshold"] as? [String: Any])?["atMost"] as? Double == 20)
        #expect((json?["unmeasured"] as? [String])?.contains("calls.warm") == true)
    }

    @Test func threadsThatCameAndWentAreWakeUps() {
        #expect(IdleBenchmarks.wakeUps(["1": 7, "2": 3], ["1": 7, "2": 3]) == 0)
        #expect(IdleBenchmarks.wakeUps(["1": 7, "2": 3], ["1": 9, "3": 4]) == 2 + 4 + 1)
    }
}
