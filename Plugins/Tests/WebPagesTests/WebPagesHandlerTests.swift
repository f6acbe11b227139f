// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import Foundation
import PluginTesting
import Synchronization
import Testing

@testable import WebPageReading
@testable import WebPages

/// The Web Pages handler, with an index that records calls.
@Suite("Web pages handler")
final class WebPagesHandlerTests {
    private let home = FileManager.default.temporaryDirectory.path + "/webpages-handler-" + UUID().uuidString
    private let log = Log()

    /// The reports and states of the handler.
    private final class Log: Sendable {
        let reports = Mutex<[String]>([])
        let stored = Mutex<[Data]>([])
    }

    init() throws {
        for folder in ["Documents", "Downloads"] {
            try FileManager.default.createDirectory(atPath: home + "/" + folder, withIntermediateDirectories: true)
        }
        let samples = try SampleDocuments(.ordinary, by: "make-webpages")
        for file in samples.files {
            try FileManager.default.copyItem(atPath: file, toPath: path(URL(filePath: file).lastPathComponent))
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    private func path(_ name: String) -> String { home + "/Downloads/" + name }

    private func write(_ text: String, to name: String) throws {
        let url = URL(filePath: path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func handler() -> IndexRequestHandler {
        let variables = ["HOME": home]
        let log = log
        var environment = IndexRequestHandler.Environment(settings: { try .webPages(environment: variables) })
        environment.report = { line in log.reports.withLock { $0.append(line) } }
        environment.record = {
            ReadingRecord.Storage(
                load: { log.stored.withLock { $0.last } }, store: { data in log.stored.withLock { $0.append(data) } })
        }
        return IndexRequestHandler(environment)
    }

    /// Requests all pages. Returns their number, or nil if a page was not acknowledged.
    @discardableResult
    private func reindexAll(_ index: CSSearchableIndex, by handler: IndexRequestHandler? = nil, items: Int = 1000)
        -> Int?
    {
        let handler = handler ?? self.handler()
        var cursor: Data?
        for pages in 1...1000 {
            let answer = Mutex<Data??>(nil)
            handler.searchableIndex(
                index,
                reindexPage: CSReindexPage(cursor: cursor, maximumItemCount: items, maximumDuration: .seconds(600))
            ) { next in answer.withLock { $0 = .some(next) } }
            guard let next = answer.withLock({ $0 }) else { return nil }
            guard let next else { return pages }
            cursor = next
        }
        return nil
    }

    private func item(_ name: String, _ index: RecordingIndex) throws -> CSSearchableItemAttributeSet {
        try #require(index.recorded.items.first { $0.uniqueIdentifier == path(name) }).attributeSet
    }

    @Test func itemsHaveThePropertiesOfTheirPages() throws {
        let index = RecordingIndex()
        #expect(reindexAll(index) == 1 && index.recorded.items.count == 23 && index.recorded.leftOut == [:])
        let article = try item("ferry.html", index)
        #expect(article.title == "New ferry for the reef" && article.authorNames == ["Ada Quill", "Ben Mast"])
        #expect(article.containerTitle == "Reef News" && article.contentType == "public.html")
        #expect(
            article.contentURL?.absoluteString == "https://reef.example/news/ferry"
                && article.path == path("ferry.html"))
        #expect(
            article.weakRelatedUniqueIdentifier == "https://reef.example/news/ferry"
                && article.url == article.contentURL)
        #expect(article.relatedUniqueIdentifier == nil && article.thumbnailData?.starts(with: [0x89, 0x50]) == true)
        #expect(
            article.downloadedDate != nil
                && article.contentCreationDate == (try? Date("2026-11-20T08:00:00Z", strategy: .iso8601)))
        #expect(article.providerDataTypeIdentifiers == ["public.utf8-plain-text", "public.url"])
        #expect(article.providerInPlaceFileTypeIdentifiers == ["public.html"])
        let type = try #require(CSCustomAttributeKey(keyName: "com_searchlight_webpages_type"))
        #expect((article.value(forCustomKey: type) as? NSString) == "NewsArticle")
        let shop = try item("bakery.html", index)
        #expect(
            shop.supportsPhoneCall == 1 && shop.supportsNavigation == 1
                && shop.fullyFormattedAddress == "Quay 3, Hamburg")
        let event = try item("shanty.HTM", index)
        #expect(event.startDate != nil && event.namedLocation == "Old Pier" && event.latitude == 53.5)
        let archive = try item("faehre.mhtml", index)
        #expect(archive.contentType == "org.ietf.mhtml" && archive.textContent == "Die Fähre legt ab.")
        #expect(archive.providerDataTypeIdentifiers == ["public.html", "public.utf8-plain-text", "public.url"])
        let latin = try item("latin.html", index)
        #expect(
            latin.contentURL?.path(percentEncoded: false) == path("latin.html")
                && latin.weakRelatedUniqueIdentifier == nil)
        #expect(latin.providerFileTypeIdentifiers == ["public.text"])
    }

    @Test func partsOfASavedPageAreNoPages() throws {
        try write("<p>a frame", to: "tide_files/frame.html")
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.items.count == 23)
    }

    @Test func problemsAreReportedByFileAndCountedByReason() throws {
        try write("not a message", to: "bad.mhtml")
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.leftOut == [path("bad.mhtml"): WebPageProblem.damaged.kind])
        #expect(
            log.reports.withLock { $0 }.contains(
                "\(path("bad.mhtml")): \(WebPageProblem.damaged.kind); indexed without text"))
        #expect(try item("bad.mhtml", index).providerFileTypeIdentifiers == ["public.data"])
    }

    @Test func changesDonateWhatIsThereAndDeleteWhatIsGone() throws {
        let index = RecordingIndex()
        handler().searchableIndex(
            index,
            updateItemsForFileChanges: [
                .changed(URL(filePath: path("kai.mht"))), .removed(URL(filePath: path("gone.html"))),
                .changed(URL(filePath: path("other.pdf"))),
            ], acknowledgementHandler: {})
        #expect(index.recorded.calls.sorted() == ["delete \(path("gone.html"))", "index 1"])
    }

    @Test func pagesHaveEachPageOnce() throws {
        let index = RecordingIndex()
        #expect(reindexAll(index, items: 10) == 3 && index.recorded.calls == ["index 10", "index 10", "index 3"])
        #expect(Set(index.recorded.items.map(\.uniqueIdentifier)).count == 23)
    }

    @Test func throttledPagesAreShortAndCancelledOnesEndAfterAFile() throws {
        let handler = handler()
        handler.searchableIndexDidThrottle(RecordingIndex())
        #expect(reindexAll(RecordingIndex(), by: handler) == 3)
        handler.searchableIndexDidFinishThrottle(RecordingIndex())
        #expect(reindexAll(RecordingIndex(), by: handler) == 1)
        let index = RecordingIndex()
        let next = Mutex<Data?>(nil)
        handler.searchableIndex(
            index, reindexPage: CSReindexPage(cursor: nil, maximumItemCount: 10, maximumDuration: .seconds(1)) { true }
        ) { cursor in next.withLock { $0 = cursor } }
        #expect(index.recorded.items.count == 1)
        #expect(next.withLock { $0 } == index.recorded.items.first.map { Data($0.uniqueIdentifier.utf8) })
    }

    @Test func aFileThatEndedAWorkerIsSkippedForTheRestOfTheReindex() throws {
        let file = try #require(try WebPageFile(contentsOf: path("soup.html")))
        let log = log
        try ReadingRecord(ReadingRecord.Storage(load: { nil }, store: { data in log.stored.withLock { $0 = [data] } }))
            .begin(file.fingerprint)
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.leftOut == [path("soup.html"): WebPageProblem.endedWorker.kind])
    }

    @Test func settingsReplaceTheFolders() throws {
        let settings = home + "/.config/com.searchlight.webpages"
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        try write("<title>Own</title>", to: "../kept/own.html")
        try Data("~/kept\n".utf8).write(to: URL(filePath: settings + "/folders"))
        let index = RecordingIndex()
        #expect(reindexAll(index) == 1 && index.recorded.items.map(\.attributeSet.title) == ["Own"])
        try Data("not/absolute\n".utf8).write(to: URL(filePath: settings + "/folders"))
        #expect(reindexAll(RecordingIndex()) == nil)
    }

    @Test func promisesAreTextAddressAndPage() throws {
        func data(_ name: String, _ type: String) throws -> String {
            let data = try handler().data(for: RecordingIndex(), itemIdentifier: path(name), typeIdentifier: type)
            return String(decoding: data, as: UTF8.self)
        }
        #expect(try data("ferry.html", "public.utf8-plain-text") == "New ferry\nThe ferry sails at nine.\n")
        #expect(try data("ferry.html", "public.url") == "https://reef.example/news/ferry")
        #expect(try data("faehre.mhtml", "public.html").contains("<p>Die Fähre legt ab.</p>"))
        for (name, type) in [("latin.html", "public.url"), ("ferry.html", "public.html"), ("ferry.html", "public.png")]
        {
            #expect(throws: UnsupportedType.self, "\(name)") { try data(name, type) }
        }
        #expect(throws: CocoaError(.fileNoSuchFile)) { try data("gone.html", "public.url") }
        let url = try handler().fileURL(
            for: RecordingIndex(), itemIdentifier: path("kai.mht"), typeIdentifier: "org.ietf.mhtml", inPlace: true)
        #expect(url.path(percentEncoded: false) == path("kai.mht"))
    }

    @Test func previewShowsThePage() async throws {
        let reply = try await handler().providePreviewOfSearchableItem(
            identifier: path("ferry.html"), queryString: "ferry")
        #expect(reply.title == "New ferry for the reef")
    }
}
