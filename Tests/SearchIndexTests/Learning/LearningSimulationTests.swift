// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import TestSupport
import Testing
import UserSearch

@testable import SearchIndex

/// A user who returns to items by habit: to a few often, to many rarely (Zipf). The user types the
/// beginning of a title, one of its words or a prefix of a word, and types more until the wanted
/// item is among the ten shown.
@Suite("Learning, simulated")
struct LearningSimulationTests {
    private static let items = 1000
    private static let wanted = 40
    private static let sessions = Int(ProcessInfo.processInfo.environment["SEARCHLIGHT_LEARNING_SESSIONS"] ?? "") ?? 240
    /// The minimum mean reciprocal rank of the wanted item among ten, in the second half.
    private static let bar = 0.82

    private struct Habit {
        var titles: [[String]] = []
        var wanted: [Int] = []
        var weights: [Double] = []

        init(_ random: inout SplitMix64) {
            let syllables = [
                "ka", "ri", "to", "mo", "ne", "sa", "lu", "pe", "di", "vo", "ba", "chi", "re", "qua", "fi", "gre",
                "sto",
                "or", "an", "el", "mar", "tin", "ko", "ze", "hu", "wi",
            ]
            var words: [String] = []
            var known: Set<String> = []
            while words.count < 900 {
                let word = (0..<(2 + random.below(3))).map { _ in random.pick(syllables) }.joined()
                if known.insert(word).inserted { words.append(word) }
            }
            for _ in 0..<items {
                // A few words are common, and many are rare.
                titles.append(
                    (0..<(2 + random.below(3))).map { _ in
                        words[min(random.below(words.count), random.below(words.count))]
                    })
            }
            var order = Array(0..<items)
            order.shuffle(using: &random)
            wanted = Array(order.prefix(LearningSimulationTests.wanted))
            weights = wanted.indices.map { 1 / Double($0 + 1) }
        }

        func next(_ random: inout SplitMix64) -> Int {
            var point = Double(random.below(1 << 30)) / Double(1 << 30) * weights.reduce(0, +)
            for (item, weight) in zip(wanted, weights) {
                point -= weight
                if point < 0 { return item }
            }
            return wanted[0]
        }

        /// Returns the texts that the user types, in order.
        func texts(for item: Int, _ random: inout SplitMix64) -> [String] {
            let title = titles[item].joined(separator: " ")
            let word = random.pick(titles[item])
            switch random.below(10) {
            case ..<5: return (2 + random.below(4)..<title.count).map { String(title.prefix($0)) } + [title]
            case ..<8: return [word] + titles[item].filter { $0 != word }.map { word + " " + $0 } + [title]
            default: return (3..<max(4, word.count)).map { String(word.prefix($0)) } + [title]
            }
        }
    }

    @Test("Items that the user returns to are found at once", arguments: [1, 2] as [UInt64])
    func habit(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let habit = Habit(&random)
        let store = try Store()
        store.clock.advance(by: 400 * 86400)
        let records = try habit.titles.enumerated().map { number, title in
            var record = item("\(number)", title: title.joined(separator: " "))
            record.attributes["contentModificationDate"] = .date(
                store.clock.now - Double(random.below(300)) * 86400)
            record.attributes["textContent"] = .string(
                (0..<8).map { _ in random.pick(random.pick(habit.titles)) }.joined(separator: " "))
            return try EncodedItem(record)
        }
        try await store.index.index(records, in: Store.app)
        try await store.index.settle()
        var (learned, plain): ([Double], [Double]) = ([], [])
        func rank(_ item: Int, _ hits: [SearchHit]) -> Double {
            hits.firstIndex { $0.item.record.uniqueIdentifier == "\(item)" }.map { 1 / Double($0 + 1) } ?? 0
        }
        for session in 0..<Self.sessions {
            let item = habit.next(&random)
            for (count, text) in habit.texts(for: item, &random).enumerated() {
                var request = SearchRequest(text)
                request.limit = 10
                let hits = try await store.index.search(request).hits
                if count == 0, session >= Self.sessions / 2 {
                    learned.append(rank(item, hits))
                    request.learnsFrom = nil
                    plain.append(rank(item, try await store.index.search(request).hits))
                }
                guard let hit = hits.first(where: { $0.item.record.uniqueIdentifier == "\(item)" }) else { continue }
                try await store.index.countEngagement([Engagement(item: hit.item.number, text: text, kind: .open)])
                break
            }
            // Half an hour.
            store.clock.advance(by: 1800)
        }
        let means = [learned, plain].map { $0.reduce(0, +) / Double($0.count) }
        #expect(means[0] >= Self.bar, "MRR@10 \(means[0]), without learning \(means[1])")
        #expect(means[0] > means[1] + 0.1)
        if ProcessInfo.processInfo.environment["SEARCHLIGHT_LEARNING_SESSIONS"] != nil { print("MRR", seed, means) }
    }
}
