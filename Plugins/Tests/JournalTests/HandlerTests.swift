// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import FileDonations
import FileReading
import JournalNotes
import PluginTesting
import Synchronization
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

    /// Writes the settings: folders below the home directory.
    private func configure(_ names: String...) throws {
        let folder = home + "/.config/com.searchlight.journal"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(names.map { "~/\($0)\n" }.joined().utf8).write(to: URL(filePath: folder + "/folders"))
    }

    private func path(_ name: String) -> String { home + "/Documents/" + name }

    private func write(_ text: String, to name: String) throws {
        let url = URL(filePath: path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func handler(
        opener: FileOpener = .system, now: @escaping () -> ContinuousClock.Instant = { ContinuousClock.now },
        sampleItems: Int = 0
    ) -> IndexRequestHandler {
        let environment = ["HOME": home]
        return IndexRequestHandler(
            settings: { () throws(Skip) in try JournalSettings(environment: environment, opener: opener) },
            report: { [unowned self] in reports.append($0) }, now: now,
            temporaryFolder: URL(filePath: home + "/tmp", directoryHint: .isDirectory), sampleItems: sampleItems)
    }

    private func reindexAll(_ index: CSSearchableIndex, by handler: IndexRequestHandler? = nil) {
        (handler ?? self.handler()).searchableIndex(
            index, reindexAllSearchableItemsWithAcknowledgementHandler: { self.acknowledgements += 1 })
    }

    @Test func reindexDeletesThenDonatesInBatchesThenAcknowledges() throws {
        for number in 0..<450 { try write("# Note \(number)", to: "\(number).md") }
        try FileManager.default.createSymbolicLink(atPath: path("bad.txt"), withDestinationPath: "nowhere")
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.calls == ["delete all", "index 200", "index 200", "index 50"])
        #expect(index.recorded.mostUnderWay <= 2)
        #expect(index.recorded.underWay == 0)
        #expect(acknowledgements == 1)
        #expect(reports == ["skipped \(path("bad.txt")): link to nothing", "450 notes, 1 skipped"])
        #expect(index.recorded.leftOut == [path("bad.txt"): "link to nothing"])
    }

    @Test func validatorGetsASample() throws {
        for number in 0..<30 { try write("# Note \(number)", to: "\(number).md") }
        let index = RecordingIndex()
        reindexAll(index, by: handler(sampleItems: 12))
        #expect(index.recorded.calls == ["delete all", "index 12"])
        #expect(acknowledgements == 1)
    }

    @Test func largeNotesMakeSmallBatches() throws {
        for number in 0..<6 { try write(String(repeating: "a", count: 2 << 20), to: "\(number).txt") }
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.calls == ["delete all", "index 2", "index 2", "index 2"])
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

    @Test func oneNoteIsOneNote() throws {
        try write("x", to: "a.md")
        reindexAll(RecordingIndex())
        #expect(reports == ["1 note, 0 skipped"])
    }

    @Test func nothingIsDeletedWhileAFolderIsMissing() throws {
        try configure("disk", "Documents")
        try write("x", to: "a.md")
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.calls == ["index 1"])
        #expect(acknowledgements == 1)
        #expect(reports == ["folder \(home)/disk is missing; its notes are kept", "1 note, 1 skipped"])
    }

    @Test func nothingIsDeletedWithoutADocumentsFolder() throws {
        try FileManager.default.removeItem(atPath: home + "/Documents")
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.calls == [])
        #expect(acknowledgements == 1)
        #expect(
            reports == [
                "no folder to index: \(home)/Documents does not exist; "
                    + "write paths into \(home)/.config/com.searchlight.journal/folders"
            ])
    }

    @Test func settingsThatNameNoFolderEmptyTheIndex() throws {
        try configure()
        let index = RecordingIndex()
        reindexAll(index)
        #expect(index.recorded.calls == ["delete all"])
        #expect(acknowledgements == 1)
        #expect(
            reports == [
                "no folder to index: \(home)/.config/com.searchlight.journal/folders names none; write paths into it"
            ])
    }

    /// The reindex is not acknowledged, so that nothing is deleted.
    @Test(arguments: [true, false])
    func folderThatIsLostDuringTheWalkFailsTheReindex(_ wholly: Bool) throws {
        try configure("Documents", "disk")
        for name in ["disk/a.md", "disk/b.md", "Documents/a.md"] { try write("x", to: "../" + name) }
        let (disk, documents) = (home + "/disk", home + "/Documents")
        let opener = FileOpener { (directory, name, flags) throws(SkipReason) in
            // When the walk opens the first note, before or after it entered the folder.
            if directory != AT_FDCWD, name == (wholly ? "a.md" : "b.md") {
                try? FileManager.default.removeItem(atPath: disk)
            }
            return try FileOpener.system.open(directory, name, flags)
        }
        reindexAll(RecordingIndex(), by: handler(opener: opener))
        #expect(acknowledgements == 0)
        #expect(reports.last == "reindexing failed: skipped \(disk): vanished", "\(reports)")
        #expect(FileManager.default.fileExists(atPath: documents + "/a.md"))
    }

    @Test func longWalkGivesSignsOfLife() throws {
        for number in 0..<10 { try write("x", to: "a/\(number).png") }
        try FileManager.default.createSymbolicLink(atPath: path("a/5.md"), withDestinationPath: "nowhere")
        // Each reading of the clock returns a time one second later: ten entries when "a" is
        // listed, and ten when the walk yields them.
        let start = ContinuousClock.now
        var seconds = 0
        let handler = handler(now: {
            seconds += 1
            return start + .seconds(seconds)
        })
        reindexAll(RecordingIndex(), by: handler)
        let walking = "walking \(path("a"))…"
        #expect(reports.filter { $0 == walking }.count >= 4)
        #expect(reports.count <= seconds / 3 + 2, "\(reports)")
        #expect(reports.last == "0 notes, 1 skipped")
    }

    @Test func signsOfLifeAreAtLeastThreeSecondsApart() {
        var lines: [String] = []
        let start = ContinuousClock.now
        var elapsed: Duration = .zero
        let progress = ProgressReport(print: { lines.append($0) }, now: { start + elapsed })
        for _ in 0..<100 {
            progress.walking("/a\nb")
            elapsed += .milliseconds(100)
        }
        #expect(lines == Array(repeating: "walking /a\\nb…", count: 3))
        progress.say("x")
        elapsed += .milliseconds(2999)
        progress.walking("/a")
        #expect(lines.count == 4)
        progress.madeProgress()
        elapsed += .milliseconds(2)
        progress.walking("/a")
        #expect(lines.count == 4)
    }

    @Test func itemsCarryWhatTheNoteSays() throws {
        try write("---\ntags: [x]\n---\n# Title\n\nParagraph.", to: "a.b/c.md")
        let index = RecordingIndex()
        reindexAll(index)
        let item = try #require(index.recorded.items.first)
        #expect(item.attributeSet.alternateNames == ["c.md"])
        #expect(item.attributeSet.containerTitle == "a.b")
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

    @Test func propertiesBecomeAttributes() throws {
        try write(
            """
            ---
            title: T
            author: Ada
            aliases: [Other, Names]
            due: 2024-05-01
            url: https://example.org/
            rating: 4
            mood: calm
            pages: 12
            ---
            """, to: "a.md")
        let index = RecordingIndex()
        reindexAll(index)
        let attributes = try #require(index.recorded.items.first?.attributeSet)
        #expect(attributes.authorNames == ["Ada"])
        #expect(attributes.alternateNames == ["Other", "Names", "a.md"])
        #expect(attributes.dueDate != nil && attributes.url?.absoluteString == "https://example.org/")
        #expect(attributes.rating == 4)
        let mood = try #require(CSCustomAttributeKey(keyName: "journal_mood"))
        #expect(attributes.value(forCustomKey: mood) as? NSString == "calm")
        let all = try #require(CSCustomAttributeKey(keyName: "journal_properties"))
        let text = (attributes.value(forCustomKey: all) as? NSString).map { "\($0)" }?.split(separator: "\n").map(
            String.init)
        #expect(text == ["2024-05-01", "https://example.org/", "4", "calm", "12"])
        #expect(attributes.textContent == "")
    }

    @Test func whatIsIndexedInPartOrNotUTF8IsSaid() throws {
        try Data([0xC4, 0x72, 0x67, 0x65, 0x72]).write(to: URL(filePath: path("latin.txt")))
        try write(String(repeating: "word ", count: (17 << 20) / 5), to: "long.txt")
        let index = RecordingIndex()
        reindexAll(index)
        #expect(reports.last == "2 notes, 0 skipped, 1 indexed in part, 1 not in UTF-8", "\(reports)")
        let key = try #require(CSCustomAttributeKey(keyName: "com_searchlight_missingTextBytes"))
        let missing = index.recorded.items.map { $0.attributeSet.value(forCustomKey: key) as? NSNumber }
        #expect(missing.compactMap { $0?.int64Value } == [Int64((17 << 20) / 5 * 5 - Note.maximumText)], "\(missing)")
        #expect(reports.contains { $0.hasPrefix("\(path("latin.txt")) is read as ") })
        #expect(reports.contains { $0.hasPrefix("\(path("long.txt")) is indexed in part: ") })
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
                "\(hostile) is not in a folder of the settings",
                "/etc/passwd is not in a folder of the settings",
            ])
    }

    @Test func reindexOfIdentifiersKeepsThoseOfAMissingFolder() throws {
        try configure("Documents", "disk")
        try write("x", to: "a.md")
        let index = RecordingIndex()
        let (lost, elsewhere) = (home + "/disk/a.md", home + "/typo/a.md")
        handler().searchableIndex(
            index, reindexSearchableItemsWithIdentifiers: [path("a.md"), path("gone.md"), lost, elsewhere],
            acknowledgementHandler: { self.acknowledgements += 1 })
        #expect(index.recorded.calls == ["index 1", "delete \(path("gone.md"))"])
        #expect(acknowledgements == 1)
        #expect(
            reports == [
                "\(lost) is not reachable, because the folder \(home)/disk is missing or unreadable; it is kept",
                "\(elsewhere) is not in a folder of the settings; it is kept",
            ])
    }

    private func update(_ index: CSSearchableIndex, _ changes: CSFileChange..., opener: FileOpener = .system) {
        let acknowledgements = Mutex(0)
        handler(opener: opener).searchableIndex(index, updateItemsForFileChanges: changes) {
            acknowledgements.withLock { $0 += 1 }
        }
        self.acknowledgements += acknowledgements.withLock { $0 }
    }

    private func file(_ name: String) -> URL { URL(filePath: path(name)) }

    @Test func itemsOfMovedNotesAreRenamedAndThenDonated() throws {
        try write("x", to: "b.md")
        try write("x", to: "new.md")
        let index = RecordingIndex()
        update(
            index, .changed(file("new.md")), .moved(from: file("a.md"), to: file("b.md")), .removed(file("c.md")),
            .changed(file("picture.png")))
        #expect(
            index.recorded.calls == [
                "rename \(path("a.md")) -> \(path("b.md"))", "index 2", "delete \(path("c.md"))",
            ])
        #expect(acknowledgements == 1)
    }

    @Test func aChangedIgnoreFileAddsAndDeletesWhatIsBelowIt() throws {
        for name in ["a.md", "sub/b.md", "sub/c.md", "sub/deep/d.md", "sub/picture.png"] { try write("x", to: name) }
        try write("c.md\ndeep\n", to: "sub/.searchlightignore")
        let index = RecordingIndex()
        update(index, .changed(file("sub/.searchlightignore")))
        #expect(index.recorded.calls == ["index 1", "delete \(path("sub/c.md")) \(path("sub/deep/d.md"))"])
        #expect(acknowledgements == 1)
        try FileManager.default.removeItem(atPath: path("sub/.searchlightignore"))
        let other = RecordingIndex()
        update(other, .removed(file("sub/.searchlightignore")))
        #expect(other.recorded.calls == ["index 3"])
    }

    @Test func notesThatSwapTheirPlacesSwapTheirItems() throws {
        for name in ["a.md", "b.md"] { try write("x", to: name) }
        let index = RecordingIndex()
        update(
            index, .moved(from: file("a.md"), to: file("b.md")), .moved(from: file("b.md"), to: file("a.md")))
        let (a, b) = (path("a.md"), path("b.md"))
        #expect(index.recorded.calls == ["rename \(a) -> \(b), \(b) -> \(a)", "index 2"])
    }

    /// As written by programs that keep the previous version.
    @Test func anItemStaysWithTheNoteAtItsPlace() throws {
        for name in ["a.md", "backup/a.md"] { try write("x", to: name) }
        let index = RecordingIndex()
        update(index, .moved(from: file("a.md"), to: file("backup/a.md")), .changed(file("a.md")))
        #expect(index.recorded.calls == ["index 3"])
    }

    @Test func aNoteThatIsMovedOutOfSightIsDeletedAndOneThatComesIsDonated() throws {
        try write("x", to: "b.md")
        try write("x", to: "c.md~")
        let index = RecordingIndex()
        update(
            index, .moved(from: file("a.txt.part"), to: file("b.md")), .moved(from: file("c.md"), to: file("c.md~")),
            .moved(from: file("d.md"), to: file("vanished.md")))
        #expect(
            index.recorded.calls == [
                "index 1", "delete \(path("c.md")) \(path("vanished.md")) \(path("d.md"))",
            ])
        #expect(acknowledgements == 1)
    }

    /// Returns an opener that fails with a system error for these names, `times` times each.
    private func failingOpener(_ names: Set<String>, times: Int = .max) -> FileOpener {
        let failures = Mutex<[String: Int]>([:])
        return FileOpener { (directory, name, flags) throws(SkipReason) in
            let fails =
                names.contains(name)
                && failures.withLock { failures in
                    failures[name, default: 0] += 1
                    return failures[name, default: 0] <= times
                }
            if fails { throw .system(errno: EIO) }
            return try FileOpener.system.open(directory, name, flags)
        }
    }

    @Test func noteThatCannotBeReadFailsNoOthers() throws {
        for name in ["a.md", "b.md", "c.md"] { try write("x", to: name) }
        let index = RecordingIndex()
        update(
            index, .changed(file("a.md")), .changed(file("b.md")), .removed(file("gone.md")), .changed(file("c.md")),
            opener: failingOpener(["b.md"]))
        #expect(index.recorded.calls == ["index 2", "delete \(path("gone.md"))"])
        #expect(acknowledgements == 1)
        #expect(reports == ["skipped \(path("b.md")): Input/output error; its item is kept"])
    }

    @Test func noteThatCannotBeReadForAMomentIsReadAgain() throws {
        for name in ["a.md", "b.md"] { try write("x", to: name) }
        let index = RecordingIndex()
        update(index, .changed(file("a.md")), .changed(file("b.md")), opener: failingOpener(["b.md"], times: 1))
        #expect(index.recorded.calls == ["index 2"])
        #expect(acknowledgements == 1)
        #expect(reports == [])
    }

    @Test func whereNoNoteCanBeReadAllAreAskedForAgain() throws {
        for name in ["a.md", "b.md"] { try write("x", to: name) }
        update(
            RecordingIndex(), .changed(file("a.md")), .changed(file("b.md")), opener: failingOpener(["a.md", "b.md"]))
        #expect(acknowledgements == 0)
        #expect(reports == ["reindexing 2 notes failed: skipped \(path("a.md")): Input/output error"])
    }

    @Test func promisesOfNotesThatAreGoneSaySo() async throws {
        try configure("Documents", "disk")
        let (handler, index) = (handler(), RecordingIndex())
        func messages(_ identifier: String) -> [String] {
            var messages: [String] = []
            do {
                _ = try handler.data(for: index, itemIdentifier: identifier, typeIdentifier: "public.html")
            } catch { messages.append("\(error)") }
            do {
                _ = try handler.fileURL(
                    for: index, itemIdentifier: identifier, typeIdentifier: "net.daringfireball.markdown",
                    inPlace: true)
            } catch { messages.append("\(error)") }
            return messages
        }
        let gone = "\(path("a.md")) is gone"
        #expect(messages(path("a.md")) == [gone, gone])
        let lost = home + "/disk/a.md"
        let away = "\(lost) is not reachable, because the folder \(home)/disk is missing or unreadable"
        #expect(messages(lost) == [away, away])
        let request = QLFilePreviewRequest(fileURL: URL(filePath: path("a.md")))
        await #expect(throws: FileLookupError.skipped(Skip(path: path("a.md"), reason: .vanished))) {
            _ = try await handler.providePreview(for: request).title
        }
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
        let copied = try handler.fileURL(
            for: index, itemIdentifier: path("a.md"), typeIdentifier: markdown, inPlace: false)
        #expect(copied == url)
        let page = try handler.fileURL(
            for: index, itemIdentifier: path("a.md"), typeIdentifier: "public.html", inPlace: false)
        #expect(try String(contentsOf: page, encoding: .utf8).contains("<em>text</em>"))
        let again = try handler.fileURL(
            for: index, itemIdentifier: path("a.md"), typeIdentifier: "public.html", inPlace: false)
        #expect(again == page && page.path(percentEncoded: false).hasPrefix(home))
        for (type, inPlace) in [("public.plain-text", false), ("public.plain-text", true), ("public.html", true)] {
            #expect(throws: UnsupportedType.self) {
                try handler.fileURL(for: index, itemIdentifier: path("a.md"), typeIdentifier: type, inPlace: inPlace)
            }
        }
    }

    @Test func promisesOfOtherFilesAreRefused() {
        let (handler, index) = (handler(), RecordingIndex())
        for identifier in ["/etc/passwd", "/etc/hosts.md", path("../../x.md"), ""] {
            #expect(throws: FileLookupError.outsideFolders(identifier)) {
                try handler.data(for: index, itemIdentifier: identifier, typeIdentifier: "public.html")
            }
            #expect(throws: FileLookupError.outsideFolders(identifier)) {
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

    @Test func previewOfALongNoteIsItsBeginningAndSaysSo() async throws {
        let line = "A line with **some** markup in it, of which there are far too many.\n\n"
        try write("# Title\n\n" + String(repeating: line, count: 100_000) + "The end.\n", to: "a.md")
        let request = QLFilePreviewRequest(fileURL: URL(filePath: path("a.md")))
        let preview = try RenderedPreview(try await handler().providePreview(for: request))
        let page = String(decoding: preview.data, as: UTF8.self)
        #expect(preview.title == "Title")
        #expect(page.utf8.count < 3 << 20)
        #expect(
            page.hasSuffix(
                """
                <p>A line with <strong>some</strong> markup in it, of which there are far too many.</p>
                <p class="end">The note is longer. Its size is 6.9 MB.</p>
                </body>
                </html>

                """))
    }

    @Test func previewCarriesThePicturesBesideTheNote() async throws {
        try write("![map](map.gif) ![none](../../secret.gif)", to: "trips/a.md")
        try write("GIF89a", to: "trips/map.gif")
        try Data("GIF89a".utf8).write(to: URL(filePath: home + "/secret.gif"))
        let request = QLFilePreviewRequest(fileURL: URL(filePath: path("trips/a.md")))
        let preview = try RenderedPreview(try await handler().providePreview(for: request))
        #expect(preview.attachments.map(\.contentType) == ["com.compuserve.gif"])
        #expect(preview.attachments.map(\.data) == [Data("GIF89a".utf8)])
        #expect(String(decoding: preview.data, as: UTF8.self).contains("<img src=\"cid:picture-1\" alt=\"map\" />"))
    }

    @Test func plainNotesAreOfferedAsTextBeforePages() throws {
        try write("x", to: "a.txt")
        try write("x", to: "b.md")
        let index = RecordingIndex()
        reindexAll(index)
        let offered = index.recorded.items.map(\.attributeSet.providerDataTypeIdentifiers)
        #expect(offered == [["public.utf8-plain-text", "public.html"], ["public.html", "public.utf8-plain-text"]])
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
        #expect(type is IndexRequestHandler.Type && type is any QLPreviewingController.Type)
    }
}
