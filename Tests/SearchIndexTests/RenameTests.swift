// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import MetadataQuery
import TestSupport
import Testing
import UserSearch

@testable import ItemRecord
@testable import SearchIndex

/// The expected content of the index, modelled as simply as possible: the item for each identifier,
/// and its attributes.
private struct Model {
    struct Key: Hashable {
        var scope: IndexScope
        var identifier: String
    }
    struct Entry {
        var number: Int64?
        var record: ItemRecord
        var donated: Double
        var uses = 0
    }

    var entries: [Key: Entry] = [:]

    mutating func put(_ record: ItemRecord, in scope: IndexScope, now: Double) {
        let key = Key(scope: scope, identifier: record.uniqueIdentifier)
        entries[key, default: Entry(record: record, donated: now)].record = record
        entries[key]?.donated = now
    }

    mutating func rename(_ renames: [ItemRename], in scope: IndexScope) {
        var moved: [(Key, Entry)] = []
        for rename in renames {
            guard var entry = entries.removeValue(forKey: Key(scope: scope, identifier: rename.identifier)) else {
                continue
            }
            entry.record.uniqueIdentifier = rename.newIdentifier
            moved.append((Key(scope: scope, identifier: rename.newIdentifier), entry))
        }
        for (key, entry) in moved { entries[key] = entry }
    }

    /// Returns `true` if the index contains exactly these items. Unknown numbers match any number.
    func matches(_ items: [StoredItem]) -> Bool {
        items.count == entries.count
            && items.allSatisfy { item in
                guard let entry = entries[Key(scope: item.scope, identifier: item.record.uniqueIdentifier)] else {
                    return false
                }
                return entry.record == item.record && entry.donated == item.donated
                    && (entry.number ?? item.number) == item.number
            }
    }
}

@Suite("Renamed items")
struct RenameTests {
    private let store: Store
    private static let named = IndexScope(bundle: Store.app.bundle, index: "named")

    init() throws { store = try Store() }

    private func number(_ identifier: String, in scope: IndexScope = Store.app) async throws -> Int64? {
        try await store.index.items(uniqueIdentifier: identifier).first { $0.scope == scope }?.number
    }

    private func rename(_ pairs: [String: String], in scope: IndexScope = Store.app) async throws {
        try await store.index.rename(
            pairs.sorted { $0.key < $1.key }.map { ItemRename($0.key, to: $0.value) }, in: scope)
    }

    private func use(_ identifier: String, after text: String) async throws {
        let item = try #require(try await number(identifier))
        #expect(try await store.index.countEngagement([Engagement(item: item, text: text, kind: .open)]) == 1)
    }

    private var identifiers: [String] {
        get async throws {
            try await store.index.items(matching: .and([]), limit: 100).items.map(\.record.uniqueIdentifier).sorted()
        }
    }

    private func verify() async throws {
        try await store.index.settle()
        try await store.checkIntegrity()
        try await store.index.close()
        #expect(try StoreVerifier(directory: store.folder.path("store")).verify().isClean)
    }

    @Test("keep their number, text, dates and counts of use")
    func keeps() async throws {
        try await store.put(item("/a", title: "lemon", domain: "d", expires: .never), item("/b", title: "lemon"))
        try await use("/a", after: "lem")
        let before = try #require(try await store.index.items(uniqueIdentifier: "/a").first)
        store.clock.advance(by: 60)
        try await rename(["/a": "/c", "/none": "/d"])
        let after = try #require(try await store.index.items(uniqueIdentifier: "/c").first)
        #expect(after.number == before.number && after.donated == before.donated && after.expires == before.expires)
        var record = before.record
        record.uniqueIdentifier = "/c"
        #expect(after.record == record)
        #expect(try await identifiers == ["/b", "/c"])
        #expect(try await store.found("lem").first == "/c")
        // The next donation changes only the item's attributes.
        try await store.put(item("/c", title: "melon", domain: "e"))
        #expect(try await number("/c") == before.number)
        let history = try await store.index.engagementHistory(from: 0, limit: 10).entries
        #expect(history.map(\.uniqueIdentifier) == ["/c"] && history.first?.texts.map(\.typed) == ["lem"])
        try await verify()
    }

