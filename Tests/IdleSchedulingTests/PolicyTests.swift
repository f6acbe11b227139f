// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import Testing

@Suite("The policy and its configuration")
struct PolicyTests {
    private static func policy(_ text: String) throws -> SchedulingPolicy {
        try SchedulingPolicy(configuration: Data(text.utf8))
    }

    @Test("An empty configuration changes nothing")
    func empty() throws {
        #expect(try Self.policy("{}") == SchedulingPolicy())
        #expect(try Self.policy("{\"gates\": {}}") == SchedulingPolicy())
    }

    @Test("Every key changes its constant and no other", arguments: PolicySetting.all.map(\.key))
    func keys(key: String) throws {
        let setting = try #require(PolicySetting.all.first { $0.key == key })
        #expect(setting.range.contains(setting.standard))
        let near = setting.standard * 1.01
        let value = setting.range.contains(near) ? near : setting.standard * 0.99
        // Some values cannot be changed alone.
        guard let policy = try? Self.policy("{\"\(key)\": \(value)}") else { return }
        #expect(policy != SchedulingPolicy())
    }

    @Test("Gates can be switched off, and the times of their bypasses can be changed")
    func gates() throws {
        let policy = try Self.policy(
            "{\"gates\": {\"on-battery\": false, \"user-active\": 12.5, \"cpu-busy\": null, \"hot\": true}}")
        #expect(policy.switchedOff == [.onBattery])
        #expect(policy.relaxations[.userActive] == 12.5 && policy.relaxations[.cpuBusy] == nil)
        #expect(policy.relaxations[.hot] == SchedulingPolicy().relaxations[.hot])
        var bench = Bench(policy: policy, .idle.with { $0.power = .init(isOnBattery: true, percent: 90) })
        bench.send(.jobs([Bench.job()]))
        #expect(bench.steps == [.start(Bench.a)])
    }

    @Test(
        "An error is rejected with its key, its value and the allowed range",
        arguments: [
            ("{\"slice.ful\": 3}", ["slice.ful"]),
            ("{\"slice.full\": 0}", ["slice.full", "0", "1 to 600 s"]),
            ("{\"slice.full\": \"30\"}", ["slice.full", "“30”", "1 to 600 s"]),
            ("{\"slice.full\": true}", ["slice.full", "true"]),
            ("{\"slice.full\": null}", ["slice.full", "null"]),
            ("{\"slice.full\": [1]}", ["slice.full"]),
            ("{\"cpu-busy.opens\": 0.5}", ["cpu-busy.opens", "0.5", "cpu-busy.closes", "0.4"]),
            ("{\"slice.relaxed\": 10}", ["slice.relaxed", "10", "tenth", "60"]),
            ("{\"gates\": true}", ["gates", "true"]),
            ("{\"gates\": {\"on-batery\": false}}", ["gates.on-batery"]),
            ("{\"gates\": {\"quarantined\": false}}", ["gates.quarantined", "false", "true"]),
            ("{\"gates\": {\"disk-floor\": 4}}", ["gates.disk-floor", "4", "true or false"]),
            ("{\"gates\": {\"hot\": 0.5}}", ["gates.hot", "0.5", "1 to 1000"]),
            ("[]", ["JSON object"]), ("", ["JSON object"]), ("{", ["JSON object"]),
            ("{\"x\": \"" + String(repeating: "x", count: 70000) + "\"}", ["65536"]),
        ])
    func refused(text: String, words: [String]) {
        let error = #expect(throws: PolicyError.self) { try Self.policy(text) }
        for word in words { #expect(error?.description.contains(word) == true, "\(error?.description ?? "")") }
    }

    @Test("A change is fresh up to both bounds, which are configurable")
    func fresh() throws {
        let policy = SchedulingPolicy()
        #expect(policy.isFresh(count: 256, bytes: 64 << 20) && policy.isFresh(count: 0, bytes: UInt64(0)))
        #expect(!policy.isFresh(count: 257, bytes: 0) && !policy.isFresh(count: 1, bytes: UInt64.max))
        let none = try Self.policy("{\"fresh.files\": 0, \"fresh.bytes\": 10}")
        #expect(!none.isFresh(count: 1, bytes: 1) && none.isFresh(count: 0, bytes: 10))
    }

    // MARK: docs/SCHEDULING.md

    /// Returns the cells of each row of the documentation table under a heading.
    private static func rows(under heading: String) throws -> [[String]] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/SCHEDULING.md"), encoding: .utf8)
        let part = try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix(heading + "\n") })
        return part.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private static func number(_ text: String) -> Double? {
        Double(text.replacing(",", with: ""))
    }

    @Test("The documented table of constants matches the code")
    func documentedConstants() throws {
        let rows = try Self.rows(under: "Constants")
        #expect(rows.map { $0[0] } == PolicySetting.all.map { "`\($0.key)`" })
        for (row, setting) in zip(rows, PolicySetting.all) {
            let range = row[3].components(separatedBy: " to ").compactMap(Self.number)
            #expect(Self.number(row[1]) == setting.standard, "\(setting.key)")
            #expect(row[2] == (setting.unit.isEmpty ? "score" : setting.unit), "\(setting.key)")
            #expect(range == [setting.range.lowerBound, setting.range.upperBound], "\(setting.key)")
            #expect(row.count == 5 && !row[4].isEmpty)
        }
    }

    @Test("The documented table of gates matches the code")
    func documentedGates() throws {
        let policy = SchedulingPolicy()
        let rows = try Self.rows(under: "Gates")
        #expect(rows.map { $0[0] } == Gate.allCases.map { "`\($0.code)`" })
        for (row, gate) in zip(rows, Gate.allCases) {
            #expect(Self.number(row[2]) == policy.relaxations[gate], "\(gate.code)")
            if policy.relaxations[gate] == nil { #expect(row[2] == "never", "\(gate.code)") }
            let configurable = gate.isRelaxable ? "off, score" : gate.isSwitchable ? "off" : "no"
            #expect(row[3] == configurable, "\(gate.code)")
            #expect(row[4] == (gate.letsFreshPass ? "passes" : "waits"), "\(gate.code)")
        }
    }
}
