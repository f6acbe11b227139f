// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TortureSupport

/// Donors that are killed at each step of a commit. `Scripts/torture` runs more rounds.
@Suite("Torture, step by step", .serialized)
struct KillSiteTortureTests {
    @Test(
        "With a kill at any step of a commit, exactly the acknowledged items are found", .timeLimit(.minutes(30))
    )
    func sites() async throws {
        let seed = TortureSettings.seed
        let rounds = max(TortureSettings.rounds ?? 0, KillSite.all.count)
        print("Torture, step by step: \(rounds) kills, seed \(seed)")
        var random = SplitMix64(seed: seed ^ 0x5174)
        var report = KillReport()
        var store = try KilledStore(seed: seed)
        for round in 0..<rounds {
            let site = KillSite.all[round % KillSite.all.count]
            // In the first round, early in a donor's life, where each site is certainly reached; in
            // later rounds anywhere.
            let range = site.phase != .donating ? 2 : min(40, 2 + round / KillSite.all.count * 8)
            let occurrence = round < KillSite.all.count ? 1 : 1 + random.below(range)
            let note = "round \(round), \(site) \(occurrence), again with: \(TortureSettings.repetition)"
            if store.rounds >= 30 { store = try KilledStore(seed: random.next()) }
            var wasKilled = false
            // If the step was reached less often this time, or no work was left, the first
            // occurrence suffices.
            for occurrence in [occurrence, 1, 1] where !wasKilled {
                if site.isOfNewStore { store = try KilledStore(seed: random.next()) }
                if let preparation = site.preparation {
                    let times = 3 + random.below(12)
                    try #require(try store.donate(batches: 60, killedAt: preparation, occurrence: times), "\(note)")
                }
                wasKilled = try store.donate(batches: 30, killedAt: site, occurrence: occurrence)
            }
            #expect(wasKilled, "\(note): the donor never came by")
            let (opening, items) = try await store.check(note)
            if wasKilled { report.add(site, opening: opening, items: items) }
        }
        print(report)
    }
}