    @Test("replace the item with the identifier, whose number is removed")
    func replaces() async throws {
        try await store.put(item("/a", title: "lemon"), item("/b", title: "melon"))
        try await store.put(item("/b", title: "pear"), in: Self.named)
        try await use("/b", after: "mel")
        let (a, b) = (try await number("/a"), try await number("/b"))
        try await rename(["/a": "/b"])
        #expect(try await number("/b") == a && a != b)
        #expect(try await identifiers == ["/b", "/b"])
        #expect(try await store.found("melon") == [])
        #expect(try await store.found("lemon") == ["/b"])
        #expect(try await store.index.engagementHistory(from: 0, limit: 10).total == 0)
        try await verify()
    }

    @Test("are renamed at once: swaps and chains work, and a missing item is ignored")
    func atOnce() async throws {
        let names = ["a", "b", "c", "d", "e"]
        for name in names { try await store.put(item(name, title: name)) }
        func titles() async throws -> [String: String] {
            let items = try await store.index.items(matching: .and([]), limit: 10).items
            return Dictionary(uniqueKeysWithValues: items.map { ($0.record.uniqueIdentifier, $0.displayTitle) })
        }
        try await rename(["a": "b", "b": "a", "c": "d", "d": "e", "e": "f"])
        #expect(try await titles() == ["a": "b", "b": "a", "d": "c", "e": "d", "f": "e"])
        try await rename(["a": "b", "b": "d", "d": "a", "x": "e", "e": "x"])
        #expect(try await titles() == ["b": "b", "d": "a", "a": "c", "x": "d", "f": "e"])
        // The item that blocks the identifier does not exist, so the identifier is free.
        try await rename(["x": "y", "y": "z"])
        #expect(try await titles()["y"] == "d")
        try await verify()
    }

