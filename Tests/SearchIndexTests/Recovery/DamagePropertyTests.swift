// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

/// Damages every file of a store at random positions. `SEARCHLIGHT_DAMAGE_ROUNDS` sets a larger
/// number of rounds, and `SEARCHLIGHT_DAMAGE_SEED` the seed.
@Suite("Any damage to any file", .timeLimit(.minutes(30)))
struct DamagePropertyTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let rounds = environment["SEARCHLIGHT_DAMAGE_ROUNDS"].flatMap { Int($0) } ?? 60
    private static let seed = environment["SEARCHLIGHT_DAMAGE_SEED"].flatMap { UInt64($0) } ?? 7

    @Test("No loss is silent, and a repaired store is sound")
    func anything() async throws {
        let samples = [try await SampleStore(), try await SampleStore(isClosed: true)]
        var random = SplitMix64(seed: Self.seed)
        var figures: [String: Int] = [:]
        for round in 1...Self.rounds {
            let sample = random.pick(samples)
            var breakages = [FileBreakage(of: sample.files, &random)]
            if random.below(4) == 0 { breakages.append(FileBreakage(of: sample.files, &random)) }
            let outcome = try await Self.round(
                sample, breakages, note: "round \(round), seed \(Self.seed): \(breakages)")
            figures[outcome, default: 0] += 1
        }
        print("Damage: \(Self.rounds) rounds, seed \(Self.seed): \(figures.sorted { $0.key < $1.key })")
        #expect(figures.count > 1, "Every round had the same outcome, which tests little.")
    }

    private static func round(_ sample: SampleStore, _ breakages: [FileBreakage], note: String) async throws -> String {
        let folder = try sample.unpacked { files in
            for breakage in breakages { breakage.apply(&files[breakage.file]) }
        }
        var (outcome, generation) = ("unharmed", 0)
        // On the first opening, nothing may be missing without a report.
        var first: SampleStore.Contents?
        var (hasSpoken, findings) = (false, [String]())
        do {
            (first, generation, hasSpoken, findings) = try await SampleStore.withStore(folder) { index async throws in
                let contents: SampleStore.Contents?
                do {
                    contents = try await SampleStore.contents(of: index)
                } catch {
                    contents = nil
                }
                return (contents, index.recovery.generation, index.recovery.lostDonations, index.recovery.findings)
            }
        } catch {
            Issue.record("\(note): opening: \(error)")
            return "failed"
        }
        #expect(generation >= SampleStore.generation, "\(note)")
        #expect(hasSpoken == (generation > SampleStore.generation), "\(note)")
        let before = try StoreVerifier(directory: folder.path).verify()
        if first != sample.contents {
            #expect(
                // If two faults occur together, one may destroy the only evidence of the other.
                hasSpoken || !before.isClean || first == nil || findings.contains { $0.hasPrefix("journal.head") },
                "\(note): lost in silence: \(first?.difference(from: sample.contents) ?? "")")
        }
        if hasSpoken {
            outcome = "lost and said so"
            #expect(first.map { $0.states.isEmpty } ?? true, "\(note): a client state survived")
        } else if !before.isClean || first == nil {
            outcome = "found by a check"
        }
        // After the repair, the store is intact, and all remaining items are as donated.
        StoreVerifier(directory: folder.path).requestRepair()
        let known = generation
        let (contents, repaired) = try await SampleStore.withStore(folder, knownGeneration: known) {
            index async throws in
            (try await SampleStore.contents(of: index), index.recovery.generation)
        }
        let after = try StoreVerifier(directory: folder.path).verify()
        #expect(after.isClean, "\(note): \(after.findings.prefix(5))")
        #expect(repaired >= known, "\(note)")
        if repaired == SampleStore.generation {
            #expect(contents.items == sample.contents.items, "\(note): items")
            #expect(contents.found == sample.contents.found, "\(note): found")
        } else {
            for (identifier, record) in contents.items {
                #expect(sample.contents.items[identifier] == record, "\(note): \(identifier)")
            }
            #expect(contents.states.isEmpty, "\(note): a client state survived the repair")
        }
        for word in contents.found.keys {
            let expected = sample.contents.found[word, default: []].filter { contents.items[$0] != nil }
            #expect(contents.found[word] == expected, "\(note): \(word)")
        }
        // The store is also usable.
        try await SampleStore.withStore(folder, knownGeneration: repaired) { index async throws in
            try await index.index([EncodedItem(item("new", title: "banana"))], in: Store.app)
            let total = try await index.search("banana").total
            #expect(total == 1, "\(note)")
        }
        return repaired > known ? "lost at the repair" : outcome
    }
}
