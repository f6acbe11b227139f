// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemSupport
import TestSupport
import Testing

@testable import FileWatching

/// Returns the result of a fresh listing of the files that trees watch: their content by path.
private func filesWatched(_ trees: [WatchedTree]) -> [String: String] {
    var files: [String: String] = [:]
    func isFile(_ path: String, _ type: mode_t, following: Bool) -> Bool {
        var status = stat()
        return (following ? stat(path, &status) : lstat(path, &status)) == 0 && status.st_mode & S_IFMT == type
    }
    func look(_ path: String, _ depth: Int, _ tree: WatchedTree) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
            let below = path + "/" + name
            if isFile(below, S_IFDIR, following: false) {
                if tree.admits(name, depth: depth, isFolder: true) { look(below, depth + 1, tree) }
            } else if tree.admits(name, depth: depth, isFolder: false), isFile(below, S_IFREG, following: true) {
                files[below] = try? String(contentsOfFile: below, encoding: .utf8)
            }
        }
    }
    for tree in trees {
        if isFile(tree.root, S_IFREG, following: true) {
            files[tree.root] = try? String(contentsOfFile: tree.root, encoding: .utf8)
        } else {
            look(tree.root, 0, tree)
        }
    }
    return files
}

/// An owner whose trees change.
private struct Place {
    let folder: TemporaryFolder
    var snapshot: FileSnapshot
    var trees: [WatchedTree] = []
    /// The files that the owner knows.
    var files: [String: String] = [:]
    var root: String { folder.path("notes") }

    init() throws {
        folder = try TemporaryFolder()
        mkdir(folder.path("notes"), 0o700)
        snapshot = try FileSnapshot(path: folder.path("store.sqlite"))
    }

    func tree(_ name: String = "", _ names: String...) -> WatchedTree {
        WatchedTree(owner: FileOwner.name, root: name.isEmpty ? root : root + "/" + name, names: names)
    }

    mutating func watch(_ trees: WatchedTree...) throws {
        self.trees = trees
        try snapshot.setTrees(trees)
    }

    func write(_ text: String, _ name: String) throws {
        let path = root + "/" + name
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    @discardableResult
    func compare() throws -> TreeReport {
        var report = TreeReport()
        for tree in try snapshot.trees() { report.add(try snapshot.compare(tree)) }
        return report
    }

    /// Processes the reported changes, and checks them against the disk.
    mutating func take(_ changes: FileChanges) {
        let present = filesWatched(trees)
        for change in changes.changes {
            switch change {
            case .removed(let path): #expect(present[path] == nil, "removed, and there: \(path)")
            case .moved(let old, let new):
                #expect(present[old] == nil, "moved, and there: \(old)")
                #expect(old != new)
            case .changed: break
            }
            for path in change.paths { files[path] = present[path] }
        }
    }

    /// Lets the owner process all recorded changes. Returns them.
    mutating func takeAll() throws -> [FileChange] {
        var all: [FileChange] = []
        while let changes = try snapshot.next(of: FileOwner.name, limit: 5) {
            take(changes)
            try snapshot.acknowledge(changes)
            all += changes.changes
        }
        return all
    }

    mutating func settle() throws -> [FileChange] {
        try compare()
        return try takeAll()
    }

    func path(_ name: String) -> String { root + "/" + name }
    func removed(_ names: String...) -> Set<FileChange> { Set(names.map { .removed(path: path($0)) }) }
    func changed(_ names: String...) -> Set<FileChange> { Set(names.map { .changed(path: path($0)) }) }
}

@Suite("Replaced trees")
struct TreeSuccessionTests {
    @Test("A wider list removes no file, before or after the comparison")
    func widened() throws {
        var place = try Place()
        for name in ["a/x", "a/below/y", "b"] { try place.write("one", name) }
        try place.watch(place.tree("a"))
        _ = try place.settle()
        try place.write("one", "a/new")
        try place.compare()
        try place.watch(place.tree())
        #expect(Set(try place.takeAll()) == place.changed("a/new"))
        unlink(place.path("a/x"))
        #expect(Set(try place.settle()) == place.removed("a/x").union(place.changed("b")))
        #expect(place.files == filesWatched(place.trees))
    }

