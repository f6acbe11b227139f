// SPDX-License-Identifier: Apache-2.0
import Foundation
import JournalNotes
import Testing

@testable import CoreSpotlight
@testable import Journal

@Suite("Handler")
final class HandlerTests {
    let home: String
    var reports: [String] = []
    var acknowledgements = 0

    init() throws {
        home = FileManager.default.temporaryDirectory.path + "/journal-handler-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: home + "/Documents", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    private func path(_ name: String) -> String { home + "/Documents/" + name }

    private func write(_ text: String, to name: String) throws {
        let url = URL(filePath: path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func handler() -> IndexRequestHandler {
        let environment = ["HOME": home]
        return IndexRequestHandler(
            settings: { () throws(Skip) in try JournalSettings(environment: environment) },
            report: { [unowned self] in reports.append($0) })
    }

    private func reindexAll(_ index: CSSearchableIndex) {
        handler().searchableIndex(
            index, reindexAllSearchableItemsWithAcknowledgementHandler: { self.acknowledgements += 1 })
    }

    @Test func reindexDeletesThenDonatesInBatchesThenAcknowledges() throws {
        for number in 0..<450 { try write("# Note \(number)", to: "\(number).md") }
        try Data([0xFF]).write(to: URL(filePath: path("bad.txt")))
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.calls == ["delete all", "index 200", "index 200", "index 50"])
        #expect(index.recorded.mostUnderWay <= 2)
        #expect(index.recorded.underWay == 0)
        #expect(acknowledgements == 1)
        #expect(reports == ["skipped \(path("bad.txt")): not UTF-8 text (byte 0)", "450 notes, 1 skipped"])
    }

    @Test func largeNotesMakeSmallBatches() throws {
        for number in 0..<6 { try write(String(repeating: "a", count: 2 << 20), to: "\(number).txt") }
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.calls == ["delete all", "index 4", "index 2"])
    }

    @Test(arguments: ["delete all", "index 200", "index 50"])
    func failedReindexIsNotAcknowledged(_ call: String) throws {
        for number in 0..<450 { try write("x", to: "\(number).md") }
        reindexAll(RecordingIndex(failing: call))
        #expect(acknowledgements == 0)
        #expect(reports.count == 1 && reports[0].hasPrefix("reindexing failed: "), "\(reports)")
    }

    @Test func nothingIsDeletedWhenTheSettingsCannotBeRead() throws {
        let folder = home + "/.config/com.searchlight.journal"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data([0xFF]).write(to: URL(filePath: folder + "/folders"))
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.calls == [])
        #expect(acknowledgements == 0)
    }

