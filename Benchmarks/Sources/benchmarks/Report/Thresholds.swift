// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An upper or lower limit for a row's figures, or for their ratios to the baselines.
struct Threshold: Codable, CustomStringConvertible {
    enum Subject: String, Codable { case value, ratio }

    var row: Row
    var subject: Subject
    var atMost: Double?
    var atLeast: Double?
    /// The origin of the threshold: a quoted promise of the design, or the goal for an area.
    var design: String?
    var goal: String?
    /// `true` if `--check`, and therefore Scripts/test, applies the threshold: a ratio or count
    /// that also holds in a debug build on a loaded machine.
    var inTests: Bool?
    /// Where the reason for a miss is documented.
    var explained: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case row, subject, atMost, atLeast, design, goal, inTests, explained
    }

    func isMet(_ number: Double) -> Bool { number <= atMost ?? .infinity && number >= atLeast ?? -.infinity }

    var description: String {
        (atMost.map { "≤ \(Measurement.number($0))" } ?? "≥ \(Measurement.number(atLeast))")
            + (subject == .ratio ? " ×" : "")
    }
}

/// The thresholds in thresholds.json, each row once, in report order.
struct Thresholds {
    let all: [Threshold]
    private let byRow: [Row: Threshold]

    static let path = Repository.root + "/Benchmarks/Sources/benchmarks/thresholds.json"

    init(path: String = Thresholds.path) throws {
        do {
            try self.init(json: Data(contentsOf: URL(filePath: path)))
        } catch let error as BenchmarkError {
            throw BenchmarkError("\(path) cannot be used: \(error)")
        } catch {
            throw BenchmarkError("\(path) cannot be read: \(error)")
        }
    }

    init(json: Data) throws {
        let objects = try JSONSerialization.jsonObject(with: json) as? [[String: Any]] ?? []
        let known = Set(Threshold.CodingKeys.allCases.map(\.rawValue))
        for object in objects {
            let unknown = Set(object.keys).subtracting(known).sorted()
            guard unknown.isEmpty else {
                throw BenchmarkError("unknown keys “\(unknown.joined(separator: "”, “"))”.")
            }
            let name = object["row"] as? String ?? ""
            guard Row(rawValue: name) != nil else { throw BenchmarkError("no measurement has the row “\(name)”.") }
        }
        all = try JSONDecoder().decode([Threshold].self, from: json)
        var byRow: [Row: Threshold] = [:]
        for threshold in all {
            let name = threshold.row.rawValue
            guard byRow.updateValue(threshold, forKey: threshold.row) == nil else {
                throw BenchmarkError("\(name) occurs twice.")
            }
            guard (threshold.atMost == nil) != (threshold.atLeast == nil) else {
                throw BenchmarkError("\(name) needs either “atMost” or “atLeast”.")
            }
            guard (threshold.design == nil) != (threshold.goal == nil) else {
                throw BenchmarkError("\(name) needs its source, either “design” or “goal”.")
            }
        }
        let missing = Row.allCases.filter { byRow[$0] == nil }.map(\.rawValue)
        guard missing.isEmpty else { throw BenchmarkError("\(missing.joined(separator: ", ")) has no threshold.") }
        self.byRow = byRow
    }

    subscript(row: Row) -> Threshold? { byRow[row] }

    /// The thresholds that `--check` applies.
    var inTests: [Threshold] { all.filter { $0.inTests == true } }
}
