// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import ServiceMessages
import TestSupport
import Testing

@testable import SearchlightService

@Suite("Queries of apps", .timeLimit(.minutes(10)))
struct QueryTests {
    @Test("Items have exactly the requested attributes")
    func projection() async throws {
        let service = try await TestService()
        let client = try await service.app()
        var batch: [UInt8] = []
        RecordBatch.append(
            try record("a", attributes: ["subject": .string("s"), "textContent": .string("long")]), to: &batch)
        try await client.index(.put(batch))
        for attributes in [[], ["subject"], ["subject", "title"], ["nothing"]] {
            let page = QueryPageRequest(
                text: "subject == 's'", filters: [], attributes: attributes, cursor: [], limit: 10)
            let reply = try await client.reply(.query(number: 1, page))
            let slice = try #require(try RecordBatch.split(reply.records).first)
            let record = try ItemRecord(decoding: slice)
            #expect(record.uniqueIdentifier == "a")
            #expect(Set(record.attributes.keys) == Set(attributes).intersection(["subject", "title"]))
        }
        await service.stop()
    }

    @Test("A page ends before its bytes exceed the bound, and a larger item is a page of its own")
    func pageBytes() async throws {
        var limits = ServiceLimits()
        limits.pageBytes = 10_000
        let service = try await TestService(limits: limits)
        let client = try await service.app()
        for number in 0..<10 {
            let size = number == 4 ? 50_000 : 3000
            try await client.donate(["\(number)"], title: String(repeating: "w", count: size))
        }
        var all: [String] = []
        var cursor: [UInt8] = []
        repeat {
            let page = QueryPageRequest(
                text: "title == 'w*'", filters: [], attributes: ["title"], cursor: cursor, limit: 100)
            let reply = try await client.reply(.query(number: 1, page))
            let records = try RecordBatch.split(reply.records)
            #expect(records.count == 1 || reply.records.count <= 10_000)
            for slice in records { all.append(try ItemRecord(decoding: slice).uniqueIdentifier) }
            cursor = reply.next
        } while !cursor.isEmpty
        #expect(all == (0..<10).map { "\($0)" })
        await service.stop()
    }

    @Test("A page of a search ends before its bytes exceed the bound, and its cursors name a bounded number of hits")
    func searchPageBytes() async throws {
        var limits = ServiceLimits()
        (limits.pageBytes, limits.searchHits) = (10_000, 7)
        let service = try await TestService(limits: limits)
        let client = try await service.app()
        var batch: [UInt8] = []
        for number in 0..<10 {
            let text = AttributeValue.string(String(repeating: "x ", count: 1500))
            RecordBatch.append(
                try record("\(number)", title: "note", attributes: ["textContent": text, "subject": text]), to: &batch)
        }
        try await client.index(.put(batch))
        var all: [String] = []
        var counts: [Int] = []
        var cursor: [UInt8] = []
        repeat {
            let page = QueryPageRequest(
                text: "note", filters: [], attributes: ["textContent"], cursor: cursor, limit: 100)
            let reply = try await client.reply(.search(number: 1, page))
            #expect(reply.records.count <= 10_000)
            let records = try RecordBatch.split(reply.records).map { try ItemRecord(decoding: $0) }
            #expect(records.allSatisfy { Set($0.attributes.keys) == ["textContent"] })
            all += records.map(\.uniqueIdentifier)
            counts.append(records.count)
            cursor = reply.next
        } while !cursor.isEmpty
        #expect(counts == [3, 3, 1])
        #expect(Set(all).count == 7)
        await service.stop()
    }

    @Test("Filters narrow a query and a search; an invalid one is rejected with its position")
    func filters() async throws {
        let service = try await TestService()
        let client = try await service.app()
        try await client.donate(["one", "two", "three"])
        let found = try await client.query("title == 't*'", filters: ["title != 'two'"]).identifiers
        #expect(found == ["three"])
        let broken = await refusal { _ = try await client.query("title == ") }
        #expect(broken == ServiceErrorName.invalidQuery)
        let brokenFilter = await refusal { _ = try await client.query("title == '*'", filters: ["("]) }
        #expect(brokenFilter == ServiceErrorName.invalidQuery)
        let many = await refusal {
            _ = try await client.query("title == '*'", filters: Array(repeating: "title == '*'", count: 17))
        }
        #expect(many == BusErrorName.limitsExceeded)
        let none = await refusal { _ = try await client.query("title == '*'", limit: 0) }
        #expect(none == BusErrorName.invalidArguments)
        await service.stop()
    }

    @Test("The number of running queries of a connection is limited, and a cancelled one is answered as cancelled")
    func underWay() async throws {
        var limits = ServiceLimits()
        limits.queries = 4
        let service = try await TestService(limits: limits)
        let client = try await service.app()
        try await client.donate(["a"])
        // Queries wait during a repair.
        let repair = try await HeldRepair(service.service.holder)
        let page = QueryPageRequest(text: "title == '*'", filters: [], attributes: [], cursor: [], limit: 1)
        let answers = (0..<5).map { number in
            let answer = Answer()
            let request = QueryRequest.query(number: UInt64(number), page)
            client.connection.call(request.member, request.arguments) { answer.set($0) }
            return answer
        }
        let beyond = await refusal { try await answers[4].value() }
        #expect(beyond == BusErrorName.limitsExceeded)
        let cancel = QueryRequest.cancel(number: 2)
        _ = try await client.connection.call(cancel.member, cancel.arguments)
        let cancelled = await refusal { try await answers[2].value() }
        #expect(cancelled == ExtensionStatus.cancelled.errorName)
        let twice = QueryRequest.query(number: 1, page)
        let again = await refusal { _ = try await client.connection.call(twice.member, twice.arguments) }
        #expect(again == BusErrorName.invalidArguments)
        await repair.end()
        for number in [0, 1, 3] { try await answers[number].value() }
        await service.stop()
    }

    @Test("Suggestions complete the last word with words and phrases of titles")
    func suggestions() async throws {
        let service = try await TestService()
        let client = try await service.app()
        try await client.donate(["1"], title: "Quarterly budget of the garden")
        try await client.donate(["2"], title: "Budgets for Gardening")
        let budget = try await client.suggestions("bud")
        #expect(Set(budget) == ["budget", "Budgets", "Budgets for Gardening"])
        let garden = try await client.suggestions("budget gar")
        #expect(garden.contains("budget garden"))
        let limited = try await client.suggestions("bud", limit: 1)
        #expect(limited.count == 1)
        for text in ["", " ", "budget ", "-bud", "nothing"] {
            let none = try await client.suggestions(text)
            #expect(none.isEmpty, "\(text)")
        }
        await service.stop()
    }
}
