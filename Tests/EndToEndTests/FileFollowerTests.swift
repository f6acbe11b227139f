// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import SearchlightEngine

/// Journal and Documents while their files change. They get each change, and the index contains the
/// items that a reindex would donate.
@Suite("Extensions that follow files", .timeLimit(.minutes(10)))
struct FileFollowerTests {
    /// An extension that has its own folder.
    enum Follower: String, CaseIterable {
        case journal, documents
    }

    /// An extension, its folder, and the changes in the folder.
    private final class Trial {
        let harness: Harness
        let bundle: String
        let folder: String

        init(_ follower: Follower) throws {
            harness = try Harness()
            switch follower {
            case .journal:
                folder = harness.folder + "/notes"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                bundle = try harness.installJournal(notes: folder)
            case .documents:
                folder = harness.folder + "/Downloads"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                bundle = try harness.installDocuments()
            }
        }

        func path(_ name: String) -> String { folder + "/" + name }

        func write(_ text: String, _ name: String) throws {
            try FileManager.default.createDirectory(
                at: URL(filePath: path(name)).deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: path(name)))
        }

        func update(_ changes: [FileChange], _ engine: SearchlightEngine) async throws {
            try await engine.onHost { (host) throws(ExtensionError) in try await host.updateFiles(changes, bundle) }
        }

        func found(_ text: String, _ engine: SearchlightEngine) async throws -> [String] {
            try await engine.search(text, bundle: nil, limit: 20).hits.map {
                String($0.item.record.uniqueIdentifier.dropFirst(folder.count + 1))
            }.sorted()
        }

        /// Returns the changes that a watcher reports for an action: each path with a different
        /// inode number, size or time. An inode number that had a different path is a move.
        func changes(_ body: () throws -> Void) throws -> [FileChange] {
            let before = states()
            try body()
            let after = states()
            let gone = before.filter { after[$0.key]?.first != $0.value.first }
            var changes: [FileChange] = []
            var moved: Set<String> = []
            for (path, state) in after.sorted(by: { $0.key < $1.key }) where before[path] != state {
                let isNew = before[path]?.first != state.first
                if isNew, let old = gone.first(where: { $0.value.first == state.first && !moved.contains($0.key) })?.key
                {
                    moved.insert(old)
                    changes.append(.moved(from: old, to: path))
                } else {
                    changes.append(.changed(path: path))
                }
            }
            return changes
                + before.keys.filter { after[$0] == nil && !moved.contains($0) }.sorted().map { .removed(path: $0) }
        }

        private func states() -> [String: [Int]] {
            var states: [String: [Int]] = [:]
            for name in FileManager.default.enumerator(atPath: folder) ?? .init() {
                guard let name = name as? String else { continue }
                var status = stat()
                guard lstat(path(name), &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { continue }
                states[path(name)] = [
                    Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                    status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
                ]
            }
            return states
        }
    }

    // MARK: What a reindex would give

