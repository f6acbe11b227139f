// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import FileWatching

/// A watcher, and an owner that deals with everything it is told, until it knows what is on the disk.
private final class Watched: Sendable {
    let folder: TemporaryFolder
    let snapshot: FileSnapshot
    private let watcher: FileWatcher
    private let news: AsyncStream<FileWatcher.Status>
    private let owner = Mutex(FileOwner())
    let root: String

    init() throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        root = folder.path + "/notes"
        snapshot = try FileSnapshot(path: folder.path + "/files.sqlite")
        let (news, continuation) = AsyncStream.makeStream(of: FileWatcher.Status.self)
        self.news = news
        watcher = try FileWatcher(snapshot: snapshot) { continuation.yield($0) }
    }

    deinit { watcher.end() }

    func watch(_ roots: [String]) { watcher.watch(roots.map { WatchedTree(owner: FileOwner.name, root: $0) }) }

    var status: FileWatcher.Status { watcher.status }
    var numbers: [String: Int] { owner.withLock { $0.numbers } }

    /// Deals with what is told until a condition holds; the suite's time limit ends what never holds.
    @discardableResult
    func settle(until isDone: @Sendable (Watched) -> Bool) async throws -> [FileChange] {
        var all: [FileChange] = []
        if isDone(self) { return all }
        for await _ in news {
            while let changes = try snapshot.changes(of: FileOwner.name, limit: 100) {
                owner.withLock { $0.take(changes) }
                try snapshot.acknowledge(changes)
                all += changes.changes
            }
            if isDone(self) { break }
        }
        return all
    }

    func settle() async throws -> [FileChange] {
        try await settle { $0.status.isUpToDate && $0.files == filesOnDisk($0.root) }
    }

    var files: [String: String] { owner.withLock { $0.files } }

    func write(_ text: String, _ name: String) throws {
        let path = root + "/" + name
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
}

@Suite("Watching files", .timeLimit(.minutes(2)))
struct FileWatcherTests {
    @Test("Files that were there, and what happens to them, is told by itself")
    func simple() async throws {
        let place = try Watched()
        try place.write("one", "a")
        place.watch([place.root])
        _ = try await place.settle()
        #expect(place.files.count == 1)
        try place.write("two", "new/folder/b")
        _ = try await place.settle()
        #expect(place.files.count == 2)
        let number = place.numbers[place.root + "/a"]
        rename(place.root + "/a", place.root + "/new/folder/c")
        let moved = try await place.settle()
        #expect(moved == [.moved(from: place.root + "/a", to: place.root + "/new/folder/c")])
        #expect(place.numbers[place.root + "/new/folder/c"] == number)
        try FileManager.default.removeItem(atPath: place.root + "/new")
        _ = try await place.settle()
        #expect(place.files.isEmpty)
    }

    @Test("A root that is not there yet is watched once it is, and again after it was deleted")
    func rootsThatCome() async throws {
        let place = try Watched()
        place.watch([place.root])
        try await place.settle { $0.status.trees.values.contains(.missing) }
        try place.write("one", "a")
        _ = try await place.settle { $0.files.count == 1 }
        rename(place.root, place.root + ".away")
        _ = try await place.settle { $0.files.isEmpty }
        rename(place.root + ".away", place.root)
        try await place.settle { $0.files.count == 1 }
        try place.write("two", "b")
        try await place.settle { $0.files.count == 2 }
    }

    @Test("A root may be a file")
    func fileRoot() async throws {
        let place = try Watched()
        try place.write("one", "list")
        try place.write("one", "other")
        place.watch([place.root + "/list"])
        try await place.settle { $0.files == [$0.root + "/list": "one"] }
        try place.write("two", "list")
        try place.write("two", "other")
        try await place.settle { $0.files == [$0.root + "/list": "two"] }
        unlink(place.root + "/list")
        try await place.settle { $0.files.isEmpty }
        try place.write("three", "list")
        try await place.settle { $0.files == [$0.root + "/list": "three"] }
    }

    @Test("A folder that leaves the tree is watched no more")
    func strays() async throws {
        let place = try Watched()
        try place.write("one", "a")
        try place.write("one", "folder/deep/b")
        place.watch([place.root])
        _ = try await place.settle()
        let watches = place.status.watches
        rename(place.root + "/folder", place.folder.path + "/elsewhere")
        _ = try await place.settle()
        try await place.settle { $0.status.watches == watches - 2 }
    }

    @Test("Another list of trees replaces the first")
    func otherTrees() async throws {
        let place = try Watched()
        try place.write("one", "a/x")
        try place.write("one", "b/x")
        place.watch([place.root + "/a"])
        try await place.settle { $0.files.keys.sorted() == [$0.root + "/a/x"] }
        place.watch([place.root + "/b"])
        // What is not watched is told as removed, and is still there: what becomes of it is the owner's to say.
        try await place.settle { $0.files[$0.root + "/b/x"] == "one" }
        try place.write("two", "b/x")
        try await place.settle { $0.files[$0.root + "/b/x"] == "two" }
    }

    @Test("After random histories the owner knows what is on the disk", arguments: 0..<6)
    func randomHistories(seed: UInt64) async throws {
        let place = try Watched()
        try place.write("one", "a")
        place.watch([place.root])
        var tree = RandomTree(root: place.root, seed: seed)
        var random = SplitMix64(seed: seed)
        for _ in 0..<6 {
            for _ in 0..<Int.random(in: 1..<40, using: &random) { tree.step() }
            try place.write("\(random.next())", "mark")
            _ = try await place.settle()
        }
    }
}