    @Test func emptyFolderIsAcknowledged() {
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.calls == ["delete all"])
        #expect(acknowledgements == 1)
        #expect(reports == ["0 notes, 0 skipped"])
    }

    @Test func itemsCarryWhatTheNoteSays() throws {
        try write("---\ntags: [x]\n---\n# Title\n\nParagraph.", to: "a.b/c.md")
        let index = RecordingIndex()
        reindexAll(index)
        let item = try #require(index.recorded.items.first)
        #expect(item.uniqueIdentifier == path("a.b/c.md"))
        #expect(item.domainIdentifier == "a_b")
        #expect(item.expirationDate == .distantFuture)
        let attributes = item.attributeSet
        #expect(attributes.title == "Title")
        #expect(attributes.displayName == "Title")
        #expect(attributes.contentDescription == "Paragraph.")
        #expect(attributes.textContent == "Title\nParagraph.")
        #expect(attributes.keywords == ["x"])
        #expect(attributes.contentType == "net.daringfireball.markdown")
        #expect(attributes.contentURL?.path(percentEncoded: false) == path("a.b/c.md"))
        #expect(attributes.identifier == path("a.b/c.md"))
        #expect(attributes.providerInPlaceFileTypeIdentifiers == ["net.daringfireball.markdown"])
        #expect(attributes.providerDataTypeIdentifiers == ["public.html", "public.utf8-plain-text"])
        #expect(attributes.contentModificationDate != nil && attributes.contentCreationDate != nil)
        #expect(attributes.fileSize?.doubleValue == 0.000037)
    }

    @Test func reindexOfIdentifiersDonatesOrDeletesEach() throws {
        try write("x", to: "a.md")
        try write("x", to: "b.txt")
        let hostile = home + "/Documents/../Documents/a.md"
        let index = RecordingIndex()
        handler().searchableIndex(
            index,
            reindexSearchableItemsWithIdentifiers: [
                path("a.md"), path("gone.md"), hostile, path("b.txt"), "/etc/passwd",
            ],
            acknowledgementHandler: { self.acknowledgements += 1 })
        #expect(index.recorded.calls == ["index 2", "delete \(path("gone.md")) \(hostile) /etc/passwd"])
        #expect(acknowledgements == 1)
        #expect(
            reports == [
                "\(hostile) is not in a folder that Journal serves",
                "/etc/passwd is not in a folder that Journal serves",
            ])
    }

    @Test func promisesAreKept() throws {
        try write("# Title\n\n*text*", to: "a.md")
        let (handler, index) = (handler(), RecordingIndex())
        func data(_ type: String) throws -> String {
            String(
                decoding: try handler.data(for: index, itemIdentifier: path("a.md"), typeIdentifier: type),
                as: UTF8.self)
        }
        #expect(try data("public.html").contains("<em>text</em>"))
        #expect(try data("public.utf8-plain-text") == "Title\ntext\n")
        #expect(throws: UnsupportedType.self) { try data("public.png") }
        let markdown = "net.daringfireball.markdown"
        let url = try handler.fileURL(
            for: index, itemIdentifier: path("a.md"), typeIdentifier: markdown, inPlace: true)
        #expect(url.path(percentEncoded: false) == path("a.md"))
        for (type, inPlace) in [(markdown, false), ("public.plain-text", true), ("public.html", true)] {
            #expect(throws: UnsupportedType.self) {
                try handler.fileURL(for: index, itemIdentifier: path("a.md"), typeIdentifier: type, inPlace: inPlace)
            }
        }
    }

    @Test func promisesOfOtherFilesAreRefused() {
        let (handler, index) = (handler(), RecordingIndex())
        for identifier in ["/etc/passwd", "/etc/hosts.md", path("../../x.md"), ""] {
            #expect(throws: NoteLookupError.outsideFolders(identifier)) {
                try handler.data(for: index, itemIdentifier: identifier, typeIdentifier: "public.html")
            }
            #expect(throws: NoteLookupError.outsideFolders(identifier)) {
                try handler.fileURL(
                    for: index, itemIdentifier: identifier, typeIdentifier: "public.plain-text", inPlace: true)
            }
        }
    }

    @Test func previewIsThePageOfTheNote() async throws {
        try write("# Title\n\n*text*", to: "a.md")
        let request = QLFilePreviewRequest(fileURL: URL(filePath: path("a.md")))
        let preview = try RenderedPreview(try await handler().providePreview(for: request))
        #expect(preview.contentType == "public.html")
        #expect(preview.title == "Title")
        #expect(String(decoding: preview.data, as: UTF8.self).contains("<em>text</em>"))
    }

    @Test func previewOfAnotherFileIsRefused() async throws {
        for name in ["/etc/passwd", "/none/a.md"] {
            let request = QLFilePreviewRequest(fileURL: URL(filePath: name))
            let handler = handler()
            await #expect(throws: (any Error).self) { _ = try await handler.providePreview(for: request).title }
        }
    }

    @Test func principalClassOfTheManifestIsThisOne() throws {
        let manifest = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Journal/Info.plist")
        let plist = try #require(
            try PropertyListSerialization.propertyList(from: Data(contentsOf: manifest), format: nil) as? [String: Any])
        let point = try #require(plist["NSExtension"] as? [String: Any])
        let name = try #require(point["NSExtensionPrincipalClass"] as? String)
        let type = try #require(NSClassFromString(name) as? CSIndexExtensionRequestHandler.Type)
        let made = type.init(loadedBy: ())
        #expect(made is IndexRequestHandler && made is any QLPreviewingController)
    }
}
