// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import FileWatching
import Foundation
import IdleScheduling
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import SearchlightEngine

/// Files that are followed for extensions: from the disk through the snapshot and the real worker
/// to a search.
@Suite("Followed files", .timeLimit(.minutes(10)))
struct FollowedFileTests {
    private let harness: Harness
    private let notes: String
    private let time = Time()

    private final class Time: Sendable {
        private let moment = Mutex(1_000_000.0)
        var now: Double { moment.withLock { $0 } }
        func pass(seconds: Double) { moment.withLock { $0 += seconds } }
    }

    init() throws {
        harness = try Harness()
        notes = harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
    }

    private func write(_ text: String, _ name: String) throws {
        let path = URL(filePath: notes + "/" + name)
        try FileManager.default.createDirectory(
            at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: path)
    }

    /// Installs Journal, which follows the folder of notes.
    private func installJournal() throws -> String {
        let bundle = try harness.installJournal(notes: notes)
        try harness.changeManifest(of: bundle, "WatchedPaths", to: true)
        return bundle
    }

    /// Compares all files, as the service does.
    private func look(_ engine: SearchlightEngine) async throws {
        let trees = engine.watchedTrees()
        try await engine.files?.use { (snapshot) throws(FileWatchingError) in
            try snapshot.setTrees(trees)
            for tree in try snapshot.trees() { try snapshot.compare(tree) }
        }
        _ = try await engine.takeFileNews()
    }

    private func found(_ text: String, _ engine: SearchlightEngine) async throws -> [String] {
        try await engine.search(text, bundle: nil, limit: 10).hits
            .map { String($0.item.record.uniqueIdentifier.dropFirst(notes.count + 1)) }.sorted()
    }

    @Test("Files that changed while nothing ran are found after an update, which requests only those")
    func update() async throws {
        try write("# One\n\nferry", "one.md")
        try write("# Two\n\nferry", "in/two.md")
        try write("# Three\n\nferry", "three.md")
        let bundle = try installJournal()
        try await harness.withEngine { engine async throws in
            #expect(try await engine.update(nil).map(\.bundle) == [bundle])
            #expect(try await engine.reindexAll(bundle) == 3)
            let nothing = try await engine.update(nil)
            #expect(nothing == [FileUpdate(bundle: bundle)])
        }
        try write("# One\n\ntram", "one.md")
        rename(notes + "/in", notes + "/out")
        unlink(notes + "/three.md")
        try write("# Four\n\ntram", "new/four.md")
        try await harness.withEngine { engine async throws in
            #expect(engine.scheduledJobs().isEmpty)
            let update = try #require(try await engine.update(bundle).first)
            #expect((update.changed, update.moved, update.removed) == (2, 1, 1), "\(update)")
            #expect(update.problem == nil && update.reindexed == nil)
            #expect(try await found("ferry", engine) == ["out/two.md"])
            #expect(try await found("tram", engine) == ["new/four.md", "one.md"])
            #expect(try await engine.update(bundle) == [FileUpdate(bundle: bundle)])
        }
    }

