// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

/// The expected content of the index, modelled as simply as possible.
private struct Model {
    struct Key: Hashable {
        var scope: IndexScope
        var identifier: String
    }

    struct Entry {
        var record: ItemRecord
        var expires: Double
    }

    var entries: [Key: Entry] = [:]

    mutating func put(_ record: ItemRecord, in scope: IndexScope, now: Double) {
        let key = Key(scope: scope, identifier: record.uniqueIdentifier)
        var result = record
        if record.isUpdate {
            guard let old = entries[key], old.expires > now else { return }
            result = old.record
            if record.expiration != .standard { result.expiration = record.expiration }
            result.domainIdentifier = record.domainIdentifier ?? result.domainIdentifier
            for (name, value) in record.attributes {
                result.attributes[name] = value == .null ? nil : value
                result.traits[name] = value == .null ? nil : record.traits[name]
            }
        }
        let expires: Double =
            switch result.expiration {
            case .standard: now + SearchIndex.standardLifetime
            case .never: .infinity
            case .at(let moment): moment
            }
        entries[key] = Entry(record: result, expires: expires)
    }

    mutating func remove(in scope: IndexScope, where condition: (ItemRecord) -> Bool) {
        entries = entries.filter { $0.key.scope != scope || !condition($0.value.record) }
    }

    func alive(_ now: Double) -> [(Key, ItemRecord)] {
        entries.filter { $0.value.expires > now }.map { ($0.key, $0.value.record) }
    }

    /// Returns the items that contain every word. The last word may be a prefix.
    func found(_ words: [String], lastIsPrefix: Bool, _ now: Double) -> Set<Key> {
        Set(
            alive(now).filter { _, record in
                let isCustomFound =
                    record.traits["custom"]?.isSuperset(of: [.searchable, .searchableByDefault]) ?? false
                let names =
                    ["title", "keywords", "contentDescription", "textContent"] + (isCustomFound ? ["custom"] : [])
                let texts = names.flatMap { record.texts($0) }
                let own = texts.flatMap { $0.split(separator: " ").map(String.init) }
                return words.enumerated().allSatisfy { position, word in
                    own.contains { lastIsPrefix && position == words.count - 1 ? $0.hasPrefix(word) : $0 == word }
                }
            }.map(\.0))
    }
}

@Suite("The index compared with a dictionary")
struct ModelTests {
    private static let words = ["ant", "anthem", "bee", "beetle", "cat", "catalogue", "dog", "do", "eel"]
    private static let domains = ["a", "a.b", "a.b.c", "ab", "b"]
    private static let scopes = [
        IndexScope(bundle: "com.example.one"), IndexScope(bundle: "com.example.one", index: "named"),
        IndexScope(bundle: "com.example.two"),
    ]

    private static func sentence(_ random: inout SplitMix64) -> String {
        (0..<(1 + random.below(5))).map { _ in random.pick(words) }.joined(separator: " ")
    }

    private static func record(_ random: inout SplitMix64, now: Double) -> ItemRecord {
        var record = ItemRecord(uniqueIdentifier: "item \(random.below(12))", isUpdate: random.below(3) == 0)
        if random.below(2) == 0 { record.domainIdentifier = random.pick(domains) }
        switch random.below(4) {
        case 0: record.expiration = .never
        case 1: record.expiration = .at(now + Double(random.below(50) - 5))
        default: break
        }
        for name in ["title", "contentDescription", "textContent", "custom"] where random.below(2) == 0 {
            record.attributes[name] = record.isUpdate && random.below(3) == 0 ? .null : .string(sentence(&random))
        }
        if record.attributes["custom"] != nil {
            record.traits["custom"] = random.pick([
                nil, .all, [.searchable, .searchableByDefault], .searchableByDefault,
            ])
        }
        if random.below(2) == 0 {
            record.attributes["keywords"] = .array([.string(random.pick(words)), .string(random.pick(words))])
        }
        return record
    }

    @Test("After any sequence of changes both find the same items", arguments: [21, 22, 23, 24, 25] as [UInt64])
    func sameAsModel(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let store = try Store()
        var model = Model()
        for step in 0..<120 {
            let scope = random.pick(Self.scopes)
            let now = store.clock.now
            switch random.below(10) {
            case 0:
                let names = (0..<3).map { _ in "item \(random.below(12))" }
                try await store.index.delete(identifiers: names, in: scope)
                model.remove(in: scope) { names.contains($0.uniqueIdentifier) }
            case 1:
                let domain = random.pick(Self.domains)
                try await store.index.delete(domains: [domain], in: scope)
                model.remove(in: scope) {
                    $0.domainIdentifier == domain || $0.domainIdentifier?.hasPrefix(domain + ".") == true
                }
            case 2 where random.below(4) == 0:
                try await store.index.deleteAll(in: scope)
                model.remove(in: scope) { _ in true }
            case 3:
                let expected = model.entries.count - model.alive(now).count
                #expect(try await store.index.deleteExpired() == expected)
                model.entries = model.entries.filter { $0.value.expires > now }
            case 4: store.clock.advance(by: Double(random.below(20)))
            default:
                let records = (0..<(1 + random.below(6))).map { _ in Self.record(&random, now: now) }
                try await store.index.index(records.map { try EncodedItem($0) }, in: scope)
                for record in records { model.put(record, in: scope, now: now) }
            }
            try await compare(store, model, &random, "seed \(seed), step \(step)")
        }
        try await store.checkIntegrity()
        try await compareVocabulary(store, model)
    }

    private func compare(
        _ store: Store, _ model: Model, _ random: inout SplitMix64, _ comment: Comment
    ) async throws {
        // A repeated word is considered only once.
        let words = Array(Self.words.shuffled(using: &random).prefix(1 + random.below(2)))
        let isPrefix = random.below(2) == 0
        let text = words.joined(separator: " ") + (isPrefix ? "" : " ")
        let (hits, total) = try await store.index.search(text, limit: 10_000)
        // If any hit contains all words, only such hits are counted.
        let complete = hits.filter { $0.kind != .someWords }
        let found = complete.map { Model.Key(scope: $0.item.scope, identifier: $0.item.record.uniqueIdentifier) }
        let now = store.clock.now
        #expect(Set(found) == model.found(words, lastIsPrefix: isPrefix, now), comment)
        #expect(found.count == Set(found).count && total == (complete.isEmpty ? hits : complete).count, comment)
        for hit in hits {
            let key = Model.Key(scope: hit.item.scope, identifier: hit.item.record.uniqueIdentifier)
            #expect(hit.item.record == model.entries[key]?.record, comment)
        }
        let counts = Dictionary(grouping: model.alive(now), by: \.0.scope.bundle).mapValues(\.count)
        #expect(try await store.index.itemCounts() == counts, comment)
    }

    /// The remaining words must equal the words in a new store: none missing, none left over.
    private func compareVocabulary(_ store: Store, _ model: Model) async throws {
        let fresh = try Store()
        for (key, entry) in model.entries { try await fresh.put(entry.record, in: key.scope) }
        #expect(try await store.vocabulary() == fresh.vocabulary())
    }
}
