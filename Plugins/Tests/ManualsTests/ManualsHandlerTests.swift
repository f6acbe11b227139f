// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import Foundation
import PluginTesting
import Synchronization
import Testing

@testable import ManualReading
@testable import Manuals

/// The Manuals handler, with an index that records calls.
@Suite("Manuals handler")
final class ManualsHandlerTests {
    private let samples: SampleDocuments
    private let log = Log()

    /// The reports and states of the handler.
    private final class Log: Sendable {
        let reports = Mutex<[String]>([])
        let stored = Mutex<[Data]>([])
    }

    init() throws { samples = try SampleDocuments(.ordinary, by: "make-manuals") }

    private func path(_ name: String) -> String { samples["share/" + name] }

    private func handler() -> IndexRequestHandler {
        let folder = samples.folder
        let log = log
        var environment = IndexRequestHandler.Environment(settings: {
            try FolderSettings.manuals(environment: ["HOME": folder + "/home", "LANG": "de_DE.UTF-8"], system: folder)
        })
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

    @Test func itemsHaveThePropertiesOfTheirManuals() throws {
        let index = RecordingIndex()
        #expect(reindexAll(index) == 1 && index.recorded.items.count == 19 && index.recorded.leftOut == [:])
        let page = try item("man/man1/lantern.1.gz", index)
        #expect(page.title == "lantern(1)" && page.contentDescription == "light the way home")
        #expect(page.subject == "User Commands" && page.alternateNames == ["lantern.1.gz", "lantern", "lampe"])
        #expect(page.contentType == "org.gnu.groff.manual-page" && page.contentURL?.absoluteString == "man:lantern(1)")
        #expect(page.path == path("man/man1/lantern.1.gz") && page.languages == nil)
        #expect(page.providerDataTypeIdentifiers == ["public.html", "public.utf8-plain-text"])
        #expect(page.providerInPlaceFileTypeIdentifiers == ["org.gnu.gnu-zip-archive"])
        let module = try item("man/man3/Net::Sail.3pm.xz", index)
        #expect(module.title == "Net::Sail(3pm)" && module.contentURL?.absoluteString == "man:Net::Sail(3pm)")
        let info = try item("info/reef.info.gz", index)
        #expect(info.title == "GNU Reef" && info.pageCount == 2 && info.contentURL?.absoluteString == "info:reef")
        let read = try item("doc/harbour/README.Debian", index)
        #expect(read.title == "harbour: README.Debian" && read.contentType == "public.plain-text")
        #expect(read.contentURL?.path(percentEncoded: false) == path("doc/harbour/README.Debian"))
        #expect(try item("doc/harbour/html/index.html", index).title == "harbour: Harbour guide")
        #expect(try item("man/de/man1/laterne.1.gz", index).languages == ["de"])
        #expect(log.reports.withLock { $0.last } == "19 manuals, 0 skipped")
    }

    @Test func pagesWithoutFindingsAreNotReported() throws {
        let pages = try #require(reindexAll(RecordingIndex(), items: 5))
        #expect(pages > 1 && log.reports.withLock { $0 } == [])
    }

    @Test func pagesReportTheirFindingsWithoutACount() throws {
        let broken = path("man/man1/broken.1")
        #expect(symlink("broken.1", broken) == 0)
        let pages = try #require(reindexAll(RecordingIndex(), items: 5))
        let reports = log.reports.withLock { $0 }
        #expect(pages > 1 && reports.first?.hasPrefix("skipped \(broken): ") == true)
        #expect(reports.dropFirst() == ["1 skipped"])
    }

    @Test func textOfAPageIsFoundOnce() throws {
        let index = RecordingIndex()
        reindexAll(index)
        let texts = index.recorded.items.filter { $0.attributeSet.textContent?.contains("burn down") == true }
        #expect(texts.map(\.attributeSet.title) == ["candle(1)"])
        for name in ["kerze.1", "taper.1.gz"] {
            let alias = try item("man/man1/" + name, index)
            #expect(alias.textContent == nil && alias.contentDescription == "burn down", "\(name)")
        }
    }

    @Test func changesDonateWhatIsThereAndDeleteWhatIsGone() throws {
        let index = RecordingIndex()
        handler().searchableIndex(
            index,
            updateItemsForFileChanges: [
                .changed(URL(filePath: path("man/man8/buoy.8"))), .removed(URL(filePath: path("man/man1/gone.1"))),
                .changed(URL(filePath: path("doc/harbour/copyright"))),
                .changed(URL(filePath: path("man/fr/man1/lanterne.1.gz"))),
            ], acknowledgementHandler: {})
        #expect(
            index.recorded.calls.sorted() == [
                "delete \(path("man/man1/gone.1")) \(path("man/fr/man1/lanterne.1.gz"))", "index 1",
            ])
    }