    @Test("Files that a reindex covered and that were deleted since are removed by the first update")
    func removedAfterReindex() async throws {
        try write("# One\n\nferry", "one.md")
        try write("# Two\n\nferry", "two.md")
        let bundle = try installJournal()
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
            unlink(notes + "/two.md")
            let update = try #require(try await engine.update(bundle).first)
            #expect((update.changed, update.removed) == (0, 1), "\(update)")
            #expect(try await found("ferry", engine) == ["one.md"])
        }
    }

    @Test("A reindex of everything also reports files to an extension, and later deletions follow")
    func absorbed() async throws {
        try write("# One\n\nferry", "one.md")
        let bundle = try installJournal()
        try await harness.withEngine { engine async throws in
            try await look(engine)
            #expect(engine.files?.pending[bundle]?.changes.count == 1)
            #expect(engine.scheduledJobs().map(\.key) == [.files(bundle: bundle)])
            #expect(engine.scheduledJobs().first?.isFresh == true)
            try engine.owe(.reindexAll, of: bundle, cause: .asked)
            // A long delay is allowed, but one or two files do not wait for it.
            #expect(Set(engine.scheduledJobs().map(\.key)) == [.reindex(bundle: bundle), .files(bundle: bundle)])
            #expect(try await engine.run(.reindex(bundle: bundle)) == 1)
            #expect(engine.scheduledJobs().isEmpty && engine.files?.pending[bundle] == nil)
        }
    }

    @Test("Changed files of an extension that was removed or disabled are not pending, and an update leaves them out")
    func removedOrDisabled() async throws {
        try write("# One\n\nferry", "one.md")
        let bundle = try installJournal()
        var search = ItemSearch("ferry")
        search.notes = .init()
        let asked = search
        let notes = { (engine: SearchlightEngine) async throws in
            try #require(try await engine.find(asked).notes)
        }
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            try write("# One\n\nferry, tram", "one.md")
            try await look(engine)
            #expect(try await notes(engine).pendingFiles.map(\.bundle) == [bundle])

            try await engine.setEnabled(false, bundle)
            #expect(try await notes(engine).pendingFiles.isEmpty)
            #expect(try await engine.update(nil).isEmpty)
            #expect(try await engine.update(bundle).first?.problem?.contains("disabled") == true)
            try engine.owe(.reindexAll, of: bundle, cause: .filesChanged)
            #expect(try await notes(engine).pendingReindexes.isEmpty)

            try await engine.setEnabled(true, bundle)
            #expect(try await notes(engine).pendingReindexes.map(\.bundle) == [bundle])
            try FileManager.default.removeItem(atPath: harness.extensions + "/\(bundle).searchext")
            await engine.refreshExtensions()
            #expect(try await notes(engine).pendingFiles.isEmpty)
            try await engine.forget(bundle)
            #expect(engine.files?.pending[bundle] == nil)
            try await look(engine)
            #expect(engine.files?.pending[bundle] == nil)
            #expect(try await notes(engine).pendingReindexes.isEmpty)
        }
    }

    @Test("A file that is excluded by an ignore file leaves the index, and returns when the ignore file goes")
    func ignoreFile() async throws {
        try write("# One\n\nferry", "one.md")
        try write("# Two\n\nferry", "private/two.md")
        let bundle = try installJournal()
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
            try write("two.md\n", "private/.searchlightignore")
            #expect(try await engine.update(nil).first?.problem == nil)
            #expect(try await found("ferry", engine) == ["one.md"])
            unlink(notes + "/private/.searchlightignore")
            #expect(try await engine.update(nil).first?.problem == nil)
            #expect(try await found("ferry", engine) == ["one.md", "private/two.md"])
        }
    }

    @Test("Very many files are not fresh work")
    func many() async throws {
        for number in 0...256 { try write("x", "\(number).md") }
        let bundle = try installJournal()
        try await harness.withEngine { engine async throws in
            try await look(engine)
            let job = try #require(engine.scheduledJobs().first)
            #expect(job.key == .files(bundle: bundle) && !job.isFresh && job.isResumable)
            #expect(try await engine.run(job.key) == nil)
            #expect(engine.scheduledJobs().isEmpty)
            #expect(try await engine.itemCounts()[bundle] == 257)
        }
    }

    @Test("An edit waits neither for many pending files nor for a reindex of everything")
    func recent() async throws {
        for number in 0..<300 { try write("x", "\(number).md") }
        let bundle = try installJournal()
        try await harness.withEngine { engine async throws in
            try await look(engine)
            try engine.owe(.reindexAll, of: bundle, cause: .asked)
            #expect(engine.scheduledJobs().map(\.key) == [.reindex(bundle: bundle)])
            try write("# One\n\nferry", "1.md")
            try write("# New\n\nferry", "new.md")
            try await look(engine)
            let job = try #require(engine.scheduledJobs().first { $0.key == .files(bundle: bundle) })
            #expect(job.isFresh)
            _ = try await engine.run(job.key)
            #expect(try await found("ferry", engine) == ["1.md", "new.md"])
            let count = try await engine.itemCounts()[bundle]
            #expect(count == 2)
            #expect(engine.scheduledJobs().map(\.key) == [.reindex(bundle: bundle)])
            #expect(try await engine.run(.reindex(bundle: bundle)) == 301)
            #expect(engine.scheduledJobs().isEmpty)
        }
    }

    @Test("Files of a list are requested again when the list appears, changes or is deleted")
    func lists() async throws {
        let other = harness.folder + "/other"
        mkdir(other, 0o700)
        try write("# One\n\nferry", "one.md")
        try Data("# Two\n\nferry".utf8).write(to: URL(filePath: other + "/two.md"))
        let bundle = try installJournal()
        try harness.changeManifest(of: bundle, "ReadablePaths", to: [notes, other])
        let list = URL(filePath: harness.folder + "/config/\(bundle)/folders")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            _ = try await engine.update(nil)
            // Both folders are watched continuously. Only Journal knows which one has notes.
            try Data("\(other)\n".utf8).write(to: list)
            #expect(try await engine.update(bundle).first?.reindexed == 1)
            #expect(
                try await engine.search("ferry", bundle: nil, limit: 10).hits.map(\.item.record.uniqueIdentifier) == [
                    other + "/two.md"
                ])
            #expect(try await engine.update(bundle) == [FileUpdate(bundle: bundle)])
            try Data("\(notes)\n".utf8).write(to: list)
            try await look(engine)
            #expect(engine.owedWork(for: bundle)?.work == .reindexAll)
            #expect(try await engine.run(.reindex(bundle: bundle)) == 1)
            #expect(try await found("ferry", engine) == ["one.md"])
        }
    }

    @Test("A film among the notes does not delay an edit")
    func large() async throws {
        _ = try installJournal()
        try write("", "film.md")
        #expect(truncate(notes + "/film.md", 2 << 30) == 0)
        try write("# One\n\nferry", "one.md")
        try await harness.withEngine { engine async throws in
            try await look(engine)
            #expect(engine.scheduledJobs().map(\.isFresh) == [true])
        }
    }

    @Test("While a list of folders cannot be read, its folders stay followed and found")
    func unreadableList() async throws {
        try write("# One\n\nferry", "one.md")
        let bundle = try installJournal()
        let list = URL(filePath: harness.folder + "/config/\(bundle)/folders")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            let trees = engine.watchedTrees()
            #expect(trees.contains { $0.root == notes })
            // A line that is not valid text invalidates only that line.
            try Data("/caf".utf8 + [0xE9] + "\n\(notes)\n".utf8).write(to: list)
            #expect(Set(engine.watchedTrees()) == Set(trees))
            try Data("\(notes)\n".utf8 + [UInt8](repeating: 0x23, count: 65 << 10)).write(to: list)
            #expect(Set(engine.watchedTrees()) == Set(trees))
            try await look(engine)
            #expect(engine.files?.pending[bundle] == nil)
            #expect(try await found("ferry", engine) == ["one.md"])
            // A list that names no path is a different case.
            try Data("# none\n".utf8).write(to: list)
            #expect(!engine.watchedTrees().contains { $0.root == notes })
        }
    }

    @Test("A root outside of the readable paths, or behind a link of the extension, is not watched")
    func linksOut() async throws {
        let (own, secret) = (harness.folder + "/own", harness.folder + "/secret")
        for path in [own, own + "/sub", secret] { mkdir(path, 0o700) }
        symlink(secret, own + "/link")
        symlink(own + "/sub", harness.folder + "/way")
        let bundle = try harness.installFixture("changes")
        func roots(_ watched: [String], readable: [String], writable: [String] = []) async throws -> [String] {
            try harness.changeManifest(of: bundle, "ReadablePaths", to: readable)
            try harness.changeManifest(of: bundle, "WritablePaths", to: writable)
            try harness.changeManifest(of: bundle, "WatchedPaths", to: watched)
            var roots: [String] = []
            try await harness.withEngine { engine async throws in
                roots = engine.watchedTrees().filter { $0.owner == bundle }.map(\.root)
            }
            return roots
        }
        #expect(try await roots([own + "/link"], readable: [own]) == [])
        #expect(try await roots([own + "/sub"], readable: [own]) == [own + "/sub"])
        #expect(
            try await roots([harness.folder + "/way"], readable: [harness.folder + "/way"]) == [harness.folder + "/way"]
        )
    }

    @Test("An extension that fails with every file gets them again, and none is skip-listed")
    func failingWithAll() async throws {
        let bundle = try harness.installFixture("changes")
        try harness.changeManifest(of: bundle, "ReadablePaths", to: [notes])
        try harness.changeManifest(of: bundle, "WatchedPaths", to: true)
        try write("x", "bad")
        try await harness.withEngine { engine async throws in
            for _ in 0..<5 { #expect(try await engine.update(bundle).first?.problem != nil) }
            #expect(engine.files?.pending[bundle]?.changes.count == 1)
            #expect(engine.host.health[bundle]?.itemsSetAside.isEmpty ?? true)
        }
    }

    @Test("A file that crashes the extension is skip-listed, however often it is saved, and the extension is not")
    func crashing() async throws {
        let bundle = try harness.installFixture("changes")
        try harness.changeManifest(of: bundle, "ReadablePaths", to: [notes])
        try harness.changeManifest(of: bundle, "WatchedPaths", to: true)
        try write("x", "good")
        try write("x", "crash")
        try await harness.withEngine { engine async throws in
            for round in 0..<5 {
                try write(String(repeating: "x", count: round + 1), "crash")
                let update = try #require(try await engine.update(bundle).first)
                #expect(update.problem == nil && update.setAside == 1, "\(update)")
            }
            let health = try #require(engine.host.health[bundle])
            #expect(health.quarantine == nil && health.itemsSetAside.map(\.identifier) == [notes + "/crash"])
        }
    }

    @Test("An extension without file changes is asked by identifiers if these are paths")
    func byIdentifiers() async throws {
        let bundle = try harness.installFixture("paths")
        try harness.changeManifest(of: bundle, "ReadablePaths", to: [notes])
        try harness.changeManifest(of: bundle, "WatchedPaths", to: true)
        try harness.changeManifest(of: bundle, "IdentifiersArePaths", to: true)
        try write("x", "a")
        try await harness.withEngine { engine async throws in
            _ = try await engine.update(bundle)
            rename(notes + "/a", notes + "/b")
            _ = try await engine.update(bundle)
        }
        #expect(harness.messages == [notes + "/a", notes + "/a", notes + "/b"])
    }

    @Test(
        "Otherwise it is asked for everything, at most once an hour unless the user requests it")
    func byEverything() async throws {
        let bundle = try harness.installFixture("paths")
        try harness.changeManifest(of: bundle, "ReadablePaths", to: [notes])
        try harness.changeManifest(of: bundle, "WatchedPaths", to: true)
        let configuration = EngineConfiguration(
            storeDirectory: harness.store, access: .readWrite, extensionSearchPath: [harness.extensions],
            worker: try harness.workerConfiguration(), now: { [time] in time.now })
        let engine = try SearchlightEngine(configuration) { [harness] in harness.take($0) }
        func edit() async throws {
            try write(UUID().uuidString, "a")
            try await look(engine)
        }
        try await edit()
        try await engine.run(.files(bundle: bundle))
        #expect(engine.owedWork(for: bundle)?.cause == .filesChanged && engine.owedWork(for: bundle)?.notBefore == nil)
        #expect(engine.scheduledJobs().map(\.key) == [.reindex(bundle: bundle)])
        try await engine.run(.reindex(bundle: bundle))
        #expect(engine.scheduledJobs().isEmpty)
        try await edit()
        time.pass(seconds: 60)
        try await engine.run(.files(bundle: bundle))
        let job = try #require(engine.scheduledJobs().first)
        #expect(job.key == .reindex(bundle: bundle) && job.notBefore == 1_000_000 + 3600)
        #expect(try await engine.update(bundle).first?.reindexed == 0)
        #expect(engine.scheduledJobs().isEmpty)
        #expect(harness.messages == ["all", "all"])
        await engine.close()
    }

    @Test("A file with which the extension fails delays no others, and is skip-listed at once")
    func failing() async throws {
        let bundle = try harness.installFixture("changes")
        try harness.changeManifest(of: bundle, "ReadablePaths", to: [notes])
        try harness.changeManifest(of: bundle, "WatchedPaths", to: true)
        for name in (0..<60).map(String.init) + ["bad"] { try write("x", name) }
        try await harness.withEngine { engine async throws in
            let update = try #require(try await engine.update(bundle).first)
            #expect(update.problem == nil && update.setAside == 1 && update.changed == 60, "\(update)")
            #expect(engine.scheduledJobs().isEmpty)
            #expect(engine.host.health[bundle]?.itemsSetAside.map(\.identifier) == [notes + "/bad"])
            // After the repair the extension gets the change again, and the file is no longer
            // skip-listed.
            rename(notes + "/bad", notes + "/mended")
            try write("x", "59")
            let second = try #require(try await engine.update(bundle).first)
            #expect(second.problem == nil, "\(second)")
        }
        for name in ["1", "59"] { #expect(harness.messages.contains("1 \(notes)/\(name) -")) }
        #expect(
            harness.recordedEvents.contains {
                if case .setAside(bundle, notes + "/bad", _) = $0 { true } else { false }
            })
    }

    @Test("Commands report that no process follows the files, update the index, and reject missing paths")
    func commands() throws {
        let command = Command(harness: harness)
        #expect(
            try command("update").output == "No extension has watched files, so there is nothing to update.\n")
        try write("# One\n\nferry", "one.md")
        let bundle = try installJournal()
        let plain = try harness.installFixture("notebook")
        #expect(try command("reindex", bundle).status == 0)
        #expect(try !command.separately("search", "ferry").errors.contains("Your files are not watched"))
        unlink(harness.store + "/files.looked")
        let stale = try command.separately("search", "ferry")
        #expect(stale.output.contains("one.md"))
        #expect(stale.errors.contains("Your files are not watched") && stale.errors.contains("searchlight update"))
        let first = try command("update")
        #expect(first.status == 0 && first.output.hasPrefix("\(bundle): "), "\(first)")
        #expect(try !command.separately("search", "ferry").errors.contains("Your files are not watched"))
        try write("# One\n\ntram", "one.md")
        try write("# Two\n\ntram", "two.md")
        let update = try command("update", bundle)
        #expect(update.output.hasPrefix("\(bundle): 2 files changed, in "), "\(update)")
        #expect(try command("update", bundle).output == "\(bundle): up to date\n")
        let json = try command("update", "--json").output
        #expect(json.contains("\"bundle\"") && json.contains("\"changed\""), "\(json)")
        #expect(try command("update", plain).output.contains("it has no watched files"))
        let none = try command("update", "com.example.none")
        #expect(none.status == 2 && none.output.contains("com.example.none"), "\(none)")
        #expect(try command("update", "").status == 64)
        let status = try command("status").output
        #expect(
            status.contains("Files that a running service would watch") && status.contains("\(bundle): \(notes)"),
            "\(status)")
        #expect(try command("extensions", "disable", bundle).status == 0)
        let disabled = try command("status").output
        #expect(disabled.contains("Disabled: \(bundle)") && !disabled.contains("would watch"), "\(disabled)")
    }

    @Test("status counts the watched paths that do not exist, and lists them with --verbose")
    func missingPaths() async throws {
        let command = Command(harness: harness)
        let bundle = try installJournal()
        let missing = ["one", "two", "three"].map { harness.folder + "/missing/\($0)" }
        try Data(([notes] + missing).joined(separator: "\n").utf8).write(
            to: URL(filePath: harness.folder + "/config/\(bundle)/folders"))
        let service = try ChildProcess(
            BuiltProducts.program("searchlightd"),
            ["--store", harness.store, "--extensions", harness.extensions, "--no-session-bus"],
            environment: command.environment, output: .nothing, errors: .nothing)
        defer {
            service.send(SIGKILL)
            service.wait()
        }
        let deadline = ContinuousClock.now + .seconds(60)
        var status = ""
        while !status.contains("Watched files") || status.contains("not checked") {
            try #require(service.isRunning && .now < deadline, "\(status)")
            status = try command("status").output
            try await Task.sleep(for: .milliseconds(50))
        }
        let all = try command("status", "--verbose").output
        let count = all.split(separator: "\n").count { $0.hasSuffix(": does not exist") }
        #expect(count >= missing.count && missing.allSatisfy { all.contains("\($0): does not exist") }, "\(all)")
        #expect(status.contains("  \(count) paths do not exist yet, and are watched once created."), "\(status)")
        #expect(!status.contains(harness.folder + "/missing") && status.contains(": \(notes)\n"), "\(status)")
        let report = try #require(try command.json("status") as? [String: Any])
        let places = try #require((report["followed"] as? [String: Any])?["places"] as? [[String: Any]])
        #expect(places.count { $0["state"] as? String == "missing" } == count)

        #expect(try command("extensions", "disable", bundle).status == 0)
        let disabled = try command("status").output
        #expect(!disabled.contains("Watched files") && !disabled.contains("paths do not exist"), "\(disabled)")
        #expect(try command("extensions", "enable", bundle).status == 0)
        #expect(try command("status").output.contains("\(bundle): \(notes)\n"))
        try FileManager.default.removeItem(atPath: harness.extensions + "/\(bundle).searchext")
        #expect(try command("extensions").status == 0)
        #expect(try !command("status").output.contains("Watched files"))
    }
}
