// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import SearchIndex
import SearchlightEngine
import TestSupport
import UserSearch

/// Donates a few items and reports uses of them, which later searches learn from.
struct Chooser: Sendable {
    /// The bundle of the items. It has a desktop entry, so that its items can be opened.
    static let bundle = "org.example.chosen"
    static let items = 4

    let epoch: Int
    let log: ClientLog

    static func identifier(_ number: Int, epoch: Int) -> String { "chosen-\(epoch)-\(number)" }

    func run(_ store: RemoteEngine, _ random: inout SplitMix64) async throws {
        try await donate(store)
        var uses = 0
        while true {
            let identifier = Self.identifier(random.below(Self.items), epoch: epoch)
            let text = random.pick(["cho", "chosen", "thing \(random.below(40))", ""])
            let kind = random.pick(EngagementKind.allCases)
            try await log.timed("reporting a use") {
                let item = try await store.item(named: identifier, bundle: Self.bundle)
                log.line("using \(identifier)")
                let count = try await store.perform(EngageCall(Engagement(item: item.number, text: text, kind: kind)))
                if count == 1 { log.line("used \(identifier)") }
                log.count("uses reported")
            }
            // A donation of the same items keeps the counts.
            uses += 1
            if uses % 50 == 0 { try await donate(store) }
            try await Task.sleep(for: .milliseconds(random.below(40)))
        }
    }

    private func donate(_ store: RemoteEngine) async throws {
        var batch = IndexBatch(scope: IndexScope(bundle: Self.bundle))
        for number in 0..<Self.items {
            let record = ItemRecord(
                uniqueIdentifier: Self.identifier(number, epoch: epoch), expiration: .never,
                attributes: ["title": .string("Chosen thing \(number)"), "url": .string("torture:\(number)")])
            batch.index([try EncodedItem(record)])
        }
        let donation = batch
        try await log.timed("donating the chosen items") { try await store.commit(donation) }
    }
}

/// The uses of each item, by identifier: reported, acknowledged, and counted in the store.
struct UseCounts {
    var reported: [String: Int] = [:]
    var acknowledged: [String: Int] = [:]
    var counted: [String: Int] = [:]

    init() {}

    init(_ place: TorturePlace, _ store: any EngineClient) async throws {
        for line in place.lines(ofClients: .chooser) {
            if line.hasPrefix("using ") { reported[String(line.dropFirst(6)), default: 0] += 1 }
            if line.hasPrefix("used ") { acknowledged[String(line.dropFirst(5)), default: 0] += 1 }
        }
        for entry in try await store.history(limit: 10_000).entries where entry.bundle == Chooser.bundle {
            counted[entry.uniqueIdentifier, default: 0] += entry.total.events
        }
    }

    /// Returns a description of the first item whose count is wrong, given earlier counts.
    func problem(since before: UseCounts) -> String? {
        func new(_ counts: KeyPath<UseCounts, [String: Int]>, _ item: String) -> Int {
            (self[keyPath: counts][item] ?? 0) - (before[keyPath: counts][item] ?? 0)
        }
        for item in Set(reported.keys).union(counted.keys).sorted() {
            let (least, count, most) = (new(\.acknowledged, item), new(\.counted, item), new(\.reported, item))
            if count < least || count > most {
                return "\(item): \(count) uses are counted, \(least) were acknowledged and \(most) reported"
            }
        }
        return nil
    }
}
