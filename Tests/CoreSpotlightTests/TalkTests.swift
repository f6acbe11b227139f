// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import ItemRecord
import TestSupport
import Testing

@testable import CoreSpotlight
@testable import PortedSources

@Suite("Samples of the talks")
struct TalkTests {
    @Test func aSearchFieldIsGivenRankedItemsAndSuggestions() async throws {
        let transport = FakeQueryTransport(
            [.items(["Ski trip", "Skiing"]), .items(["Sky"])], completions: .success(["ski trip", "skiing"]))
        let search = JournalSearch()
        try await transport.run { try await search.search("ski", imagesOnly: true) }
        #expect(search.items.map { $0.item.attributeSet.title } == ["Ski trip", "Skiing", "Sky"])
        #expect(search.suggestions.map(\.id) == ["ski trip", "skiing"])
        // Two results have a rank, as requested. After sorting they stay in front.
        #expect(search.items.reversed().sorted().map(\.id).prefix(2) == ["id-Ski trip", "id-Skiing"])
        #expect(search.open(search.items[0]) == "id-Ski trip")
        let request = try #require(transport.pages.first)
        #expect(request.filters == ["contentTypeTree=\"public.image\""] && request.limit == 20)
        #expect(request.attributes == ["title", "contentDescription"])
        #expect(transport.suggestionRequests == ["ski 4"])
    }

    @Test func anAppsOwnSearchIsGivenResultsAsTheyAreFound() async {
        let transport = FakeQueryTransport([.items(["a \"b\""]), .items(["c"])])
        let search = PhotoSearch()
        let error: (any Error)? = await withCheckedContinuation { continuation in
            transport.make { search.search("a \"b\"") { continuation.resume(returning: $0) } }
        }
        #expect(error == nil && search.titles == ["a \"b\"", "c"])
        #expect(transport.pages.first?.text == "title == \"*a \\\"b\\\"*\"cdw")
    }

    @Test func aStoppedSearchIsToldSo() async {
        let transport = FakeQueryTransport([.silence])
        let search = PhotoSearch()
        let error: (any Error)? = await withCheckedContinuation { continuation in
            transport.make { search.search("x") { continuation.resume(returning: $0) } }
            search.stop()
        }
        #expect((error as? CSSearchQueryError)?.code == .cancelled && search.titles.isEmpty)
    }

    @Test func aDraggedPhotoIsMadeWhenItIsDropped() async throws {
        let folder = try TemporaryFolder()
        try Data("bytes".utf8).write(to: URL(fileURLWithPath: folder.path("7")))
        let item = PhotoItems().item("7", title: "Fjord")
        let provider = NSItemProvider(
            searchableItem: item, in: .default(),
            delegate: PhotoPromises(folder: URL(fileURLWithPath: folder.path)))
        #expect(provider.registeredContentTypes == [.png, .jpeg, .tiff])
        let data: Data = try await loaded { provider.loadDataRepresentation(for: .png, completionHandler: $0) }
        #expect(data == Data("7 as public.png".utf8))
        let name: String = try await loaded { handler in
            provider.loadFileRepresentation(forTypeIdentifier: "public.jpeg") { url, error in
                handler(url?.lastPathComponent, error)
            }
        }
        #expect(name == "Fjord.jpeg" || name == "Fjord.jpg")
    }

    @Test func activitiesOfAPortedAppAreDonated() async throws {
        let transport = RecordingTransport()
        let index = CSSearchableIndex(name: nil, sender: RequestSender(transport: transport))
        ProcessTransports.$replacement.withValue(.init(index: index, currentActivity: CurrentActivity())) {
            ReadingController().show(page: 3)
        }
        try await index.deleteAllSearchableItems()
        guard case .put(let batch)? = transport.sent.first?.change else {
            Issue.record("Nothing was donated.")
            return
        }
        let records = try RecordBatch.split(batch).map { try ItemRecord(decoding: $0) }
        #expect(records.map(\.uniqueIdentifier) == ["com.searchlight.activity:page-3"])
        let activity = try #require(NSUserActivity(searchableItem: CSSearchableItem(records[0])))
        #expect(activity.userInfo?["page"] as? Int == 3)
    }
}
