// SPDX-License-Identifier: Apache-2.0
import FileWatching
import Foundation
import Glibc
import TestSupport
import Testing

@testable import SearchlightEngine

/// Items from files on an absent disk: an empty mount point does not prove that the files were
/// deleted.
@Suite("Unmounted disks", .timeLimit(.minutes(5)))
struct AwayDiskTests {
    @Test(
        "Reindexes while a disk is unmounted, in a namespace of their own",
        .enabled(if: MountNamespace.isAllowed, "mounts, which this machine forbids"))
    func namespace() throws {
        let (ending, output) = try MountNamespace.run("ReindexInNamespaceTests")
        #expect(ending == .exited(0) && output.contains("Test run with 1 test"), "\(output)")
    }
}

@Suite("Unmounted disks, in a namespace", .enabled(if: MountNamespace.isEntered), .timeLimit(.minutes(4)))
struct ReindexInNamespaceTests {
    private let harness: Harness
    private let notes: String
    private let storage: String

    init() throws {
        harness = try Harness()
        (notes, storage) = (harness.folder + "/notes", harness.folder + "/storage")
        for path in [notes, storage, harness.folder + "/near"] { mkdir(path, 0o700) }
    }

    private func mount() throws {
        #expect(try ChildProcess.run("/usr/bin/mount", ["--bind", storage, notes]).ending == .exited(0))
    }

    private func unmount() throws {
        #expect(try ChildProcess.run("/usr/bin/umount", [notes]).ending == .exited(0))
    }

    private func write(_ text: String, _ path: String) throws {
        try Data("# Note\n\n\(text)\n".utf8).write(to: URL(filePath: path))
    }

    private func found(_ text: String, _ engine: SearchlightEngine) async throws -> [String] {
        try await engine.search(text, bundle: nil, limit: 10).hits
            .map { URL(filePath: $0.item.record.uniqueIdentifier).lastPathComponent }.sorted()
    }

    @Test("A reindex while a disk is unmounted keeps its items and removes others, and all are found after mounting")
    func everything() async throws {
        let bundle = try harness.installJournal(notes: notes + "\n" + harness.folder + "/near")
        try mount()
        for name in ["a", "b", "c"] { try write("ferry", storage + "/\(name).md") }
        for name in ["d", "e"] { try write("ferry", harness.folder + "/near/\(name).md") }
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 5)
            try unmount()
            unlink(harness.folder + "/near/e.md")
            #expect(try await engine.reindexAll(bundle) == 4)
            #expect(try await found("ferry", engine) == ["a.md", "b.md", "c.md", "d.md"])
            // If a preview finds one of these items missing, it causes no request for the item.
            let item = try await engine.item(named: notes + "/a.md")
            try engine.owe(.reindexItems([item.record.uniqueIdentifier]), of: bundle, cause: .foundGone)
            #expect(try await engine.run(.reindex(bundle: bundle)) == 4)
            let update = try #require(try await engine.update(bundle).first)
            #expect((update.changed, update.removed) == (0, 1) && update.unavailable == [notes], "\(update)")
            #expect(try await found("ferry", engine) == ["a.md", "b.md", "c.md", "d.md"])
            try mount()
            try write("tram", storage + "/a.md")
            unlink(storage + "/b.md")
            let back = try #require(try await engine.update(bundle).first)
            #expect((back.changed, back.removed) == (1, 1) && back.unavailable.isEmpty, "\(back)")
            #expect(try await found("ferry", engine) == ["c.md", "d.md"])
            #expect(try await found("tram", engine) == ["a.md"])
            try unmount()
        }
    }
}
