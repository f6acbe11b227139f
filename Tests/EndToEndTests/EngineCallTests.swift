// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ItemRecord
import MetadataQuery
import Previews
import Promises
import TestSupport
import Testing

@testable import SearchIndex
@testable import SearchlightEngine

/// What crosses between the command and the service comes out as it went in, and nothing that arrives can do harm.
@Suite("Calls of the engine as messages")
struct EngineCallTests {
    private func crossed<Value: Codable>(_ value: Value) throws -> Value {
        try CallCoding.decode(Value.self, try CallCoding.encode(value))
    }

    @Test("Errors come out with the same message", arguments: 0..<400 as Range<UInt64>)
    func errors(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let error = RandomCalls.error(&random)
        let other = try crossed(error)
        #expect(other == error)
        #expect(Array(other.description.utf8) == Array(error.description.utf8))
    }

    @Test("Every call comes out as it went in", arguments: 0..<100 as Range<UInt64>)
    func calls(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for call in RandomCalls.calls(&random) { try check(call, number: random.next()) }
    }

    private func check<Call: EngineCall>(_ call: Call, number: UInt64) throws {
        let json = try CallCoding.encode(NumberedCall(number: number, call: call))
        let other = try CallCoding.decode(NumberedCall<Call>.self, json)
        #expect(other.number == number)
        #expect(try sorted(other.call) == sorted(call), "\(call)")
    }

    /// The JSON of a value, the same for equal ones.
    private func sorted(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try encoder.encode(value)
    }

    @Test("All calls that are known have random ones here, and names of their own")
    func allCalls() {
        var random = SplitMix64(seed: 1)
        let names = Set(RandomCalls.calls(&random).map { type(of: $0).name })
        #expect(names == Set(EngineCalls.calls.map { $0.name }))
        #expect(names.count == EngineCalls.calls.count)
    }

    @Test("Answers come out as they went in", arguments: 0..<100 as Range<UInt64>)
    func answers(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let items = (0..<3).map { _ in RandomCalls.item(&random) }
        let page = QueryPage(items: items, next: QueryCursor(after: 5))
        #expect(try crossed(page) == page)
        let hits = items.map {
            FoundItem(
                item: $0, title: random.text(length: 9), contentType: nil, kindName: "x", path: nil, fit: .titleStart,
                score: Double(random.next()) / 3, snippet: Snippet(text: random.text(length: 9), marks: [0..<2, 3..<3]))
        }
        let found = FoundItems(hits: hits, total: SearchTotal(count: 7, isExact: true))
        #expect(try crossed(found) == found)
        var comparison = Comparison()
        comparison.missing = [.init(index: nil, identifier: random.text(length: 9)), .init(index: "x", identifier: "")]
        comparison.donated = random.below(1000)
        #expect(try crossed(comparison) == comparison)
        var recovery = RecoveryReport()
        recovery.findings = [random.text(length: 20)]
        recovery.lostDonations = true
        let opening = StoreOpening(recovery: recovery, waitingEntries: 3)
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
        "Queries come out as the same tree, those that hold for all and for none too",
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

    @Test("Batches come out as they went in", arguments: 0..<100 as Range<UInt64>)
    func batches(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var batch = IndexBatch(
            scope: IndexScope(bundle: "b" + random.text(length: 4).filter { $0 != "\0" }, index: "i"))
        for _ in 0..<random.below(6) {
            switch random.below(4) {
            case 0: batch.index([try EncodedItem(RandomCalls.item(&random).record)])
            case 1: batch.delete(identifiers: ["a", random.text(length: 5)])
            case 2: batch.delete(domains: ["a.b"])
            default: batch.deleteAll()
            }
        }
        #expect(try IndexBatch(decoding: try batch.encoded()) == batch)
    }

    @Test("Changed bytes of a call or an answer are an error or another call, and never a crash")
    func damaged() throws {
        var random = SplitMix64(seed: 7)
        for _ in 0..<300 {
            for call in RandomCalls.calls(&random) { damage(call, &random) }
            var bytes = try CallCoding.encode(CallOutcome<QueryPage>.failure(RandomCalls.error(&random)))
            change(&bytes, &random)
            _ = try? CallCoding.decode(CallOutcome<QueryPage>.self, bytes)
        }
        let deep = Array((String(repeating: "[", count: 1 << 20)).utf8)
        #expect(throws: CallCodingError.self) { try CallCoding.decode(NumberedCall<SearchCall>.self, deep) }
    }

    private func damage<Call: EngineCall>(_ call: Call, _ random: inout SplitMix64) {
        guard var bytes = try? CallCoding.encode(NumberedCall(number: 1, call: call)) else { return }
        change(&bytes, &random)
        _ = try? CallCoding.decode(NumberedCall<Call>.self, bytes)
    }

    private func change(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
        switch random.below(3) {
        case 0: bytes.removeLast(random.below(bytes.count))
        case 1: bytes[random.below(bytes.count)] = UInt8(random.below(256))
        default:
            bytes.insert(contentsOf: Array("[{\"1e999".utf8).prefix(1 + random.below(7)), at: random.below(bytes.count))
        }
    }
}
