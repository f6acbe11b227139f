// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Foundation
import MetadataQuery
import SearchIndex
import TestSupport
import Testing
import TortureSupport

/// A store whose donors are killed, and its expected content.
struct KilledStore {
    private let folder: TemporaryFolder
    private let seed: UInt64
    private var models: [TortureModel]
    /// The last acknowledged batch of each scope since the store was created.
    private var acknowledged: [Int]
    private(set) var rounds = 0

    init(seed: UInt64) throws {
        folder = try TemporaryFolder()
        self.seed = seed
        models = TortureBatch.scopes.indices.map { TortureModel(scope: $0, seed: seed) }
        acknowledged = models.map { _ in 0 }
    }

    private var store: String { folder.path("store") }

    /// Runs a donor until it is killed at a site, or has finished.
    ///
    /// - Returns: `true` if it was killed.
    mutating func donate(batches: Int, killedAt site: KillSite, occurrence: Int) throws -> Bool {
        let output = Pipe()
        let complaints = folder.path("complaints")
        try Data().write(to: URL(filePath: complaints))
        let process = try ChildProcess(
            BuiltProducts.program("TortureDonor"),
            [store, "\(seed)", "\(batches)", site.phase.rawValue, site.point.rawValue, "\(occurrence)"],
            output: .pipe(output), errors: .file(FileHandle(forWritingTo: URL(filePath: complaints))))
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let ending = process.wait()
        // The last line may be incomplete, and is then ignored.
        for line in printed.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ")
            try #require(words.count == 3 && words[0] == "acknowledged", "\(line)")
            let (scope, number) = (try #require(Int(words[1])), try #require(Int(words[2])))
            // After a kill, the store may contain one further batch that was durable but not yet
            // acknowledged.
            try #require(
                number == acknowledged[scope] + 1 || number == acknowledged[scope] + 2,
                "\(line) after \(acknowledged[scope])")
            acknowledged[scope] = number
        }
        let wasKilled = ending == .killed(SIGKILL)
        let said = try String(contentsOfFile: complaints, encoding: .utf8)
        try #require(wasKilled || ending == .exited(0), "\(ending): \(said)")
        rounds += 1
        return wasKilled
    }

    /// Opens the store and compares its answers to all queries with the acknowledged state.
    ///
    /// - Returns: The time to open the store, and the number of compared items.
    mutating func check(_ note: String) async throws -> (opening: Duration, items: Int) {
        let clock = ContinuousClock()
        let begin = clock.now
        let index = try SearchIndex(directory: store, access: .readWrite) { TortureBatch.now }
        let opening = clock.now - begin
        #expect(!index.recovery.lostDonations && index.recovery.generation == 1, "\(note): \(index.recovery)")
        #expect(index.rejectedItems.isEmpty, "\(note)")
        for (scope, name) in TortureBatch.scopes.enumerated() {
            let state = try await index.clientState(of: name)
            let number = state.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
            // One more batch may be durable than the killed process reported.
            try #require(
                number == acknowledged[scope] || number == acknowledged[scope] + 1,
                "\(note): scope \(scope) has state \(number), and \(acknowledged[scope]) was acknowledged")
            acknowledged[scope] = number
            models[scope].advance(to: number)
        }
        var expected: [String: TortureItem] = [:]
        for model in models {
            for (identifier, record) in model.items {
                expected[Self.key(TortureBatch.scopes[model.scope], identifier)] = TortureItem(record: record)
            }
        }
        try await compare(index, expected, note)
        try await index.close()
        return (opening, expected.count)
    }

    private func compare(_ index: SearchIndex, _ expected: [String: TortureItem], _ note: String) async throws {
        // Queries by attribute, text, table and identifier return the same result.
        try await compare(index, query: "pageCount >= 1", expected, "\(note), all by attribute")
        let hits = try await index.items(containing: TortureBatch.commonWord)
        compare(hits, expected, "\(note), all by text")
        let counts = try await index.itemCounts()
        #expect(counts.values.reduce(0, +) == expected.count, "\(note)")
        for word in TortureBatch.words {
            let having = expected.filter { $0.value.words.contains(word) }
            compare(try await index.items(containing: word), having, "\(note), \(word)")
        }
        let last = acknowledged.max() ?? 0
        for number in Set([1, last, last + 1, (last + 1) / 2]) {
            try await compare(
                index, query: "pageCount == \(number)", expected.filter { $0.value.pageCount == number },
                "\(note), batch \(number)")
            try await compare(
                index, query: "keywords == \"n\(number)\"",
                expected.filter { $0.value.words.contains("n\(number)") }, "\(note), keyword \(number)")
            let identifier = "b\(number)-0"
            compare(
                try await index.items(uniqueIdentifier: identifier),
                expected.filter { $0.value.record.uniqueIdentifier == identifier }, "\(note), \(identifier)")
        }
    }

    private func compare(
        _ index: SearchIndex, query: String, _ expected: [String: TortureItem], _ note: String
    ) async throws {
        let page = try await index.items(
            matching: QueryExpression(parsing: query), limit: SearchIndex.maximumPage,
            context: QueryContext(clock: QueryClock(now: TortureBatch.now), conforms: { $0 == $1 }))
        try #require(page.next == nil)
        compare(page.items, expected, note)
    }

    private func compare(_ found: [StoredItem], _ expected: [String: TortureItem], _ note: String) {
        var rest = expected
        for item in found {
            let key = Self.key(item.scope, item.record.uniqueIdentifier)
            guard let wanted = rest.removeValue(forKey: key) else {
                Issue.record("\(note): \(key) is there twice or should not be there")
                continue
            }
            #expect(item.record == wanted.record, "\(note): \(key)")
        }
        #expect(rest.isEmpty, "\(note): missing \(rest.keys.sorted().prefix(5))")
    }

    private static func key(_ scope: IndexScope, _ identifier: String) -> String {
        "\(scope.index ?? "")/\(identifier)"
    }
}
