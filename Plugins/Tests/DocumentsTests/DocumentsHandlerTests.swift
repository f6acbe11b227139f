// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import Foundation
import PluginTesting
import Synchronization
import Testing

@testable import DocumentReading
@testable import Documents

/// The Documents handler, with an index that records calls.
@Suite("Documents handler")
final class DocumentsHandlerTests {
    private let home: String
    private var reports: [String] = []
    private var acknowledgements = 0
    private let stored = Mutex<[Data]>([])

    init() throws {
        home = FileManager.default.temporaryDirectory.path + "/documents-handler-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: home + "/Downloads", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: home + "/Documents", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    private func path(_ name: String) -> String { home + "/Downloads/" + name }

    private func write(_ text: String, to name: String) throws {
        let url = URL(filePath: path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func setFolders(_ text: String) throws {
        let settings = home + "/.config/com.searchlight.documents"
        try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: settings + "/folders"))
    }

    private func handler(record: Data? = nil, opener: FileOpener = .system) -> IndexRequestHandler {
        var environment = IndexRequestHandler.Environment()
        let variables = ["HOME": home]
        environment.settings = { () throws(Skip) in try .documents(environment: variables, opener: opener) }
        environment.report = { [unowned self] in reports.append($0) }
        environment.record = { [unowned self] in
            ReadingRecord.Storage(
                load: { [unowned self] in stored.withLock { $0.last } ?? record },
                store: { [unowned self] data in stored.withLock { $0.append(data) } })
        }
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
            acknowledgements += 1
            guard let next else { return pages }
            cursor = next
        }
        return nil
    }

    private func copySamples() throws -> SampleDocuments {
        let samples = try SampleDocuments(.ordinary)
        for file in samples.files {
            try FileManager.default.copyItem(atPath: file, toPath: path(URL(filePath: file).lastPathComponent))
        }
        return samples
    }

    @Test("The items of a folder or file that may not be read now are kept", arguments: ["sub", "a.txt"])
    func itemsThatCannotBeReadNow(refused: String) throws {
        let names = ["a.txt", "sub.txt", "sub/b.txt", "sub/in/c.txt"]
        for name in names { try write("words", to: name) }
        let index = RecordingIndex()
        reindexAll(index)
        // A test opener, since permissions do not restrict the superuser, who may run the tests.
        let handler = handler(
            opener: FileOpener { (directory, name, flags) throws(SkipReason) in
                if name == refused { throw SkipReason.unreadable }
                return try FileOpener.system.open(directory, name, flags)
            })
        #expect(reindexAll(index, by: handler) == 1)
        let again = index.recorded.items.dropFirst(names.count)
        #expect(Set(again.map(\.uniqueIdentifier)) == Set(names.map(path)) && again.count == names.count)
        let kept = again.filter(\.isUpdate).map(\.uniqueIdentifier)
        #expect(kept == (refused == "sub" ? ["sub/b.txt", "sub/in/c.txt"] : ["a.txt"]).map(path))
        handler.searchableIndex(index, reindexSearchableItemsWithIdentifiers: kept) { [unowned self] in
            acknowledgements += 1
        }
        #expect(acknowledgements == 3 && index.recorded.kept.count == names.count)
        #expect(reports.filter { $0.hasSuffix("no permission to read it; its item is kept") }.count == kept.count)
    }

