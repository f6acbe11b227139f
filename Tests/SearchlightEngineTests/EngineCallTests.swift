// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import Foundation
import ItemRecord
import MetadataQuery
import Previews
import Promises
import TestSupport
import Testing
import UserSearch

@testable import SearchIndex
@testable import SearchlightEngine

/// Messages between the command and the service are unchanged after decoding, and no received
/// message can cause harm.
@Suite("Calls of the engine as messages")
struct EngineCallTests {
    private func crossed<Value: Codable>(_ value: Value) throws -> Value {
        try BusDecoder.decode(Value.self, from: try BusEncoder.encode(value))
    }

    @Test("Errors keep their message", arguments: 0..<400 as Range<UInt64>)
    func errors(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let error = RandomCalls.error(&random)
        let other = try crossed(error)
        #expect(other == error)
        #expect(Array(other.description.utf8) == Array(error.description.utf8))
    }

    @Test("Every call arrives unchanged", arguments: 0..<100 as Range<UInt64>)
    func calls(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for call in RandomCalls.calls(&random) { try check(call) }
    }

    private func check<Call: ClientCall>(_ call: Call) throws {
        let value = try BusEncoder.encode(call)
        let other = try BusEncoder.encode(try BusDecoder.decode(Call.self, from: value))
        #expect(described(other) == described(value), "\(call)")
    }

    /// Returns a complete description of the value, equal for equal values.
    private func described(_ value: BusValue) -> String {
        switch value {
        case .dictionary(let entries):
            "{\(entries.sorted { $0.key < $1.key }.map { "\($0.key): \(described($0.value))" })}"
        case .dictionaries(let list): "\(list.map { described(.dictionary($0)) })"
        case .array(let values): "\(values.map(described))"
        default: "\(value)"
        }
    }

    @Test("All known calls have random values here, and names of their own")
    func allCalls() {
        var random = SplitMix64(seed: 1)
        let names = Set(RandomCalls.calls(&random).map { type(of: $0).name })
        #expect(names == Set(ClientCallHandler.calls.map { $0.name }))
        #expect(names.count == ClientCallHandler.calls.count)
    }

    @Test("Answers arrive unchanged", arguments: 0..<100 as Range<UInt64>)
    func answers(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let items = (0..<3).map { _ in RandomCalls.item(&random) }
        let page = QueryPage(items: items, next: QueryCursor(after: 5))
        #expect(try crossed(page) == page)
        let hits = items.map {
            FoundItem(
                item: $0, title: random.text(length: 9), contentType: nil, kindName: "x", path: nil,
                bundleName: random.text(length: 9), hasThumbnail: Bool.random(using: &random), fit: .titleStart,
                parts: ScoreParts(fit: .titleStart, evidence: 0.9, words: 0.25, nearness: 0.1, freshness: 1),
                score: Double(random.next()) / 3, snippet: Snippet(text: random.text(length: 9), marks: [0..<2, 3..<3]))
        }
        let found = FoundItems(hits: hits, total: SearchTotal(count: 7, isExact: true))
        #expect(try crossed(found) == found)
        var diagnosis = SearchDiagnosis(
            item: items[0], text: random.text(length: 9), limit: 3, outcome: .behind,
            total: SearchTotal(count: 7, isExact: false))
        diagnosis.words = [
            .init(
                text: "a", isOpen: true, tells: false,
                occurrences: [.init(field: .text, match: .form, example: random.text(length: 9))], unsearched: ["x"])
        ]
        diagnosis.conditions = [
            .init(kind: .filter, text: "kind:pdf", sentence: random.text(length: 9), isMet: true, attributes: ["y"])
        ]
        diagnosis.hit = .init(number: 5, title: "", score: 0.25, parts: hits[0].parts)
        diagnosis.suggestions = [.init(text: "a", bundle: nil, limit: 10, rank: 3)]
        #expect(try crossed(diagnosis) == diagnosis)
        var comparison = ReindexComparison()
        comparison.missing = [.init(index: nil, identifier: random.text(length: 9)), .init(index: "x", identifier: "")]
        comparison.donated = random.below(1000)
        #expect(try crossed(comparison) == comparison)
        var recovery = RecoveryReport()
        recovery.findings = [random.text(length: 20)]
        recovery.lostDonations = true
        let opening = StoreOpeningReport(recovery: recovery, waitingEntries: 3)
        #expect(try crossed(opening) == opening)
        let event = EventMessage(
            number: random.next(),
            events: [
                .started(bundle: "b", processIdentifier: 5), .output(bundle: "b", line: random.text(length: 30)),
                .log(bundle: "b", level: .warning, message: random.text(length: 30)), .donated(bundle: "b", count: 4),
                .retrying(bundle: "b", after: .cancelled),
            ])
        #expect(try crossed(event).events == event.events)
    }