    @Test("A narrower list removes only the files that nothing covers")
    func narrowed() throws {
        var place = try Place()
        for name in ["a/x", "a/below/y", "b/z", "c"] { try place.write("one", name) }
        try place.watch(place.tree())
        _ = try place.settle()
        try place.watch(place.tree("a/below"), place.tree("c"))
        #expect(Set(try place.takeAll()) == place.removed("a/x", "b/z"))
        #expect(try place.settle() == [])
        #expect(place.files == filesWatched(place.trees))
        // The list returns to its earlier state.
        try place.watch(place.tree())
        #expect(Set(try place.settle()) == place.changed("a/x", "b/z"))
        #expect(place.files == filesWatched(place.trees))
    }

    @Test("Changed patterns remove only the files that no pattern matches")
    func patterns() throws {
        var place = try Place()
        for name in ["p/a.md", "p/b.txt", "q/a.md", "p/deep/c.md", "d.md"] { try place.write("one", name) }
        try place.watch(place.tree("", "*", "*"))
        _ = try place.settle()
        #expect(place.files.count == 4)
        try place.watch(place.tree("", "*", "*.md"), place.tree("", "p", "*.txt"))
        #expect(Set(try place.takeAll()) == place.removed("p/deep/c.md"))
        #expect(try place.settle() == [])
        try place.watch(place.tree("", "*", "*.txt"), place.tree("p/deep"))
        #expect(Set(try place.settle()) == place.removed("p/a.md", "q/a.md").union(place.changed("p/deep/c.md")))
        #expect(place.files == filesWatched(place.trees))
    }

    @Test("A tree that covers a path continues after another such tree is dropped")
    func overlapping() throws {
        var place = try Place()
        for name in ["p/a.md", "p/b.txt"] { try place.write("one", name) }
        try place.watch(place.tree("", "*", "*.md"), place.tree("", "p", "*"))
        _ = try place.settle()
        unlink(place.path("p/b.txt"))
        try place.write("two", "p/a.md")
        try place.compare()
        try place.watch(place.tree("", "*", "*.md"))
        #expect(Set(try place.settle()) == place.removed("p/b.txt").union(place.changed("p/a.md")))
    }

    @Test("A file that was a root is the same file in a folder that is a root, and vice versa")
    func fileRoot() throws {
        var place = try Place()
        for name in ["list", "other"] { try place.write("one", name) }
        try place.watch(place.tree("list"))
        #expect(Set(try place.settle()) == place.changed("list"))
        try place.watch(place.tree())
        #expect(Set(try place.settle()) == place.changed("other"))
        try place.watch(place.tree("list"))
        #expect(Set(try place.settle()) == place.removed("other"))
        #expect(place.files == filesWatched(place.trees))
    }

    @Test("Hidden names that a pattern matches are watched beside a tree with the same root")
    func hidden() throws {
        var place = try Place()
        for name in ["a", ".hidden"] { try place.write("one", name) }
        try place.watch(place.tree(), place.tree("", ".*"))
        #expect(Set(try place.settle()) == place.changed("a", ".hidden"))
    }

    @Test("A list that is restored before its removals were reported removes none")
    func putBack() throws {
        var place = try Place()
        for name in ["a/x", "b"] { try place.write("one", name) }
        try place.watch(place.tree())
        _ = try place.settle()
        try place.watch()
        try place.watch(place.tree())
        #expect(try place.settle() == [])
        try place.watch()
        // The same through another tree.
        try place.watch(place.tree("a"))
        #expect(Set(try place.settle()) == place.removed("b"))
        // A file that was already reported is reported as changed when its tree is watched again.
        try place.watch()
        _ = try place.snapshot.next(of: FileOwner.name, limit: 9)
        try place.watch(place.tree())
        #expect(Set(try place.settle()) == place.changed("a/x", "b"))
        #expect(place.files == filesWatched(place.trees))
    }

