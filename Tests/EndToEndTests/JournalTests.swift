// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Promises
@testable import SearchlightEngine
import Synchronization
import Testing

/// The main path: the Journal extension, written only against Apple's API, with the real worker and
/// store.
@Suite("Journal", .timeLimit(.minutes(10)))
struct JournalTests {
    private func write(_ text: String, to path: String) throws {
        try FileManager.default.createDirectory(
            atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    @Test("A note that a preview or a drag finds deleted is not found again", arguments: [false, true])
    func ghosts(isDragged: Bool) async throws {
        let harness = try Harness()
        let notes = harness.folder + "/notes"
        try write("# Here\n\nferry", to: notes + "/here.md")
        try write("# Gone\n\nferry", to: notes + "/gone.md")
        let bundle = try harness.installJournal(notes: notes)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
            let item = try await engine.item(named: notes + "/gone.md")
            _ = try await engine.preview(of: item, query: nil)
            #expect(engine.owedWork(for: bundle) == nil)
            try FileManager.default.removeItem(atPath: notes + "/gone.md")
            if isDragged {
                await #expect(throws: EngineError.self) {
                    _ = try await engine.drag(
                        item, accepted: ["net.daringfireball.markdown"], to: .file(path: harness.folder + "/drop.md"))
                }
            } else {
                #expect(try await engine.preview(of: item, query: nil).source == .attributes)
            }
            #expect(engine.owedWork(for: bundle)?.cause == .foundGone)
            try await engine.reindexOwed(bundle)
            let (hits, total) = try await engine.search("ferry", bundle: nil, limit: 5)
            #expect(total == 1 && hits.first?.item.record.uniqueIdentifier == notes + "/here.md")
        }
    }

