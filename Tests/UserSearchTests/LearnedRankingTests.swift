// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import UserSearch

@Suite("Ranking by earlier use")
struct LearnedRankingTests {
    private static let day = 86400.0

    @Test("A count halves every thirty days, is added up, and never exceeds its maximum")
    func decay() {
        var count = DecayedCount(unity: -.infinity)
        count.add(1, at: 1000)
        #expect(abs(count.value(at: 1000) - 1) < 1e-9)
        #expect(abs(count.value(at: 1000 + 30 * Self.day) - 0.5) < 1e-9)
        #expect(abs(count.value(at: 1000 + 300 * Self.day) - 0.000_976_562_5) < 1e-9)
        count.add(1, at: 1000 + 30 * Self.day)
        #expect(abs(count.value(at: 1000 + 30 * Self.day) - 1.5) < 1e-9)
        for _ in 0..<100 { count.add(1, at: 1000 + 30 * Self.day) }
        #expect(count.value(at: 1000 + 30 * Self.day) == DecayedCount.maximum)
        #expect(abs(count.value(at: 1000 + 60 * Self.day) - DecayedCount.maximum / 2) < 1e-6)
        // A clock that was ahead can leave at most this count.
        #expect(count.value(at: -1e9) == DecayedCount.maximum)
    }

    @Test("Damaged counts are ignored", arguments: [Double.nan, .infinity, -.infinity])
    func damaged(unity: Double) {
        var count = DecayedCount(unity: unity)
        #expect(count.value(at: 5) == 0)
        count.add(1, at: 5)
        #expect(abs(count.value(at: 5) - 1) < 1e-9)
    }

    @Test(
        "Texts are counted in one form",
        arguments: [
            ("  Quarterly   Report ", "quarterly report"), ("QUÄRT", "quart"), ("c++", "c++"), ("a\0b", "a b"),
            ("kind:PDF\tÉtude", "kind:pdf etude"),
        ])
    func texts(typed: String, counted: String) { #expect(EngagementText.folded(typed) == counted) }

    @Test("Long texts are truncated between two characters, and an empty text is rejected")
    func cut() {
        #expect(EngagementText.folded("") == nil && EngagementText.folded(" \n\0") == nil)
        let long = EngagementText.folded(String(repeating: "東", count: 10_000)) ?? ""
        #expect(long == String(repeating: "東", count: EngagementText.maximumBytes / 3))
        #expect(EngagementText.shown(String(repeating: "é", count: 500)).utf8.count == EngagementText.maximumBytes)
        #expect(EngagementText.shown("  Two  Words ") == "Two Words")
    }

    @Test("A text counts for itself, less for its prefixes and extensions, and not for others")
    func credit() {
        #expect(LearnedRanking.credit(of: "quar", for: "quar") == 1)
        let (shorter, longer) = (
            LearnedRanking.credit(of: "quart", for: "qua"), LearnedRanking.credit(of: "quar", for: "quart")
        )
        #expect(shorter > 0 && shorter < 1 && longer > 0 && longer < 1)
        #expect(LearnedRanking.credit(of: "quarterly", for: "qua") < shorter)
        for other in ["quit", "x", ""] { #expect(LearnedRanking.credit(of: "quar", for: other) == 0) }
    }

    @Test("The gain grows with the count, and is bounded", arguments: [0.1, 1, 3.1])
    func gain(score: Double) {
        var last = 0.0
        for count in [0.25, 0.5, 1, 2, 4, 8, 16] {
            var ranking = LearnedRanking()
            ranking.add(count, item: 1, stored: "a", typed: "a")
            let gain = ranking.gain(of: 1, anyText: count, over: score)
            #expect(gain > last && gain <= LearnedRanking.maximum)
            last = gain
        }
        #expect(LearnedRanking().gain(of: 1, anyText: 0, over: score) == 0)
    }

    @Test("The more often chosen of two items gains more")
    func share() {
        var ranking = LearnedRanking()
        ranking.add(6, item: 1, stored: "qua", typed: "qua")
        ranking.add(2, item: 2, stored: "qua", typed: "qua")
        ranking.add(1, item: 3, stored: "nothing", typed: "qua")
        #expect(ranking.gain(of: 1, anyText: 0, over: 1) > ranking.gain(of: 2, anyText: 0, over: 1) + 0.1)
        #expect(ranking.counts.keys.sorted() == [1, 2])
    }

    @Test("A reporter that reports too often is not counted for a while; others are")
    func allowance() {
        var allowance = EngagementAllowance(burst: 3, interval: 10)
        // The last time comes from before the clock was set back, and has no effect.
        let reports: [(reporter: String, moment: Double)] = [
            ("a", 100), ("a", 100), ("a", 100), ("a", 100), ("b", 100), ("a", 105), ("a", 115), ("a", 115), ("a", 0),
        ]
        var counted: [Bool] = []
        for (reporter, moment) in reports { counted.append(allowance.take(reporter: reporter, at: moment)) }
        #expect(counted == [true, true, true, false, true, false, true, false, false])
    }
}