    @Test(
        "After any changes of a tree the index equals the result of a reindex",
        arguments: Follower.allCases, [UInt64(1), 2])
    func sameAsReindex(_ follower: Follower, seed: UInt64) async throws {
        let trial = try Trial(follower)
        var random = SplitMix64(seed: seed)
        let folders = ["", "a/", "a/b/", "ü/", ".hidden/", "a/.hidden/", "link/"]
        let names = [
            "one.md", "two.txt", "three.md", ".four.md", "five.md~", ".six.md.swp", "seven.png", "eight", "NINE.MD",
        ]
        func name() -> String { folders.randomElement(using: &random)! + names.randomElement(using: &random)! }
        func change() throws {
            let (one, other) = (trial.path(name()), trial.path(name()))
            let manager = FileManager.default
            try manager.createDirectory(
                at: URL(filePath: other).deletingLastPathComponent(), withIntermediateDirectories: true)
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1: try? manager.removeItem(atPath: one)
            case 2, 3: rename(one, other)
            case 4:
                // Moves a folder with its content.
                rename(trial.path("a"), trial.path("ü/" + String(Int.random(in: 0..<3, using: &random))))
            case 5:
                try? manager.removeItem(atPath: one)
                mkdir(one, 0o755)
            case 6 where follower == .documents: symlink(other, one)
            case 7 where follower == .documents: symlink(trial.path("a"), trial.path("link"))
            case 8: chmod(one, Bool.random(using: &random) ? 0 : 0o644)
            default:
                let text = "# Title \(UInt32.random(in: 0..<9, using: &random))\n\nword\(random.next())\n"
                try? Data(text.utf8).write(to: URL(filePath: other))
            }
        }
        // A file without read permission keeps its item, which is not donated again.
        func isSame(_ comparison: ReindexComparison) -> Bool {
            comparison.missing.isEmpty && comparison.differing.isEmpty
                && comparison.extra.allSatisfy { name in
                    var status = stat()
                    return stat(name.identifier, &status) == 0 && status.st_mode & 0o777 == 0
                }
        }
        try await trial.harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(trial.bundle)
            for round in 0..<12 {
                // One round has more changes than are handled one by one.
                let count = round == 6 ? 400 : Int.random(in: 1..<12, using: &random)
                let changes = try trial.changes { for _ in 0..<count { try change() } }
                try await trial.update(changes.shuffled(using: &random), engine)
                let comparison = try await engine.compare(trial.bundle)
                #expect(isSame(comparison), "seed \(seed), round \(round): \(comparison), \(changes)")
                // Repeated changes, and changes to missing files, have no effect.
                try await trial.update(changes + [.changed(path: trial.path("no/such.md"))], engine)
                #expect(isSame(try await engine.compare(trial.bundle)))
            }
        }
    }

    @Test("A moved file is found at its new path, and files outside have no owner", arguments: Follower.allCases)
    func moved(_ follower: Follower) async throws {
        let trial = try Trial(follower)
        try trial.write("ferry", "one.md")
        try await trial.harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(trial.bundle)
            try trial.write("", "deeper/empty.md")
            rename(trial.path("one.md"), trial.path("deeper/two.md"))
            let number = try await engine.item(named: trial.path("one.md")).number
            let outside = trial.harness.folder + "/outside.md"
            try Data("ferry".utf8).write(to: URL(filePath: outside))
            try await trial.update(
                [
                    .moved(from: trial.path("one.md"), to: trial.path("deeper/two.md")), .changed(path: outside),
                    .changed(path: trial.folder + "/../outside.md"), .changed(path: trial.path("deeper/empty.md")),
                ], engine)
            #expect(try await trial.found("ferry", engine) == ["deeper/two.md"])
            #expect(try await engine.compare(trial.bundle).isEqual)
            // The file stays the same item, and so do two files that swap names, and a rewritten
            // file.
            func itemNumber(_ name: String) async throws -> Int64 {
                try await engine.item(named: trial.path(name)).number
            }
            #expect(try await itemNumber("deeper/two.md") == number)
            let other = try await itemNumber("deeper/empty.md")
            rename(trial.path("deeper/two.md"), trial.path("third.md"))
            rename(trial.path("deeper/empty.md"), trial.path("deeper/two.md"))
            rename(trial.path("third.md"), trial.path("deeper/empty.md"))
            try await trial.update(
                [
                    .moved(from: trial.path("deeper/two.md"), to: trial.path("deeper/empty.md")),
                    .moved(from: trial.path("deeper/empty.md"), to: trial.path("deeper/two.md")),
                ], engine)
            #expect(try await itemNumber("deeper/empty.md") == number)
            #expect(try await itemNumber("deeper/two.md") == other)
            rename(trial.path("deeper/empty.md"), trial.path("kept.md"))
            try trial.write("ferry again", "deeper/empty.md")
            try await trial.update(
                [
                    .moved(from: trial.path("deeper/empty.md"), to: trial.path("kept.md")),
                    .changed(path: trial.path("deeper/empty.md")),
                ], engine)
            #expect(try await itemNumber("deeper/empty.md") == number)
            #expect(try await engine.compare(trial.bundle).isEqual)
        }
    }

    @Test("While the folder is missing a change deletes nothing, and the request is not acknowledged")
    func folderAway() async throws {
        let trial = try Trial(.documents)
        try trial.write("ferry", "one.md")
        try await trial.harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(trial.bundle) == 1)
            rename(trial.folder, trial.folder + ".away")
            let failure = await #expect(throws: EngineError.self) {
                try await trial.update([.removed(path: trial.path("one.md"))], engine)
            }
            #expect("\(String(describing: failure))".contains("~/Downloads is missing or not readable"))
            #expect(try await engine.itemCounts() == [trial.bundle: 1])
            rename(trial.folder + ".away", trial.folder)
            try await trial.update([.removed(path: trial.path("one.md"))], engine)
            #expect(try await engine.itemCounts() == [trial.bundle: 1])
        }
    }

    @Test("By its manifest it receives the changes of its folder", arguments: Follower.allCases)
    func manifest(_ follower: Follower) async throws {
        let trial = try Trial(follower)
        try trial.write("ferry", "one.md")
        try await trial.harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(trial.bundle)
            _ = try await engine.update(trial.bundle)
            try trial.write("tram", "deeper/two.md")
            let told = try #require(try await engine.update(trial.bundle).first)
            #expect(told.problem == nil && told.reindexed == nil && told.changed == 1, "\(told)")
            #expect(try await trial.found("tram", engine) == ["deeper/two.md"])
        }
    }

    // MARK: How editors save

    /// A way in which an editor writes new text to `note.md`, with its temporary files.
    enum Saving: CaseIterable {
        case inPlace, renamedOver, backup, vim, libreOffice, gedit, linkSwapped
    }

    @Test(
        "With every way in which editors save, the file is up to date and nothing else becomes an item",
        arguments: Follower.allCases, Saving.allCases)
    func saving(_ follower: Follower, _ way: Saving) async throws {
        let trial = try Trial(follower)
        // The target of a link is an item in Journal. In Documents the file itself is an item.
        let isLink = way == .linkSwapped && follower == .journal
        try trial.write("# Note\n\nferry", isLink ? ".versions/1.md" : "note.md")
        if isLink { symlink(".versions/1.md", trial.path("note.md")) }
        try await trial.harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(trial.bundle) == 1)
            for step in try steps(of: way, isLink, trial) {
                // Any report that the watcher may make during a save.
                try await trial.update(try trial.changes(step), engine)
                #expect(try await engine.itemCounts().values.reduce(0, +) <= 1)
                #expect(try await engine.compare(trial.bundle).isEqual)
            }
            #expect(try await trial.found("tram", engine) == ["note.md"])
            #expect(try await trial.found("ferry", engine) == [])
            #expect(try await engine.itemCounts() == [trial.bundle: 1])
        }
    }

    private func steps(of way: Saving, _ isLink: Bool, _ trial: Trial) throws -> [() throws -> Void] {
        let (old, new) = ("# Note\n\nferry", "# Note\n\ntram")
        func write(_ text: String, _ name: String) -> () throws -> Void { { try trial.write(text, name) } }
        func move(_ one: String, _ other: String) -> () throws -> Void {
            { try #require(rename(trial.path(one), trial.path(other)) == 0) }
        }
        func remove(_ name: String) -> () throws -> Void { { try #require(unlink(trial.path(name)) == 0) } }
        func link(_ target: String, _ name: String) -> () throws -> Void {
            { try #require(symlink(target, trial.path(name)) == 0) }
        }
        switch way {
        // nano, ed, echo: the file is truncated first.
        case .inPlace: return [write("", "note.md"), write("# Note", "note.md"), write(new, "note.md")]
        // VS Code with atomic saves, GLib, Emacs without links.
        case .renamedOver: return [write(new, ".note.md.tmp1a2b"), move(".note.md.tmp1a2b", "note.md")]
        // Kate, Emacs: the old text is kept under a new name.
        case .backup: return [move("note.md", "note.md~"), write(new, "note.md")]
        case .vim:
            return [
                write("b0VIM 9.1", ".note.md.swp"), write("", "4913"), remove("4913"), move("note.md", "note.md~"),
                write(new, "note.md"), remove("note.md~"), remove(".note.md.swp"),
            ]
        case .libreOffice:
            return [
                write("name,host,26.11.2026", ".~lock.note.md#"), write(new, "lu1234abcd.tmp"),
                move("lu1234abcd.tmp", "note.md"), remove(".~lock.note.md#"),
            ]
        case .gedit:
            return [
                write(new, ".goutputstream-X1Y2Z3"), write(old, "note.md~"), move(".goutputstream-X1Y2Z3", "note.md"),
            ]
        // A link that is replaced atomically by another, as version managers do.
        case .linkSwapped:
            guard isLink else { return [write(new, ".versions/2.md"), move(".versions/2.md", "note.md")] }
            return [
                write(new, ".versions/2.md"), link(".versions/2.md", ".note.md.new"), move(".note.md.new", "note.md"),
                remove(".versions/1.md"),
            ]
        }
    }
}
