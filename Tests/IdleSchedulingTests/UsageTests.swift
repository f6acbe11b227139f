// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import Testing

@Suite("Usage")
struct UsageTests {
    @Test("A window counts its use, and at most one interval more")
    func window() {
        var history = UsageHistory()
        for minute in 0..<600 { history.add(Usage(cpu: 1), of: "a", at: Double(minute) * 60) }
        let used = history.used(by: "a", within: 3600, at: 599 * 60).cpu
        #expect((60...65).contains(used))
        #expect(history.used(by: "a", within: 3600, at: 599 * 60 + 4000) == Usage())
        #expect(history.used(by: "b", within: 3600, at: 0) == Usage())
    }

    @Test("When the clock is set back, future use counts as present, and expires within a window")
    func setBack() {
        var history = UsageHistory()
        history.add(Usage(cpu: 5), of: "a", at: 1e6)
        history.settle(now: 1000)
        #expect(history.used(by: "a", within: 3600, at: 1000).cpu == 5)
        #expect(history.used(by: "a", within: 3600, at: 1000 + 4000).cpu == 0)
    }

    @Test("A history is bounded, and unchanged after writing and reading")
    func bounded() throws {
        var history = UsageHistory()
        for bundle in 0..<600 { history.add(Usage(cpu: 1, written: 2), of: "b\(bundle)", at: Double(bundle) * 300) }
        for piece in 0..<2000 { history.add(Usage(cpu: 1), of: "b", at: 180_000 + Double(piece) * 300) }
        #expect(history.bundles.count == UsageHistory.maximumBundles)
        #expect(!history.bundles.contains("b0") && history.bundles.contains("b599"))
        history.add(Usage(cpu: .nan, written: .max), of: String(repeating: "x", count: 1000), at: .infinity)
        let data = try JSONEncoder().encode(history)
        #expect(data.count < 200_000)
        #expect(try JSONDecoder().decode(UsageHistory.self, from: data) == history)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(UsageHistory.self, from: Data("{}".utf8)) }
    }

    @Test("A ledger sums up days, keeps 35 of them, and drops future ones when the clock was set back")
    func ledger() throws {
        var ledger = DayLedger()
        for day in 0..<50 {
            ledger.add(Usage(cpu: 1, written: 10, wakeUps: 2), items: 3, runs: 1, of: "a", day: day)
            ledger.add(failures: 1, of: "a", day: day)
        }
        let days = ledger.entries(of: "a")
        #expect(days.map(\.day) == Array(15..<50))
        #expect(days.allSatisfy { $0.usage == Usage(cpu: 1, written: 10, wakeUps: 2) && $0.items == 3 })
        #expect(days.allSatisfy { $0.failures == 1 && $0.runs == 1 })
        #expect(try JSONDecoder().decode(DayLedger.self, from: JSONEncoder().encode(ledger)) == ledger)
        ledger.add(items: -5, runs: .max, of: "a", day: 20)
        ledger.add(runs: .max, of: "a", day: 20)
        #expect(ledger.entries(of: "a").map(\.day) == Array(15...21), "a day ahead may be a journey")
        let changed = try #require(ledger.entries(of: "a").first { $0.day == 20 })
        #expect(changed.items == 3 && changed.runs == .max)
        for bundle in 0..<600 { ledger.add(runs: 1, of: "x\(bundle)", day: 100 + bundle) }
        #expect(ledger.bundles.count == DayLedger.maximumBundles && ledger.entries(of: "a").isEmpty)
        ledger.add(of: "a", day: .max)
        ledger.add(of: "a", day: .min)
        #expect(ledger.entries(of: "a").count == 1)
    }
}