    @Test(
        "Queries arrive as the same tree, even queries that match everything or nothing",
        arguments: [
            "title == \"a\"", "!(a == 1 || b != \"x*\"cd) && InRange(pageCount,1,5)", "** == \"*\"",
            "dueDate > $time.today(-1)", "title == \"\\\"\\\\\u{301}日\"",
        ])
    func queries(_ text: String) throws {
        let query = try QueryExpression(parsing: text)
        #expect(try crossed(QueryText(query)).query(for: "test") == query)
        for special in [QueryExpression.and([]), .or([])] {
            #expect(try QueryText(special).query(for: "test") == special)
        }
    }

    @Test("Batches arrive unchanged", arguments: 0..<100 as Range<UInt64>)
    func batches(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var batch = IndexBatch(
            scope: IndexScope(bundle: "b" + random.text(length: 4).filter { $0 != "\0" }, index: "i"))
        batch.expectation = [.any, .exactly(nil), .exactly([1])][random.below(3)]
        batch.clientState = [nil, [], [0, 255]][random.below(3)]
        for _ in 0..<random.below(6) {
            switch random.below(4) {
            case 0: batch.index([try EncodedItem(RandomCalls.item(&random).record)])
            case 1: batch.delete(identifiers: ["a", random.text(length: 5)])
            case 2: batch.delete(domains: ["a.b"])
            default: batch.deleteAll()
            }
        }
        #expect(
            try batch.encoded().withUnsafeBytes { try IndexBatch(decoding: $0, maximumBytes: 64 << 20) } == batch)
    }

    @Test("Damaged values of a call or an answer are an error with a position or another call, and never a crash")
    func damaged() throws {
        var random = SplitMix64(seed: MutationLoop.seed)
        for _ in 0..<(MutationLoop.inputs / 40) {
            for call in RandomCalls.calls(&random) { try damage(call, &random) }
            let failure = try BusEncoder.encode(CallOutcome<QueryPage>.failure(RandomCalls.error(&random)))
            _ = try? BusDecoder.decode(CallOutcome<QueryPage>.self, from: changed(failure, &random))
        }
        let error = #expect(throws: BusCodingError.self) {
            try BusDecoder.decode(SearchCall.self, from: .dictionary(["search": .dictionary(["text": .unsigned(1)])]))
        }
        #expect(error?.path == "search.text")
    }

    private func damage<Call: ClientCall>(_ call: Call, _ random: inout SplitMix64) throws {
        _ = try? BusDecoder.decode(Call.self, from: changed(try BusEncoder.encode(call), &random))
    }

    /// Returns the value with a different value in one position, or with one value fewer.
    private func changed(_ value: BusValue, _ random: inout SplitMix64) -> BusValue {
        let others: [BusValue] = [
            .string("x"), .unsigned(.max), .signed(-1), .double(.nan), .boolean(true), .bytes([0xFF]), .strings(["a"]),
            .dictionary([:]), .array([.unsigned(1)]), .dictionaries([[:]]), .dictionary(["": .boolean(false)]),
        ]
        switch value {
        case .dictionary(var entries):
            guard let key = entries.keys.sorted().randomElement(using: &random), random.below(4) > 0 else {
                return random.pick(others)
            }
            entries[key] = random.below(5) == 0 ? nil : changed(entries[key] ?? .dictionary([:]), &random)
            return .dictionary(entries)
        case .array(var values) where !values.isEmpty:
            let index = random.below(values.count)
            values[index] = changed(values[index], &random)
            return .array(values)
        default: return random.pick(others)
        }
    }
}