    @Test("A folder of notes is indexed, found, previewed and dragged")
    func wholePath() async throws {
        let harness = try Harness()
        let notes = harness.folder + "/notes"
        let note = notes + "/trips/oslo.md"
        let source = """
            ---
            title: A week in Oslo
            tags: [travel, norway]
            ---

            The **ferry** to Bygdøy leaves from pier three.

            <script>alert(1)</script>
            """
        try write(source, to: note)
        try write("Shopping\n\nbread, jam\n", to: notes + "/list.txt")
        let bundle = try harness.installJournal(notes: notes)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
            let (hits, total) = try await engine.search("BYGDØY pie", bundle: nil, limit: 5)
            #expect(total == 1)
            let item = try #require(hits.first?.item)
            #expect(item.displayTitle == "A week in Oslo")
            #expect(item.record.texts("keywords") == ["travel", "norway"])
            #expect(item.contentType == "net.daringfireball.markdown")

            let preview = try await engine.preview(of: item, query: "ferry")
            #expect(preview.source == .extension)
            let html = String(decoding: preview.content, as: UTF8.self)
            #expect(html.contains("<strong><mark>ferry</mark></strong>"))
            #expect(!html.contains("<script"))

            let page = harness.folder + "/drop.html"
            let dropped = try await engine.drag(item, accepted: ["public.html"], to: .file(path: page))
            #expect(dropped.representation.form == .data)
            let pageText = try String(contentsOfFile: page, encoding: .utf8)
            #expect(UInt64(pageText.utf8.count) == dropped.bytes)
            #expect(pageText.contains("A week in Oslo"))

            let original = harness.folder + "/drop.md"
            let copied = try await engine.drag(
                item, accepted: ["net.daringfireball.markdown"], to: .file(path: original))
            #expect(copied.representation.form == .file)
            #expect(try String(contentsOfFile: original, encoding: .utf8) == source)

            let plain = harness.folder + "/drop.txt"
            _ = try await engine.drag(item, accepted: ["public.utf8-plain-text"], to: .file(path: plain))
            let plainText = try String(contentsOfFile: plain, encoding: .utf8)
            #expect(plainText.contains("The ferry to Bygdøy"))
        }
    }

    @Test("A removed note is gone after the next reindex, and the rest is unchanged")
    func removedNote() async throws {
        let harness = try Harness()
        let notes = harness.folder + "/notes"
        try write("# Keep\n", to: notes + "/keep.md")
        try write("# Remove\n", to: notes + "/remove.md")
        let bundle = try harness.installJournal(notes: notes)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
            try FileManager.default.removeItem(atPath: notes + "/remove.md")
            #expect(try await engine.reindexAll(bundle) == 1)
            #expect(try await engine.search("remove", bundle: nil, limit: 5).total == 0)
            #expect(try await engine.search("keep", bundle: nil, limit: 5).total == 1)
        }
    }

    @Test(
        "A note with any front matter is found",
        arguments: [
            "---\nwriter:\n  name: Quince Farrow\nodd key (1): pomelo\nbroken [ line\n---\n",
            "+++\nwriter = 'Quince Farrow'\n[x]\ny = ['pomelo']\n+++\n",
            "writer:: Quince Farrow\nfruit:: pomelo\n", "% pomelo\n% Quince Farrow\n",
            "<div>Quince Farrow <img alt='pomelo'></div>\n",
            "[Quince Farrow](https://pomelo.example/)\n", "[^1]: pomelo\n\nQuince Farrow\n",
        ])
    func wordsOfAllKinds(source: String) async throws {
        let harness = try Harness()
        let notes = harness.folder + "/notes"
        try write(source + "\nlast words\n", to: notes + "/Sundries/grocer_list-42.md")
        let bundle = try harness.installJournal(notes: notes)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            for words in [
                "pomelo", "quince farrow", "last words", "grocer", "grocer_list-42", "grocer_list-42.md", "sundries",
            ] {
                #expect(try await engine.search(words, bundle: nil, limit: 5).total == 1, "\(words)")
            }
        }
    }

    @Test("Notes excluded by settings and ignore files are not indexed, and leave the index")
    func exclusions() async throws {
        let harness = try Harness()
        let notes = harness.folder + "/notes"
        for name in ["a.md", "tmp/b.md", "sub/c.md", "sub/d.md"] { try write("# Word\n", to: notes + "/" + name) }
        try write("c.md\n", to: notes + "/sub/.searchlightignore")
        let bundle = try harness.installJournal(notes: notes)
        try write("\(notes)\n!tmp\n", to: harness.folder + "/config/\(bundle)/folders")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
            let file = notes + "/sub/.searchlightignore"
            try write("d.md\n", to: file)
            try await engine.onHost { (host) throws(ExtensionError) in
                try await host.updateFiles([.changed(path: file)], bundle)
            }
            let (hits, _) = try await engine.search("word", bundle: nil, limit: 5)
            #expect(Set(hits.map(\.item.record.uniqueIdentifier)) == [notes + "/a.md", notes + "/sub/c.md"])
            #expect(try await engine.reindexAll(bundle) == 2)
        }
    }

    @Test("A note that is dragged unchanged keeps the name of its file")
    func nameOfADraggedFile() throws {
        let harness = try Harness()
        let notes = harness.folder + "/notes"
        try write("# The title\n", to: notes + "/my note-1.MD")
        _ = try harness.installJournal(notes: notes)
        let command = Command(harness: harness)
        #expect(try command("reindex").status == 0)
        for (type, name) in [("net.daringfireball.markdown", "my note-1.MD"), ("public.html", "The title.html")] {
            let out = harness.folder + "/out"
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            let (status, output) = try command("drag", notes + "/my note-1.MD", "--accept", type, "--output", out)
            #expect(status == 0 && FileManager.default.fileExists(atPath: out + "/" + name), "\(output)")
        }
    }

    @Test("Files that cannot be indexed are skipped with a reason, and all others are indexed")
    func badInput() async throws {
        let harness = try Harness()
        let notes = harness.folder + "/notes"
        try write("# Good\n", to: notes + "/good.md")
        try Data([0x23, 0x20, 0xE9, 0x74, 0xE9, 0x0A]).write(to: URL(filePath: notes + "/latin.md"))
        try FileManager.default.createDirectory(atPath: notes + "/empty", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: notes + "/folder.md", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: notes + "/loop", withDestinationPath: notes)
        try FileManager.default.createSymbolicLink(atPath: notes + "/self.md", withDestinationPath: "self.md")
        try FileManager.default.createSymbolicLink(atPath: notes + "/dangling.md", withDestinationPath: "nowhere.md")
        try #require(mkfifo(notes + "/pipe.md", 0o600) == 0)
        try #require(FileManager.default.createFile(atPath: notes + "/huge.md", contents: nil))
        try #require(truncate(notes + "/huge.md", 200 << 20) == 0)
        let unreadable = notes + "/unreadable.md"
        try write("# Unreadable\n", to: unreadable)
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: unreadable)
        let bundle = try harness.installJournal(notes: notes)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 3)
            #expect(try await engine.search("good", bundle: nil, limit: 5).total == 1)
            // The first two files are not UTF-8 and are decoded; the last file is found only by its
            // name.
            for word in ["été", "latin", "huge.md"] {
                #expect(try await engine.search(word, bundle: nil, limit: 5).total == 1, "\(word)")
            }
        }
        #expect(harness.messages.contains { $0.hasPrefix("\(notes)/huge.md is not text") }, "\(harness.messages)")
        let skipped = harness.messages.filter { $0.hasPrefix("skipped ") }
        // A worker that root starts has none of root's privileges, so permission bits restrict it
        // too.
        let expected = ["self.md", "dangling.md", "pipe.md", "unreadable.md"]
        for name in expected {
            #expect(skipped.contains { $0.hasPrefix("skipped \(notes)/\(name): ") }, "\(name): \(skipped)")
        }
        #expect(skipped.count == expected.count, "\(skipped)")
    }

    @Test("An empty folder gives an empty index and no error")
    func emptyFolder() async throws {
        let harness = try Harness()
        let notes = harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
        let bundle = try harness.installJournal(notes: notes)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 0)
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("5,000 notes survive a worker that is killed halfway: it is reported and repeated, with the same result")
    func killedHalfWay() async throws {
        let harness = try Harness()
        let notes = harness.folder + "/notes"
        for number in 0..<5000 {
            try write("# Note \(number)\n\nThe text of note \(number).\n", to: notes + "/\(number % 50)/\(number).md")
        }
        let bundle = try harness.installJournal(notes: notes)
        let worker = Mutex<(process: Int32, donated: Int, wasKilled: Bool)>((0, 0, false))
        harness.listen { event in
            worker.withLock { worker in
                switch event {
                case .started(_, let process): worker.process = process
                case .donated(_, let count):
                    worker.donated += count
                    guard worker.donated >= 2000, !worker.wasKilled else { return }
                    worker.wasKilled = true
                    kill(worker.process, SIGKILL)
                default: break
                }
            }
        }
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 5000)
            #expect(engine.owedJobs.isEmpty)
            for number in [0, 2500, 4999] {
                let (_, total) = try await engine.search("\"note \(number)\"", bundle: nil, limit: 1)
                #expect(total == 1)
            }
        }
        #expect(worker.withLock { $0.wasKilled })
        #expect(harness.retries == 1)
        let reasons = harness.recordedEvents.compactMap { event -> ExtensionError? in
            if case .retrying(_, let error) = event { error } else { nil }
        }
        guard case .crashed(bundle, "reindex everything", .signalled(SIGKILL), _)? = reasons.first else {
            Issue.record("\(reasons)")
            return
        }
    }

    @Test("An interrupted reindex is pending in the next process, and completed by the next reindex")
    func owedAfterFailure() async throws {
        let harness = try Harness()
        let notes = harness.folder + "/notes"
        try write("# One\n", to: notes + "/one.md")
        let bundle = try harness.installJournal(notes: notes)
        harness.listen { event in
            if case .started(_, let process) = event { kill(process, SIGKILL) }
        }
        try await harness.withEngine { engine async throws in
            await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
        }
        let other = try Harness(sharing: harness)
        try await other.withEngine { engine async throws in
            #expect(engine.owedJobs.map(\.bundle) == [bundle])
            #expect(engine.owedJobs.first?.failures == 1)
            #expect(try await engine.reindexAll(bundle) == 1)
            #expect(engine.owedJobs.isEmpty)
        }
    }
}
