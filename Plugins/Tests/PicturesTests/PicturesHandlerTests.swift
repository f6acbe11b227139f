// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import Foundation
import PluginTesting
import Synchronization
import Testing

@testable import PictureReading
@testable import Pictures

/// The Pictures handler, with an index that records calls.
@Suite("Pictures handler")
final class PicturesHandlerTests {
    private let home = FileManager.default.temporaryDirectory.path + "/pictures-handler-" + UUID().uuidString
    private let log = Log()

    /// The reports and states of the handler.
    private final class Log: Sendable {
        let reports = Mutex<[String]>([])
        let stored = Mutex<[Data]>([])
    }

    init() throws {
        for folder in ["Pictures", "Downloads"] {
            try FileManager.default.createDirectory(atPath: home + "/" + folder, withIntermediateDirectories: true)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    private func path(_ name: String) -> String { home + "/Pictures/" + name }

    private func write(_ text: String, to name: String) throws {
        let url = URL(filePath: path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func copySamples(_ names: String...) throws {
        let samples = try SampleDocuments(.ordinary, by: "make-pictures")
        for name in names { try FileManager.default.copyItem(atPath: samples[name], toPath: path(name)) }
    }

    private func setSettings(_ text: String) throws {
        let folder = home + "/.config/com.searchlight.pictures"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: folder + "/settings"))
    }

    private func handler() -> IndexRequestHandler {
        let variables = ["HOME": home]
        let log = log
        var environment = IndexRequestHandler.Environment()
        environment.requests.settings = { () throws(Skip) in try .pictures(environment: variables) }
        environment.requests.report = { line in log.reports.withLock { $0.append(line) } }
        environment.requests.record = {
            ReadingRecord.Storage(
                load: { log.stored.withLock { $0.last } }, store: { data in log.stored.withLock { $0.append(data) } })
        }
        environment.settings = { try PictureSettings(environment: variables) }
        environment.thumbnails = ThumbnailCache(environment: variables)
        return IndexRequestHandler(environment)
    }

    /// Requests all pages. Returns their number, or nil if a page was not acknowledged.
    @discardableResult
    private func reindexAll(
        _ index: CSSearchableIndex, by handler: IndexRequestHandler? = nil, items: Int = 1000
    ) -> Int? {
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

    @Test func itemsHaveThePropertiesOfTheirPictures() throws {
        try copySamples("harbour.jpg", "packet.JPG", "gray.jpg", "clear.png")
        let index = RecordingIndex()
        #expect(reindexAll(index) == 1 && index.recorded.items.count == 4)
        let harbour = try #require(index.recorded.items.first { $0.uniqueIdentifier == path("harbour.jpg") })
        let attributes = harbour.attributeSet
        #expect(attributes.title == "harbour" && attributes.contentType == "public.jpeg")
        #expect((attributes.pixelWidth, attributes.pixelHeight) == (64, 96) && attributes.orientation == 1)
        #expect(attributes.contentCreationDate == Date(timeIntervalSince1970: 1_714_559_415.5))
        #expect(attributes.acquisitionMake == "Pelican" && attributes.acquisitionModel == "P 100")
        let camera = try #require(CSCustomAttributeKey(keyName: "com_searchlight_camera"))
        #expect(attributes.value(forCustomKey: camera) as? NSString == "Pelican, P 100, 35mm F2")
        #expect(attributes.lensModel == "35mm F2" && attributes.isoSpeed == 200 && attributes.fNumber == 5.6)
        #expect(
            attributes.exposureTimeString == "1/250" && attributes.flashOn == 1 && attributes.meteringMode == "Pattern")
        #expect(attributes.exposureProgram == "Aperture priority" && attributes.focalLength == 35)
        #expect(attributes.contentDescription == "The ferry in fog" && attributes.authorNames == ["Ada Quill"])
        #expect(abs((attributes.latitude?.doubleValue ?? 0) - 59.9139) < 1e-6 && attributes.altitude == -12.5)
        #expect(attributes.thumbnailData?.starts(with: [0xFF, 0xD8]) == true)
        #expect(attributes.path == path("harbour.jpg") && harbour.expirationDate == .distantFuture)
        #expect(attributes.providerDataTypeIdentifiers == ["public.jpeg", "public.png"])
        #expect(attributes.providerInPlaceFileTypeIdentifiers == ["public.jpeg"])
        #expect(attributes.providerFileTypeIdentifiers == ["public.jpeg"])
        let packet = try #require(index.recorded.items.first { $0.uniqueIdentifier == path("packet.JPG") }).attributeSet
        #expect(packet.title == "Lighthouse" && packet.keywords == ["beacon", "night"] && packet.rating == 4)
        #expect(
            packet.participants == ["Dee Coral", "Eve Rope"] && packet.city == "Bergen" && packet.country == "Norway")
        let clear = try #require(index.recorded.items.first { $0.uniqueIdentifier == path("clear.png") }).attributeSet
        #expect(clear.hasAlphaChannel == 1 && clear.thumbnailData?.starts(with: [0x89, 0x50]) == true)
    }

    @Test func problemsAreReportedByFileAndCountedByReason() throws {
        try write("not a picture", to: "a.jpg")
        try write("words", to: "b.txt")
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.items.map(\.uniqueIdentifier) == [path("a.jpg")])
        #expect(index.recorded.leftOut == [path("a.jpg"): PictureProblem.damaged.kind])
        #expect(log.reports.withLock { $0 }.last == "1 picture, 0 skipped, 1 without a thumbnail")
        let attributes = try #require(index.recorded.items.first).attributeSet
        #expect(attributes.title == "a" && attributes.providerDataTypeIdentifiers == [])
        #expect(attributes.providerFileTypeIdentifiers == ["public.data"])
    }