    @Test func pagesHaveEachManualOnce() throws {
        let index = RecordingIndex()
        #expect(reindexAll(index, items: 5) == 4)
        #expect(index.recorded.calls == ["index 5", "index 5", "index 5", "index 4"])
        #expect(Set(index.recorded.items.map(\.uniqueIdentifier)).count == 19)
    }

    @Test func throttledPagesAreShortAndCancelledOnesEndAfterAFile() throws {
        let handler = handler()
        handler.searchableIndexDidThrottle(RecordingIndex())
        #expect(reindexAll(RecordingIndex(), by: handler) == 2)
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
        let file = try #require(try ManualFile(contentsOf: path("man/man8/buoy.8")))
        let log = log
        try ReadingRecord(ReadingRecord.Storage(load: { nil }, store: { data in log.stored.withLock { $0 = [data] } }))
            .begin(file.fingerprint)
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.leftOut == [path("man/man8/buoy.8"): ManualProblem.endedWorker.kind])
        let again = RecordingIndex()
        reindexAll(again)
        #expect(again.recorded.leftOut == [:])
    }

    @Test func settingsAddFoldersAndExcludeFiles() throws {
        let settings = samples["home/.config/com.searchlight.manuals"]
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: samples["own"], withIntermediateDirectories: true)
        try Data("words".utf8).write(to: URL(filePath: samples["own/README"]))
        let lines = ["# own", samples["own"], "!\(path("doc"))/*", "!*.info*"]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: settings + "/folders"))
        let index = RecordingIndex()
        #expect(reindexAll(index) == 1)
        let names = index.recorded.items.map(\.uniqueIdentifier)
        #expect(names.contains(samples["own/README"]) && names.contains(path("man/man8/buoy.8")))
        #expect(!names.contains { $0.contains("/doc/") || $0.contains("info") })
        try Data("not/absolute\n".utf8).write(to: URL(filePath: settings + "/folders"))
        #expect(reindexAll(RecordingIndex()) == nil)
    }

    @Test func promisesAreAPageAndText() throws {
        func data(_ name: String, _ type: String) throws -> String {
            let data = try handler().data(for: RecordingIndex(), itemIdentifier: path(name), typeIdentifier: type)
            return String(decoding: data, as: UTF8.self)
        }
        #expect(try data("man/man8/buoy.8", "public.utf8-plain-text").hasPrefix("NAME\n\nbuoy – mark a channel\n"))
        #expect(try data("man/man1/kerze.1", "public.html").contains("burn down"))
        #expect(throws: UnsupportedType.self) { try data("man/man8/buoy.8", "public.png") }
        #expect(throws: CocoaError(.fileNoSuchFile)) { try data("man/man1/gone.1", "public.html") }
        #expect(throws: FileLookupError.self) {
            try handler().data(for: RecordingIndex(), itemIdentifier: "/etc/x.1", typeIdentifier: "public.html")
        }
        let url = try handler().fileURL(
            for: RecordingIndex(), itemIdentifier: path("man/man1/lantern.1.gz"),
            typeIdentifier: "org.gnu.gnu-zip-archive",
            inPlace: true)
        #expect(url.path(percentEncoded: false) == path("man/man1/lantern.1.gz"))
        #expect(throws: UnsupportedType.self) {
            try handler().fileURL(
                for: RecordingIndex(), itemIdentifier: path("man/man8/buoy.8"), typeIdentifier: "public.html",
                inPlace: true)
        }
    }

    @Test func previewShowsThePage() async throws {
        let reply = try await handler().providePreviewOfSearchableItem(
            identifier: path("man/man1/lantern.1.gz"), queryString: "wick")
        #expect(reply.title == "lantern(1)")
    }
}
