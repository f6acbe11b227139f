// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import ItemRecord
import QuickLookServer
import SearchlightEngine
import ServiceMessages
import TestSupport
import Testing

@testable import CoreSpotlight

/// The same search through each interface: the command, the page, an app and a launcher.
@Suite("The order of hits in every client", .timeLimit(.minutes(10)))
struct SameOrderTests {
    private static let bundle = "com.example.notes"

    /// Returns items with rare and common words, in different positions and of different ages.
    private static func batch() throws -> [UInt8] {
        var random = SplitMix64(seed: 5)
        let words = ["annual", "report", "reports", "budget", "sales", "meeting", "notes", "travel", "plan", "harbour"]
        func text(_ count: Int) -> String {
            (0..<count).map { _ in words[min(random.below(words.count), random.below(words.count))] }
                .joined(separator: " ")
        }
        var batch: [UInt8] = []
        // No more items than any search reads.
        for number in 0..<60 {
            let attributes: [String: AttributeValue] = [
                "textContent": .string(text(random.below(40))), "contentDescription": .string(text(random.below(6))),
                "contentType": .string(number % 3 == 0 ? "public.html" : "public.plain-text"),
                "contentModificationDate": .date(Double(random.below(700)) * 86400),
            ]
            RecordBatch.append(
                try record("item \(number)", title: text(1 + random.below(4)), attributes: attributes), to: &batch)
        }
        return batch
    }

    private func service() async throws -> TestService {
        let service = try await TestService()
        let app = try await service.app(Self.bundle)
        try await app.index(.put(try Self.batch()))
        // The app waits for its donations, but launchers do not.
        _ = try await app.query("title == '*'")
        return service
    }

    // MARK: The ways

    private func command(_ service: TestService, _ text: String) async throws -> [String] {
        let (store, home) = (service.store, service.folder.path)
        // The service runs in this process, so no thread of its pool may be blocked here.
        let data = try await onThread {
            Result {
                let output = Pipe()
                let child = try ChildProcess(
                    Program.path("searchlight"),
                    ["search", "--json", "--limit", "200", "--store", store, "--", text],
                    environment: [
                        "PATH": "/usr/bin:/bin", "HOME": home,
                        "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
                    ], output: .pipe(output), errors: .nothing)
                let data = output.fileHandleForReading.readDataToEndOfFile()
                try #require(child.wait() == .exited(0))
                return data
            }
        }.get()
        let answer = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        return try #require(answer["items"] as? [[String: Any]]).compactMap { $0["uniqueIdentifier"] as? String }
    }

    private func page(_ store: RemoteEngine, _ text: String, kind: String? = nil) async throws -> [Int64] {
        var random = SplitMix64(seed: 1)
        let routes = QuickLookRoutes(store, access: PageAccess(port: 4711, random: &random))
        var arguments = ["q": text]
        arguments["kind"] = kind
        var found: [Int64] = []
        while true {
            let reply = await routes.answer(granted: ["api", "search"], arguments)
            guard case .bytes(let bytes) = reply.body else { return [] }
            let answer = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
            let hits = try #require(answer["hits"] as? [[String: Any]], "\(answer)")
            found += hits.compactMap { ($0["id"] as? String).flatMap { Int64($0) } }
            guard let next = answer["next"] as? String else { return found }
            arguments["cursor"] = next
        }
    }

    private func launcher(_ client: TestClient, _ text: String) async throws -> [Int64] {
        let arguments: [BusValue] = [.string(text), .dictionary(["limit": .unsigned(200)])]
        let member = BusMember(LauncherRequest.interface, "Search")
        var answer = BusArguments(try await client.connection.call(member, arguments), of: "Search")
        return try answer.dictionaries().compactMap {
            guard case .unsigned(let number)? = $0["number"] else { return nil }
            return Int64(number)
        }
    }

    private func app(
        _ service: TestService, _ text: String, filters: [String] = [], ranked: Int = 1000
    ) async throws -> [CSUserQuery.Item] {
        let transport = LibraryApp(store: service.store, bundle: Self.bundle).transport
        return try await ProcessTransports.$replacement.withValue(.init(query: transport)) {
            let context = CSUserQueryContext()
            context.filterQueries = filters
            context.fetchAttributes = ["title"]
            context.maxRankedResultCount = ranked
            let query = CSUserQuery(userQueryString: text, userQueryContext: context)
            var found: [CSUserQuery.Item] = []
            for try await response in query.responses { if case .item(let item) = response { found.append(item) } }
            return found
        }
    }

    // MARK: Tests

    @Test("The command, the page, an app and a launcher show the same items in the same order")
    func same() async throws {
        let service = try await service()
        let store = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        let shell = try await service.shell()
        for text in [
            "report", "annual report", "rep", "budget sales meet", "\"annual report\"", "travel -plan", "harbour",
            "report kind:html", "unknown report",
        ] {
            let expected = try await command(service, text)
            #expect(!expected.isEmpty, "\(text)")
            var search = ItemSearch(text)
            search.limit = 200
            let hits = try await store.find(search).hits
            #expect(hits.map(\.item.record.uniqueIdentifier) == expected, "\(text)")
            let numbers = hits.map(\.item.number)
            #expect(try await page(store, text) == numbers, "\(text)")
            #expect(try await launcher(shell, text) == numbers, "\(text)")
            #expect(try await app(service, text).map(\.id) == expected, "\(text)")
        }
        await store.close()
        await service.stop()
    }

    @Test("A filter query of an app keeps the order of a filter in the text, or of the page")
    func filtered() async throws {
        let service = try await service()
        let store = try #require(try await RemoteEngine.connect(storeDirectory: service.store, program: "test"))
        for text in ["report", "annual report", "budg"] {
            let expected = try await command(service, "kind:html \(text)")
            #expect(!expected.isEmpty && expected.count < 60)
            let filtered = try await app(service, text, filters: ["contentType == \"public.html\""])
            #expect(filtered.map(\.id) == expected, "\(text)")
            var search = ItemSearch("kind:html \(text)")
            search.limit = 200
            let numbers = try await store.find(search).hits.map(\.item.number)
            #expect(try await page(store, text, kind: "public.html") == numbers, "\(text)")
        }
        await store.close()
        await service.stop()
    }

    @Test(
        "The first results have a rank, as many as an app requests; sorting by it keeps their order before the others")
    func ranked() async throws {
        let service = try await service()
        let expected = try await command(service, "report")
        let found = try await app(service, "report", ranked: 7)
        #expect(found.map(\.id) == expected)
        let ranks = found.map(\.item.rank)
        #expect(ranks.prefix(7).allSatisfy { $0 != nil } && ranks.dropFirst(7).allSatisfy { $0 == nil })
        // Not in the order in which they arrived.
        let sorted = found.reversed().sorted()
        #expect(sorted.prefix(7).map(\.id) == Array(expected.prefix(7)))
        await service.stop()
    }
}