    @Test func copiesHaveTheSizeAndTheLocationOfTheSettings() throws {
        try copySamples("harbour.jpg", "large.jpg")
        func copy(_ name: String, _ type: String = "public.jpeg") throws -> PictureContent {
            let data = try handler().data(for: RecordingIndex(), itemIdentifier: path(name), typeIdentifier: type)
            let file = home + "/copy." + (type == "public.png" ? "png" : "jpg")
            try data.write(to: URL(filePath: file))
            return try #require(try PictureFile(contentsOf: file)).content()
        }
        #expect(try copy("large.jpg").width == 1200 && copy("harbour.jpg").location.isKnown)
        try setSettings("# Copies\ncopy-size = 300\ncopy-location = no\n")
        for type in ["public.jpeg", "public.png"] {
            #expect(try copy("large.jpg", type).width == 300)
            #expect(
                try !copy("harbour.jpg", type).location.isKnown && copy("harbour.jpg", type).camera.make == "Pelican")
        }
        func url(_ name: String, inPlace: Bool) throws -> URL {
            try handler().fileURL(
                for: RecordingIndex(), itemIdentifier: path(name), typeIdentifier: "public.jpeg", inPlace: inPlace)
        }
        #expect(try url("harbour.jpg", inPlace: true).path(percentEncoded: false) == path("harbour.jpg"))
        // A file may contain a location that the extension does not read.
        for name in ["harbour.jpg", "large.jpg"] {
            #expect(throws: UnsupportedType.self) { try url(name, inPlace: false) }
        }
        let index = RecordingIndex()
        reindexAll(index)
        let types = index.recorded.items.map(\.attributeSet.providerFileTypeIdentifiers)
        #expect(types == [[], []])
        // A copy could contain the location that the user wants to exclude.
        for settings in ["copy-location = maybe\n", "copy-location = no\ncopy-size = 5\n"] {
            try setSettings(settings)
            #expect(throws: PictureSettingsError.self) { try copy("harbour.jpg") }
        }
        #expect(throws: UnsupportedType.self) {
            try handler().data(
                for: RecordingIndex(), itemIdentifier: path("large.jpg"), typeIdentifier: "public.plain-text")
        }
        #expect(throws: CocoaError(.fileNoSuchFile)) { try copy("gone.jpg") }
        #expect(throws: FileLookupError.self) {
            try handler().data(for: RecordingIndex(), itemIdentifier: "/etc/a.jpg", typeIdentifier: "public.jpeg")
        }
    }

    @Test func previewHasThePicture() async throws {
        try copySamples("harbour.jpg")
        let reply = try await handler().providePreviewOfSearchableItem(
            identifier: path("harbour.jpg"), queryString: nil)
        #expect(reply.title == "harbour")
    }

    @Test func changesDonateWhatIsThereAndDeleteWhatIsGone() throws {
        try copySamples("gray.jpg")
        let index = RecordingIndex()
        handler().searchableIndex(
            index,
            updateItemsForFileChanges: [
                .changed(URL(filePath: path("gray.jpg"))), .removed(URL(filePath: path("b.png"))),
                .changed(URL(filePath: path("c.pdf"))),
            ], acknowledgementHandler: {})
        #expect(index.recorded.calls.sorted() == ["delete \(path("b.png"))", "index 1"])
    }

    @Test func pagesHaveEachPictureOnceAndThrottledPagesAreShort() throws {
        for number in 0..<25 { try write("x", to: "\(number % 3)/\(100 + number).gif") }
        let index = RecordingIndex()
        #expect(reindexAll(index, items: 7) == 4)
        #expect(index.recorded.calls == ["index 7", "index 7", "index 7", "index 4"])
        #expect(Set(index.recorded.items.map(\.uniqueIdentifier)).count == 25)
        let handler = handler()
        handler.searchableIndexDidThrottle(RecordingIndex())
        #expect(reindexAll(RecordingIndex(), by: handler) == 3)
        handler.searchableIndexDidFinishThrottle(RecordingIndex())
        #expect(reindexAll(RecordingIndex(), by: handler) == 1)
        let cancelled = RecordingIndex()
        handler.searchableIndex(
            cancelled,
            reindexPage: CSReindexPage(cursor: nil, maximumItemCount: 10, maximumDuration: .seconds(1)) { true }
        ) { _ in }
        #expect(cancelled.recorded.items.count == 1)
    }

    /// A worker that does not finish a page leaves the page's mark. The next worker records each
    /// file.
    @Test func aFileThatEndedAWorkerIsSkippedForTheRestOfTheReindex() throws {
        try copySamples("gray.jpg", "plain.png")
        let log = log
        func storage() -> ReadingRecord.Storage {
            ReadingRecord.Storage(
                load: { log.stored.withLock { $0.last } }, store: { data in log.stored.withLock { $0.append(data) } })
        }
        reindexAll(RecordingIndex())
        // The page's mark, and its removal.
        #expect(log.stored.withLock { $0.count } == 2)
        try ReadingRecord(storage()).beginPage()
        let careful = ReadingRecord(storage())
        try careful.recover()
        #expect(careful.isCareful)
        try careful.begin(try #require(try PictureFile(contentsOf: path("gray.jpg"))).fingerprint)
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.leftOut == [path("gray.jpg"): PictureProblem.endedWorker.kind])
        #expect(index.recorded.items.count == 2)
        let again = RecordingIndex()
        reindexAll(again)
        #expect(again.recorded.leftOut == [:] && again.recorded.items.count == 2)
    }
}