    @Test("A list that is widened during a request for everything removes no file")
    func everything() throws {
        var place = try Place()
        for name in ["a/x", "a/y", "b"] { try place.write("one", name) }
        try place.watch(place.tree("a"))
        _ = try place.settle()
        let request = try place.snapshot.beginEverything(of: FileOwner.name)
        place.files = filesWatched(place.trees)
        try place.watch(place.tree())
        unlink(place.path("a/y"))
        try place.compare()
        try place.snapshot.acknowledge(request)
        #expect(Set(try place.settle()) == place.removed("a/y").union(place.changed("b")))
        #expect(place.files == filesWatched(place.trees))
    }

    @Test(
        "An unmounted disk stays so under another tree",
        arguments: [("disk/notes", "disk"), ("disk/notes", ""), ("", "disk/notes"), ("disk", "disk/notes")])
    func away(before: String, after: String) throws {
        var place = try Place()
        for name in ["disk/notes/a", "disk/notes/below/b"] { try place.write("one", name) }
        try place.watch(place.tree(before))
        _ = try place.settle()
        // Pretends that everything below had been on another disk.
        try place.snapshot.once { db in
            let place = KnownPlace(identity: "number 2a", mountPoint: place.path("disk"))
            if before.isEmpty {
                try db.execute(
                    sql: "UPDATE folder SET file_system = ? WHERE name = 'disk'", arguments: [place.identity])
            } else {
                try db.execute(
                    sql: "UPDATE tree SET file_system = ?, mount_point = ?",
                    arguments: [place.identity, place.mountPoint])
            }
        }
        rename(place.path("disk/notes"), place.folder.path("away"))
        try place.watch(place.tree(after))
        #expect(try place.compare().unavailable.count == 1)
        #expect(try place.settle() == [])
        // The folder is back, as its files show.
        rename(place.folder.path("away"), place.path("disk/notes"))
        unlink(place.path("disk/notes/below/b"))
        #expect(Set(try place.settle()) == place.removed("disk/notes/below/b"))
        #expect(place.files == filesWatched(place.trees))
    }

    @Test("After random changes of lists and files the owner knows the watched files", arguments: 0..<32)
    func randomRules(seed: UInt64) throws {
        var place = try Place()
        var tree = RandomTree(root: place.root, seed: seed)
        var random = SplitMix64(seed: seed &+ 4000)
        let roots = ["", "", "a", "b", "a/b", "a/c", "note.md", "c/a"]
        let patterns: [[String]] = [
            [], [], [], ["*"], ["a", "*"], ["*", "*"], ["*", "b"], ["*.md"], ["[ab]"], [".*"], ["*", "*", "a"],
        ]
        func rules() -> [WatchedTree] {
            (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                var tree = place.tree(roots.randomElement(using: &random) ?? "")
                tree.names = patterns.randomElement(using: &random) ?? []
                return tree
            }
        }
        for _ in 0..<40 {
            for _ in 0..<Int.random(in: 0..<10, using: &random) { tree.step() }
            var request: EverythingRequest?
            if Int.random(in: 0..<8, using: &random) == 0 {
                try place.compare()
                request = try place.snapshot.beginEverything(of: FileOwner.name)
                place.files.merge(filesWatched(place.trees)) { $1 }
                for _ in 0..<Int.random(in: 0..<4, using: &random) { tree.step() }
                try place.compare()
            }
            if Int.random(in: 0..<3, using: &random) == 0 {
                place.trees = rules()
                try place.snapshot.setTrees(place.trees)
            }
            try place.compare()
            if let request { try place.snapshot.acknowledge(request) }
            while let changes = try place.snapshot.next(of: FileOwner.name, limit: 3) {
                // The process is killed before its request, before its answer, or not at all.
                let fate = Int.random(in: 0..<8, using: &random)
                if fate != 0 { place.take(changes) }
                if fate > 1 {
                    try place.snapshot.acknowledge(changes)
                } else {
                    place.snapshot = try FileSnapshot(path: place.folder.path("store.sqlite"))
                    break
                }
            }
        }
        _ = try place.settle()
        let present = filesWatched(place.trees)
        let wrong = Set(place.files.keys).union(present.keys).filter { place.files[$0] != present[$0] }
        #expect(wrong == [], "\(place.trees)")
    }
}