    @Test("have one of two normal forms, and are found by it")
    func normalForms() async throws {
        let (composed, decomposed) = ("/caf\u{E9}", "/cafe\u{301}")
        try await store.put(item(composed, title: "one"))
        let before = try await number(composed)
        try await rename([composed: decomposed])
        let found = try await store.index.items(uniqueIdentifier: decomposed).first
        #expect(
            found?.number == before && found.map { Array($0.record.uniqueIdentifier.utf8) } == Array(decomposed.utf8))
        func count(_ identifier: String) async throws -> Int {
            try await store.index.count(matching: try QueryExpression(parsing: "uniqueIdentifier == \"\(identifier)\""))
        }
        #expect(try await count(decomposed) == 1)
        try await rename([decomposed: "/cafe"])
        #expect(try await count("/cafe") == 1)
        #expect(try await count(decomposed) == 0)
        try await verify()
    }

    @Test("An expired item is not renamed, and an expired one with the new identifier is replaced")
    func expired() async throws {
        try await store.put(
            item("old", expires: .at(store.clock.now + 10)), item("a", title: "lemon", expires: .never),
            item("gone", expires: .at(store.clock.now + 10)))
        store.clock.advance(by: 11)
        let a = try await number("a")
        try await rename(["old": "b", "a": "gone"])
        #expect(try await number("b") == nil)
        #expect(try await number("gone") == a)
        #expect(try await identifiers == ["gone"])
        try await verify()
    }

    @Test("Items that depend on a renamed one still depend on it")
    func related() async throws {
        func dependent(_ identifier: String, of related: String) -> ItemRecord {
            var record = item(identifier, title: "common")
            record.attributes["relatedUniqueIdentifier"] = .string(related)
            return record
        }
        try await store.put(
            item("a", title: "common"), item("b", title: "common"), dependent("of a", of: "a"),
            dependent("of b", of: "b"),
            dependent("self", of: "self"), dependent("of self", of: "self"))
        try await store.put(dependent("elsewhere", of: "a"), in: Self.named)
        try await rename(["a": "b", "b": "a", "of a": "still of a", "self": "me"])
        func related(_ identifier: String) async throws -> String? {
            try await store.stored(identifier)?.text("relatedUniqueIdentifier")
        }
        let expected = ["still of a": "b", "of b": "a", "elsewhere": "b", "me": "me", "of self": "me"]
        for (identifier, other) in expected { #expect(try await related(identifier) == other, "\(identifier)") }
        try await store.index.delete(identifiers: ["b", "me"], in: Store.app)
        #expect(try await identifiers == ["a", "of b"])
        // An item whose related item is in another index depends on it too.
        try await store.put(item("a", title: "common"), in: Self.named)
        try await rename(["a": "c"])
        #expect(try await related("of b") == "a")
        // The earlier dependents of the new identifier always have a related item.
        try await store.put(dependent("of c", of: "c"), item("d", title: "common"))
        try await rename(["d": "c"])
        #expect(try await related("of c") == "c")
        try await verify()
    }

    @Test("A batch may donate, delete and rename the same item, which keeps its counts")
    func inABatch() async throws {
        try await store.put(item("a", title: "lemon"))
        try await use("a", after: "lem")
        var batch = IndexBatch(scope: Store.app)
        batch.deleteAll()
        batch.index([try EncodedItem(item("a", title: "lemon")), try EncodedItem(item("x", title: "new"))])
        batch.rename([ItemRename("a", to: "b"), ItemRename("x", to: "a")])
        var late = item("late", title: "late")
        late.attributes["relatedUniqueIdentifier"] = .string("b")
        batch.index([try EncodedItem(late)])
        batch.rename([ItemRename("late", to: "later")])
        try await store.index.commit(batch.with(clientState: [7]))
        #expect(try await identifiers == ["a", "b", "later"])
        #expect(try await store.index.clientState(of: Store.app) == [7])
        #expect(try await store.index.engagementHistory(from: 0, limit: 10).entries.map(\.uniqueIdentifier) == ["b"])
        // The related item never arrives.
        batch = IndexBatch(scope: Store.app)
        late.attributes["relatedUniqueIdentifier"] = .string("none")
        batch.index([try EncodedItem(late)])
        batch.rename([ItemRename("late", to: "orphan")])
        try await store.index.commit(batch)
        #expect(try await number("orphan") == nil)
        try await verify()
    }

    @Test("During a reindex an item must still be donated again, unless its new identifier was")
    func reindex() async throws {
        for name in ["a", "b", "c", "d"] { try await store.put(item(name, title: name)) }
        let numbers = [try await number("a"), try await number("b")]
        _ = try await store.index.beginWholeReplacement(of: Store.app.bundle)
        try await store.put(item("d", title: "again"), item("e", title: "again"))
        // a: not donated again. b: its file was found at its new path before its rename was
        // reported. c: donated afterwards.
        try await rename(["a": "x", "b": "e", "c": "y", "d": "z"])
        try await store.put(item("y", title: "again"))
        try await store.index.finishReplacement(of: Store.app.bundle)
        #expect(try await identifiers == ["e", "y", "z"])
        #expect(try await number("e") == numbers[1])
        try await verify()
    }

    @Test("An item that would be too large is deleted with its dependants, and reported")
    func tooLarge() async throws {
        var large = item("a")
        large.attributes["com_example_bytes"] = .data([])
        let room = ItemRecord.maximumRecordBytes - (try large.encoded().count)
        large.attributes["com_example_bytes"] = .data([UInt8](repeating: 7, count: room - 3))
        #expect(try large.encoded().count == ItemRecord.maximumRecordBytes)
        var dependent = item("dependent")
        dependent.attributes["relatedUniqueIdentifier"] = .string("a")
        try await store.put(large, dependent, item("other"))
        let mark = store.index.rejections(in: Store.app, after: nil).mark
        try await rename(["a": "ab", "other": "a"])
        #expect(try await identifiers == ["a"])
        let problems = store.index.rejections(in: Store.app, after: mark).problems
        guard case .invalidItem("ab", _)? = problems.first else {
            Issue.record("\(problems)")
            return
        }
        try await verify()
    }

    @Test("A NUL in the new identifier is rejected, and no item has one in the old identifier")
    func nul() async throws {
        try await store.put(item("a"))
        await #expect(throws: SearchIndexError.self) { try await rename(["a": "b\u{0}c"]) }
        try await rename(["a\u{0}": "c"])
        #expect(try await identifiers == ["a"])
    }

    @Test(
        "After any changes, with reopenings and crashes, each item matches a dictionary",
        arguments: [31, 32, 33, 34, 35, 36] as [UInt64])
    func sameAsModel(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let names = ["a", "b", "c", "d", "e", "f", "é", "e\u{301}x"]
        let scopes = [Store.app, Self.named]
        let clock = store.clock
        let directory = store.folder.path("store")
        try await store.index.close()
        let image = CrashImage()
        func open(_ path: String) throws -> SearchIndex {
            var seams = StoreHooks()
            image.watch(&seams)
            return try SearchIndex(
                directory: path, access: .readWrite, knownGeneration: nil, now: { clock.now }, seams: seams)
        }
        var index = try open(directory)
        var model = Model()
        for step in 0..<150 {
            let comment: Comment = "seed \(seed), step \(step)"
            let scope = random.pick(scopes)
            let before = model
            var batch = IndexBatch(scope: scope)
            clock.advance(by: 1)
            // If one batch deletes an item and donates it again, the item keeps its counts. This
            // test does not check that.
            let deletes = random.below(3) == 0
            for _ in 0..<(1 + random.below(3)) {
                switch random.below(5) {
                case 0 where deletes, 1 where deletes:
                    let name = random.pick(names)
                    batch.delete(identifiers: [name])
                    model.entries[.init(scope: scope, identifier: name)] = nil
                case 2, 3, 4:
                    let old = names.shuffled(using: &random).prefix(1 + random.below(5))
                    let renames = zip(old, names.shuffled(using: &random)).map { ItemRename($0, to: $1) }
                    batch.rename(renames)
                    model.rename(renames, in: scope)
                default:
                    let record = item(random.pick(names), title: "word \(random.below(5))", expires: .never)
                    batch.index([try EncodedItem(record)])
                    model.put(record, in: scope, now: clock.now)
                }
            }
            if random.below(10) == 0 {
                try image.arm(directory, after: random.below(3))
                try await index.commit(batch)
                let copy = try #require(try image.take())
                let crashed = try SearchIndex(directory: copy.path("store"), access: .readWrite) { clock.now }
                let items = try await crashed.items(matching: .and([]), limit: 1000).items
                #expect(model.matches(items) || before.matches(items), comment)
                try await crashed.close()
                #expect(try StoreVerifier(directory: copy.path("store")).verify().isClean, comment)
            } else {
                try await index.commit(batch)
            }
            if random.below(12) == 0 {
                try await index.close()
                index = try open(directory)
            }
            let items = try await index.items(matching: .and([]), limit: 1000).items
            #expect(model.matches(items), comment)
            for item in items {
                let key = Model.Key(scope: item.scope, identifier: item.record.uniqueIdentifier)
                model.entries[key]?.number = item.number
                if random.below(10) == 0 {
                    model.entries[key]?.uses += 1
                    let use = Engagement(item: item.number, text: "w", kind: .open)
                    #expect(try await index.countEngagement([use]) == 1)
                }
            }
            let history = try await index.engagementHistory(from: 0, limit: 1000).entries
            let uses = Dictionary(uniqueKeysWithValues: history.map { ($0.item, Int($0.total.events)) })
            let used = model.entries.values.filter { $0.uses > 0 }
            #expect(used.allSatisfy { uses[$0.number ?? 0] == $0.uses } && uses.count == used.count, comment)
            for word in ["word 0", "word 3"] {
                let hits = try await index.search(word, limit: 1000).hits.filter { $0.kind != .someWords }
                #expect(hits.count == model.entries.values.filter { $0.record.text("title") == word }.count, comment)
            }
        }
        try await index.close()
        #expect(try StoreVerifier(directory: directory).verify().isClean)
    }
}