    @Test func itemsHaveThePropertiesOfTheirDocuments() throws {
        let samples = try copySamples()
        let index = RecordingIndex()
        // In the default folders, Web Pages serves HTML.
        try setFolders("~/Downloads\n")
        reindexAll(index, by: handler())
        #expect(acknowledgements == 1)
        #expect(index.recorded.items.count == samples.files.count)
        let item = try #require(index.recorded.items.first { $0.uniqueIdentifier == path("timetable.pdf") })
        let attributes = item.attributeSet
        #expect(attributes.title == "Bus times" && attributes.authorNames == ["Gil Stop"])
        #expect(attributes.contentType == "com.adobe.pdf" && attributes.pageCount == 2)
        #expect(attributes.languages == ["en"] && attributes.path == path("timetable.pdf"))
        #expect(attributes.contentURL?.path(percentEncoded: false) == path("timetable.pdf"))
        #expect(attributes.textContent?.components(separatedBy: "\u{0C}").count == 2)
        #expect(attributes.thumbnailData?.isEmpty == false && item.expirationDate == .distantFuture)
        #expect(
            attributes.providerDataTypeIdentifiers == [
                "public.html", "public.utf8-plain-text", "public.utf16-plain-text", "public.png",
            ])
        #expect(attributes.providerInPlaceFileTypeIdentifiers == ["com.adobe.pdf"])
        #expect(attributes.fileSize?.doubleValue == 0.001323)
        let fileTypes = Dictionary(
            index.recorded.items.map { item in
                (URL(filePath: item.uniqueIdentifier).lastPathComponent, item.attributeSet.providerFileTypeIdentifiers)
            }
        ) { $1 }
        #expect(fileTypes["faehre.html"] == ["public.html"] && fileTypes["alt.htm"] == ["public.text"])
        #expect(fileTypes["note.txt"] == ["public.plain-text"] && fileTypes["alt.txt"] == ["public.text"])
        let page = try #require(index.recorded.items.first { $0.uniqueIdentifier == path("faehre.html") })
        #expect(
            page.attributeSet.providerDataTypeIdentifiers == ["public.utf8-plain-text", "public.utf16-plain-text"])
    }

    /// Journal serves notes in the documents folder, and Web Pages serves HTML in both folders.
    @Test func notesInTheDocumentsFolderAndWebPagesAreLeftToOthers() throws {
        for name in ["a.md", "b.TXT", "c.html", "d.py"] { try write("words", to: "../Documents/" + name) }
        for name in ["e.md", "f.txt", "g.HTM", "h.xhtml"] { try write("words", to: name) }
        let index = RecordingIndex()
        reindexAll(index, by: handler())
        let names = index.recorded.items.map { URL(filePath: $0.uniqueIdentifier).lastPathComponent }
        #expect(names == ["d.py", "e.md", "f.txt"])
    }

    @Test func problemsAreReportedByFileAndCountedByReason() throws {
        try write("not a PDF", to: "a.pdf")
        try write("words", to: "b.txt")
        let index = RecordingIndex()
        reindexAll(index, by: handler())
        #expect(index.recorded.items.count == 2)
        #expect(index.recorded.leftOut == [path("a.pdf"): DocumentProblem.damaged.kind])
        #expect(
            reports == [
                "\(path("a.pdf")): \(DocumentProblem.damaged.kind); indexed without text",
                "2 documents, 0 skipped, 1 without text",
            ])
        let item = try #require(index.recorded.items.first { $0.uniqueIdentifier == path("a.pdf") })
        #expect(item.attributeSet.title == "a" && item.attributeSet.providerDataTypeIdentifiers == [])
        #expect(item.attributeSet.providerFileTypeIdentifiers == ["public.data"])
    }

    @Test func aFileThatEndedAWorkerIsSkippedForTheRestOfTheReindex() throws {
        _ = try copySamples()
        let file = try #require(try DocumentFile(contentsOf: path("timetable.pdf")))
        let lost = ReadingRecord(
            ReadingRecord.Storage(load: { nil }, store: { data in self.stored.withLock { $0 = [data] } }))
        try lost.begin(file.fingerprint)
        let index = RecordingIndex()
        reindexAll(index, by: handler())
        #expect(index.recorded.leftOut == [path("timetable.pdf"): DocumentProblem.endedWorker.kind])
        #expect(index.recorded.items.contains { $0.uniqueIdentifier == path("timetable.pdf") })
        // The other PDF file was read, and no file is marked as being read.
        #expect(index.recorded.items.contains { $0.attributeSet.textContent?.contains("Dear keeper") == true })
        let again = RecordingIndex()
        reindexAll(again, by: handler())
        #expect(again.recorded.leftOut == [:])
    }

    @Test func recordFitsAClientStateAndForgetsTheOldest() throws {
        for number in 0..<60 { try write("x", to: "\(number).pdf") }
        var state: Data?
        let storage = ReadingRecord.Storage(load: { state }, store: { state = $0 })
        for number in 0..<60 {
            let file = try #require(try DocumentFile(contentsOf: path("\(number).pdf")))
            try ReadingRecord(storage).begin(file.fingerprint)
            try ReadingRecord(storage).recover()
            #expect((state?.count ?? 0) <= 250)
        }
        let record = ReadingRecord(storage)
        #expect(record.skipped.count == ReadingRecord.maximumSkipped)
        #expect(!record.isSkipped(try #require(try DocumentFile(contentsOf: path("0.pdf"))).fingerprint))
        #expect(record.isSkipped(try #require(try DocumentFile(contentsOf: path("59.pdf"))).fingerprint))
        // A state from another source is not a record.
        state = Data([9, 9, 9])
        #expect(ReadingRecord(storage).skipped == [])
    }

    @Test func changesDonateWhatIsThereAndDeleteWhatIsGone() throws {
        try write("words", to: "a.txt")
        let index = RecordingIndex()
        handler().searchableIndex(
            index,
            updateItemsForFileChanges: [
                .changed(URL(filePath: path("a.txt"))), .removed(URL(filePath: path("b.pdf"))),
                .changed(URL(filePath: path("c.png"))),
            ], acknowledgementHandler: {})
        #expect(index.recorded.calls.sorted() == ["delete \(path("b.pdf"))", "index 1"])
    }

    @Test func pagesHaveEachDocumentOnce() throws {
        for number in 0..<25 { try write("words", to: "\(number % 3)/\(100 + number).txt") }
        let index = RecordingIndex()
        let pages = reindexAll(index, items: 7)
        #expect(pages == 4 && acknowledgements == 4)
        #expect(index.recorded.calls == ["index 7", "index 7", "index 7", "index 4"])
        #expect(Set(index.recorded.items.map(\.uniqueIdentifier)).count == 25)
    }

    @Test func throttledPagesAreShortAndCancelledOnesEndAfterAFile() throws {
        for number in 0..<25 { try write("words", to: "\(number).txt") }
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

    @Test func settingsThatCannotBeReadFailAReindex() throws {
        try write("words", to: "a.txt")
        try setFolders("not/absolute\n~/Downloads\n")
        let index = RecordingIndex()
        #expect(reindexAll(index) == nil && index.recorded.calls == [])
        #expect(reports.count == 1 && reports[0].hasPrefix("reindexing failed: "), "\(reports)")
        // Each problem is reported once, and the failure names a problem that caused it.
        try setFolders("~/missing\n~/Downloads\nnot/absolute\n")
        let before = reports.count
        #expect(reindexAll(index) == nil)
        let said = reports.dropFirst(before)
        #expect(said.count == 2 && said.first?.contains("missing is missing") == true, "\(said)")
        #expect(said.last?.contains("line 3: “not/absolute”") == true, "\(said)")
        // The host keeps the items of a missing folder.
        try setFolders("~/missing\n~/Downloads\n")
        #expect(reindexAll(index) == 1 && index.recorded.calls == ["index 1"])
    }

    @Test func promisesAreTextPageAndFirstPage() throws {
        _ = try copySamples()
        try setFolders("~/Downloads\n")
        func data(_ name: String, _ type: String) throws -> Data {
            try handler().data(for: RecordingIndex(), itemIdentifier: path(name), typeIdentifier: type)
        }
        #expect(String(decoding: try data("ferry.odt", "public.utf8-plain-text"), as: UTF8.self).hasPrefix("Ferry\n"))
        #expect(String(decoding: try data("ferry.odt", "public.html"), as: UTF8.self).contains("<p>Ferry</p>"))
        #expect(try data("note.txt", "public.utf16-plain-text").starts(with: [UInt8(ascii: "G"), 0]))
        #expect(try data("timetable.pdf", "public.png").starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(try data("tides.docx", "public.jpeg").starts(with: [0xFF, 0xD8]))
        for (name, type) in [("tides.docx", "public.png"), ("faehre.html", "public.html"), ("note.txt", "public.rtf")] {
            #expect(throws: (any Error).self, "\(name)") { try data(name, type) }
        }
        #expect(throws: CocoaError(.fileNoSuchFile)) { try data("gone.pdf", "public.html") }
        #expect(throws: FileLookupError.self) {
            try handler().data(for: RecordingIndex(), itemIdentifier: "/etc/passwd", typeIdentifier: "public.html")
        }
        let url = try handler().fileURL(
            for: RecordingIndex(), itemIdentifier: path("tides.docx"),
            typeIdentifier: "org.openxmlformats.wordprocessingml.document", inPlace: true)
        #expect(url.path(percentEncoded: false) == path("tides.docx"))
        let text = try handler().fileURL(
            for: RecordingIndex(), itemIdentifier: path("alt.txt"), typeIdentifier: "public.text", inPlace: true)
        #expect(text.path(percentEncoded: false) == path("alt.txt"))
        #expect(throws: UnsupportedType.self) {
            try handler().fileURL(
                for: RecordingIndex(), itemIdentifier: path("alt.txt"), typeIdentifier: "public.html", inPlace: true)
        }
    }

    @Test func previewBeginsWithThePagesThatWereSearchedFor() async throws {
        _ = try copySamples()
        let reply = try await handler().providePreviewOfSearchableItem(
            identifier: path("timetable.pdf"), queryString: "night")
        #expect(reply.title == "Bus times")
    }
}
