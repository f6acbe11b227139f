// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Foundation
import GRDB
import Glibc
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import FileWatching

/// A tree on disk, its snapshot and its owner.
private struct Place {
    let folder: TemporaryFolder
    var snapshot: FileSnapshot
    var owner = FileOwner()
    var root: String { folder.path + "/notes" }

    init() throws {
        folder = try TemporaryFolder()
        mkdir(folder.path + "/notes", 0o700)
        snapshot = try FileSnapshot(path: folder.path + "/files.sqlite")
        try snapshot.setTrees([WatchedTree(owner: FileOwner.name, root: root)])
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

    /// Compares all trees, and returns the changes that the owner processed.
    mutating func settle() throws -> [FileChange] {
        try compare()
        var all: [FileChange] = []
        while let changes = try snapshot.next(of: FileOwner.name, limit: 7) {
            owner.take(changes)
            try snapshot.acknowledge(changes)
            all += changes.changes
        }
        return all
    }

    func path(_ name: String) -> String { root + "/" + name }
}

extension FileSnapshot {
    /// Waits until a comparison, which does not finish, reaches its time limit.
    fileprivate func waitForTime() async throws {
        let (waiting, over) = AsyncStream.makeStream(of: Void.self)
        let comparison = Thread { [self] in
            _ = try? gather { () throws(FileWatchingError) in
                over.yield()
                while !Thread.current.isCancelled { sched_yield() }
            }
        }
        comparison.start()
        for await _ in waiting { break }
        await waitForComparisons(atMost: .milliseconds(1))
        comparison.cancel()
    }

    /// Overwrites pages of the file behind SQLite's back.
    func damage(_ path: String) throws {
        try DatabaseQueue(path: path).writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        let garbage = [UInt8](repeating: 0xA5, count: 4096)
        for page in 1..<40 { pwrite(file, garbage, garbage.count, off_t(page * 4096)) }
        try once { try $0.execute(sql: "PRAGMA shrink_memory") }
    }

    /// Pretends that all roots had been on another disk.
    func pretend(_ place: KnownPlace) throws(FileWatchingError) {
        try once {
            try $0.execute(
                sql: "UPDATE tree SET file_system = ?, mount_point = ?", arguments: [place.identity, place.mountPoint])
        }
    }
}

@Suite("A snapshot of files")
struct FileSnapshotTests {
    @Test("New, changed and removed files are reported once")
    func simple() throws {
        var place = try Place()
        #expect(try place.settle() == [])
        try place.write("one", "a")
        try place.write("two", "deep/er/b")
        #expect(Set(try place.settle()) == [.changed(path: place.path("a")), .changed(path: place.path("deep/er/b"))])
        #expect(try place.settle() == [])
        try place.write("other", "a")
        #expect(try place.settle() == [.changed(path: place.path("a"))])
        unlink(place.path("deep/er/b"))
        #expect(try place.settle() == [.removed(path: place.path("deep/er/b"))])
        #expect(try place.settle() == [])
        #expect(try place.snapshot.pending() == [:])
    }

    @Test("A moved file is reported as moved, even if its folder moved, edited or not")
    func moves() throws {
        var place = try Place()
        try place.write("one", "a")
        try place.write("two", "folder/b")
        try place.write("three", "folder/below/c")
        _ = try place.settle()
        rename(place.path("a"), place.path("folder/a2"))
        #expect(try place.settle() == [.moved(from: place.path("a"), to: place.path("folder/a2"))])
        rename(place.path("folder"), place.path("elsewhere"))
        try place.write("two, edited", "elsewhere/below/c")
        let moves = Set(try place.settle())
        #expect(
            moves.isSuperset(of: [
                .moved(from: place.path("folder/a2"), to: place.path("elsewhere/a2")),
                .moved(from: place.path("folder/b"), to: place.path("elsewhere/b")),
            ]))
        #expect(moves.allSatisfy { $0.paths.contains { $0.hasPrefix(place.path("elsewhere")) } || moves.count == 4 })
        #expect(place.owner.files == filesOnDisk(place.root))
    }

    @Test("A reused inode number is not a move")
    func reusedNumber() throws {
        var place = try Place()
        try place.write("one", "a")
        _ = try place.settle()
        unlink(place.path("a"))
        try place.write("quite another text", "b")
        #expect(Set(try place.settle()) == [.removed(path: place.path("a")), .changed(path: place.path("b"))])
    }

    @Test("Saving by a new file, with a copy or in place is reported as a change")
    func savings() throws {
        var place = try Place()
        try place.write("one", "a")
        _ = try place.settle()
        try place.write("two", "a.tmp")
        rename(place.path("a.tmp"), place.path("a"))
        #expect(try place.settle() == [.changed(path: place.path("a"))])
        rename(place.path("a"), place.path("a~"))
        try place.write("three", "a")
        #expect(
            Set(try place.settle()) == [.changed(path: place.path("a")), .changed(path: place.path("a~"))])
        unlink(place.path("a~"))
        #expect(try place.settle() == [.removed(path: place.path("a~"))])
        #expect(place.owner.files == ["\(place.path("a"))": "three"])
    }

    @Test("Hidden names, folders behind links and special files are not reported")
    func notWatched() throws {
        var place = try Place()
        try place.write("one", ".hidden")
        try place.write("one", ".folder/a")
        try place.write("one", "real/a")
        symlink(place.path("real"), place.path("link"))
        symlink(place.path("nothing"), place.path("dangling"))
        symlink(place.path("loop"), place.path("loop"))
        mkfifo(place.path("pipe"), 0o600)
        symlink(place.path("real/a"), place.path("linked"))
        #expect(
            Set(try place.settle()) == [.changed(path: place.path("real/a")), .changed(path: place.path("linked"))])
    }

    @Test("A name that is not text is skipped")
    func noText() throws {
        var place = try Place()
        let bytes: [CChar] = place.path("").utf8.map { CChar(bitPattern: $0) } + [CChar(bitPattern: 0xFF), 0]
        close(open(bytes, O_CREAT | O_WRONLY, 0o600))
        #expect(try place.settle() == [])
    }

    @Test("Unacknowledged changes are reported again, together with newer ones")
    func unacknowledged() throws {
        var place = try Place()
        try place.write("one", "a")
        try place.compare()
        let first = try #require(try place.snapshot.next(of: FileOwner.name, limit: 10))
        place.snapshot = try FileSnapshot(path: place.folder.path + "/files.sqlite")
        let second = try #require(try place.snapshot.next(of: FileOwner.name, limit: 10))
        #expect(first.changes == second.changes)
        try place.write("two and more", "a")
        try place.compare()
        try place.snapshot.acknowledge(second)
        #expect(try place.settle() == [.changed(path: place.path("a"))])
    }

    @Test("A reported change that is undone before the answer is reported too")
    func undone() throws {
        var place = try Place()
        try place.write("one", "a")
        try place.compare()
        _ = try #require(try place.snapshot.next(of: FileOwner.name, limit: 10))
        unlink(place.path("a"))
        try place.compare()
        try place.write("two", "a")
        try place.compare()
        unlink(place.path("a"))
        #expect(try place.settle() == [.removed(path: place.path("a"))])
        #expect(try place.settle() == [])
    }

    @Test("An owner that was asked for everything knows the files that existed before and still exist")
    func everything() throws {
        var place = try Place()
        try place.write("one", "a")
        try place.compare()
        let request = try place.snapshot.beginEverything(of: FileOwner.name)
        try place.write("one", "b")
        try place.compare()
        try place.snapshot.acknowledge(request)
        #expect(try place.settle() == [.changed(path: place.path("b"))])
    }

    @Test(
        "Files deleted during a request for everything are removed, even after a kill",
        arguments: [false, true])
    func everythingAndGone(isKilled: Bool) throws {
        var place = try Place()
        try place.write("one", "known")
        _ = try place.settle()
        try place.write("one", "noticed before")
        try place.compare()
        let old = try place.snapshot.beginEverything(of: FileOwner.name)
        let request = try place.snapshot.beginEverything(of: FileOwner.name)
        try place.snapshot.acknowledge(old)
        try place.write("one", "came")
        try place.write("one", "stays")
        try place.compare()
        if isKilled { place.snapshot = try FileSnapshot(path: place.folder.path + "/files.sqlite") }
        for name in ["known", "noticed before", "came"] { unlink(place.path(name)) }
        try place.compare()
        try place.snapshot.acknowledge(request)
        #expect(
            Set(try place.settle()) == [
                .removed(path: place.path("known")), .removed(path: place.path("noticed before")),
                .removed(path: place.path("came")), .changed(path: place.path("stays")),
            ])
        try place.write("two", "after")
        try place.compare()
        unlink(place.path("after"))
        #expect(try place.settle() == [])
    }

    @Test("The folder of the snapshot and other named folders are skipped below a root")
    func excluded() throws {
        let folder = try TemporaryFolder()
        for name in ["store", "index", "notes"] {
            mkdir(folder.path(name), 0o700)
            try Data("one".utf8).write(to: URL(fileURLWithPath: folder.path(name) + "/a"))
        }
        let snapshot = try FileSnapshot(
            path: folder.path("store/files.sqlite"), excluding: [folder.path("index"), folder.path("none")])
        try snapshot.setTrees([WatchedTree(owner: FileOwner.name, root: folder.path)])
        for tree in try snapshot.trees() { try snapshot.compare(tree) }
        let changes = try snapshot.next(of: FileOwner.name, limit: 10)
        #expect(changes?.changes == [.changed(path: folder.path("notes/a"))])
    }

    @Test("A file that was created and deleted, or is unchanged, is not reported")
    func cameAndWent() throws {
        var place = try Place()
        try place.write("one", "a")
        _ = try place.settle()
        rename(place.path("a"), place.path("b"))
        try place.compare()
        rename(place.path("b"), place.path("a"))
        try place.write("two", "c")
        try place.compare()
        unlink(place.path("c"))
        // The change time of the file differs, so the file is checked again. Nothing is reported
        // about the others.
        #expect(try place.settle().allSatisfy { $0 == .changed(path: place.path("a")) })
    }

    @Test("A deleted root removes its files; an unmounted one keeps them")
    func roots() throws {
        var place = try Place()
        try place.write("one", "a")
        _ = try place.settle()
        let known = try #require(try place.snapshot.trees().first?.place)
        // Pretends that the tree had been on another disk, which left an empty folder or a folder
        // with other content.
        try place.snapshot.pretend(KnownPlace(identity: "number 2a", mountPoint: place.root))
        rename(place.path("a"), place.folder.path("a"))
        #expect(try place.compare().unavailable == [place.root])
        #expect(try place.settle() == [])
        try place.write("stray", "b")
        #expect(try place.compare().unavailable == [place.root])
        rename(place.root, place.root + ".away")
        #expect(try place.compare().unavailable == [place.root])
        #expect(try place.settle() == [])
        rename(place.root + ".away", place.root)
        // The tree's files were copied there.
        rename(place.folder.path("a"), place.path("a"))
        #expect(Set(try place.settle()).isSuperset(of: [.changed(path: place.path("b"))]))
        #expect(try place.snapshot.trees().first?.place == known)
        try FileManager.default.removeItem(atPath: place.root)
        #expect(Set(try place.settle()) == [.removed(path: place.path("a")), .removed(path: place.path("b"))])
        try place.write("again", "a")
        #expect(try place.settle() == [.changed(path: place.path("a"))])
    }

    @Test("Another disk replaces the known files if it is not empty")
    func anotherDisk() throws {
        var place = try Place()
        try place.write("one", "a")
        _ = try place.settle()
        let known = try #require(try place.snapshot.trees().first?.place)
        try place.snapshot.pretend(KnownPlace(identity: "number 2a", mountPoint: known.mountPoint))
        unlink(place.path("a"))
        #expect(try place.compare().unavailable == [place.root])
        #expect(try place.settle() == [])
        try place.write("two", "b")
        #expect(Set(try place.settle()) == [.removed(path: place.path("a")), .changed(path: place.path("b"))])
    }

    @Test("Two names with the same letters in two normal forms are two files")
    func normalForms() throws {
        var place = try Place()
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        #expect(composed == decomposed)
        for name in [composed, decomposed] {
            try place.write(name, name + ".md")
            try place.write(name, name + "/in")
        }
        #expect(try place.settle().count == 4)
        try place.write("other", decomposed + ".md")
        let changed = try place.settle().flatMap(\.paths)
        #expect(changed.map { Array($0.utf8) } == [Array(place.path(decomposed + ".md").utf8)])
        unlink(place.path(composed + ".md"))
        let removed = try place.settle().flatMap(\.paths)
        #expect(removed.map { Array($0.utf8) } == [Array(place.path(composed + ".md").utf8)])
        try FileManager.default.removeItem(atPath: place.path(decomposed))
        #expect(try place.settle().count == 1)
        let trees = [composed, decomposed].map { WatchedTree(owner: FileOwner.name, root: place.path($0)) }
        try place.snapshot.setTrees(trees)
        #expect(try place.snapshot.trees().count == 2)
    }

    @Test("A link to an unmounted disk keeps its file; a link to a deleted target does not")
    func danglingLinks() throws {
        var place = try Place()
        try Data("one".utf8).write(to: URL(fileURLWithPath: place.folder.path("target")))
        try Data("one".utf8).write(to: URL(fileURLWithPath: place.folder.path("deleted")))
        symlink(place.folder.path("target"), place.path("link"))
        symlink(place.folder.path("deleted"), place.path("other"))
        _ = try place.settle()
        // Pretends that the target had been on another disk.
        try place.snapshot.once {
            try $0.execute(sql: "UPDATE file SET file_system = 42 WHERE name = 'link'")
            try $0.execute(sql: "UPDATE folder SET digest = NULL")
        }
        unlink(place.folder.path("target"))
        unlink(place.folder.path("deleted"))
        #expect(try place.settle() == [.removed(path: place.path("other"))])
    }

    @Test("A file that changed during a check is checked again")
    func unsettled() throws {
        let folder = try TemporaryFolder()
        mkdir(folder.path("notes"), 0o700)
        let path = folder.path("notes/a")
        try Data("one".utf8).write(to: URL(fileURLWithPath: path))
        let now = Mutex<Int64>(0)
        var conditions = SnapshotConditions.system
        conditions.granularity = { _ in 2_000_000_000 }
        conditions.now = { now.withLock { $0 } }
        var status = stat()
        stat(path, &status)
        let changed = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
        now.withLock { $0 = changed + 1 }
        let snapshot = try FileSnapshot(path: folder.path("files.sqlite"), excluding: [], conditions: conditions)
        try snapshot.setTrees([WatchedTree(owner: FileOwner.name, root: folder.path("notes"))])
        let tree = try #require(try snapshot.trees().first)
        func settle() throws -> [FileChange] {
            try snapshot.compare(tree)
            guard let changes = try snapshot.next(of: FileOwner.name, limit: 9) else { return [] }
            try snapshot.acknowledge(changes)
            return changes.changes
        }
        #expect(try settle() == [.changed(path: path)])
        #expect(try settle() == [])
        #expect(try snapshot.compare(tree).unsettled.values.map { $0 } == [["a"]])
        now.withLock { $0 = changed + 3_000_000_000 }
        #expect(try settle() == [.changed(path: path)])
        #expect(try settle() == [])
    }

    @Test(
        "Unreadable files are not removed", .enabled(if: getuid() == 0, "acts as another user, which only root can"))
    func unreadable() throws {
        var place = try Place()
        try place.write("one", "folder/a")
        try place.write("one", "folder/below/b")
        try place.write("one", "c")
        _ = try place.settle()
        for name in ["", "notes", "notes/folder", "notes/c"] { chown(place.folder.path(name), 4242, 4242) }
        _ = try place.settle()
        chmod(place.path("folder"), 0)
        let report = try acting(as: 4242) { try place.compare() }
        #expect(report.unavailable == [place.path("folder")])
        #expect(try place.settle() == [])
        // The same applies to the folder that contains it, when an event reports the folder.
        let folder = try place.snapshot.presentFolders().sorted()[1]
        let named = try acting(as: 4242) { try place.snapshot.compare(nil, of: folder, observer: nil) }
        #expect(named.unavailable == [place.path("folder")])
        chmod(place.path("folder"), 0o700)
        #expect(try place.settle() == [])
    }

    @Test(
        "A report notes that there are more unreadable folders than it lists",
        .enabled(if: getuid() == 0, "acts as another user, which only root can"))
    func manyUnreadable() throws {
        var place = try Place()
        let names = (0...TreeReport.shownUnavailable).map { "folder\($0)" }
        for name in names { try place.write("one", name + "/a") }
        _ = try place.settle()
        for name in ["", "notes"] + names.map({ "notes/" + $0 }) { chown(place.folder.path(name), 4242, 4242) }
        _ = try place.settle()
        for name in names { chmod(place.path(name), 0) }
        var report = try acting(as: 4242) { try place.compare() }
        #expect(report.unavailable.count == names.count && !report.hasMoreUnavailable)
        #expect(TreeReport.shown(report.unavailable).last == "…")
        for name in names { chmod(place.path(name), 0o700) }
        for number in 0..<TreeReport.maximumUnavailable { report.noteUnavailable("/\(number)") }
        #expect(report.unavailable.count == TreeReport.maximumUnavailable && report.hasMoreUnavailable)
    }

    /// Runs a closure with a user's file access rights, on this thread.
    private func acting<Value>(as user: UInt32, _ body: () throws -> Value) throws -> Value {
        let own = ctestsupport_act_on_files_as(user)
        defer { _ = ctestsupport_act_on_files_as(UInt32(own)) }
        return try body()
    }

    @Test("Files beyond the limit of entries are not removed, and the folder is reported")
    func limitOfEntries() throws {
        var place = try Place()
        for number in 0..<20 { try place.write("one", "folder\(number % 4)/\(number)") }
        _ = try place.settle()
        var conditions = SnapshotConditions.system
        conditions.maximumEntries = 9
        place.snapshot = try FileSnapshot(
            path: place.folder.path("files.sqlite"), excluding: [], conditions: conditions)
        #expect(try !place.compare().beyondLimits.isEmpty)
        #expect(try place.settle() == [])
        for number in 0..<4 { try place.write("one", "other\(number)") }
        #expect(try place.settle().allSatisfy { if case .changed = $0 { true } else { false } })
    }

    @Test("In a folder with complete events, only new and unknown folders are walked")
    func knownFolders() throws {
        let place = try Place()
        for name in ["a", "b", "c"] { try place.write("one", "\(name)/below/file") }
        let observer = Recorder()
        let tree = try #require(try place.snapshot.trees().first)
        _ = try place.snapshot.compare(tree, observer: observer)
        let root = try #require(observer.noted.first)
        #expect(observer.noted.count == 7)
        for names: Set<EntryName>? in [nil, ["a", "b", "c"]] {
            #expect(try place.snapshot.compare(names, of: root, observer: observer).folders == 0)
        }
        try place.write("two", "new/below/file")
        rename(place.path("b"), place.folder.path("b"))
        try place.write("one", "b/file")
        #expect(try place.snapshot.compare(nil, of: root, observer: observer).folders == 3)
        observer.watched = []
        #expect(try place.snapshot.compare(["a"], of: root, observer: observer).folders == 2)
    }

    @Test(
        "A file that appeared and vanished during a request for everything is removed, if an event reported it"
    )
    func unnoticed() throws {
        var place = try Place()
        let observer = Recorder()
        _ = try place.snapshot.compare(try #require(try place.snapshot.trees().first), observer: observer)
        let root = try #require(observer.noted.first)
        let request = try place.snapshot.beginEverything(of: FileOwner.name)
        _ = try place.snapshot.compare(["gone", ".hidden"], of: root, observer: observer)
        try place.snapshot.acknowledge(request)
        #expect(try place.settle() == [.removed(path: place.path("gone"))])
        _ = try place.snapshot.compare(["gone"], of: root, observer: observer)
        #expect(try place.settle() == [])
    }

    @Test(
        "A missing file counts as removed on the same file system only",
        arguments: [
            ("a", "/", DiskJudgement.same), ("a", "/disk/below", .same), ("b", "/disk", .other),
            ("b", "/disk/below", .other),
            ("b", "/", .away), ("b", "/other", .away),
        ])
    func judgements(identity: String, mountPoint: String, expected: DiskJudgement) {
        let known = KnownPlace(identity: "a", mountPoint: identity == "a" ? "/" : "/disk")
        #expect(DiskJudgement(FileSystemPlace(identity: identity, mountPoint: mountPoint), known: known) == expected)
        // An absent bind mount.
        let bound = KnownPlace(identity: "a", mountPoint: "/bound")
        #expect(DiskJudgement(FileSystemPlace(identity: "a", mountPoint: "/"), known: bound) == .other)
    }

    @Test("A snapshot that is damaged during its use is rebuilt")
    func damagedInUse() throws {
        var place = try Place()
        for number in 0..<200 { try place.write("one", "\(number)") }
        _ = try place.settle()
        try place.snapshot.damage(place.folder.path("files.sqlite"))
        #expect(throws: FileWatchingError.snapshotLost(path: place.folder.path("files.sqlite"))) {
            try place.compare()
        }
        #expect(try place.settle().count == 200)
        #expect(place.owner.files == filesOnDisk(place.root))
    }

    @Test("The file is readable for the user alone from the start")
    func rights() throws {
        let place = try Place()
        try place.compare()
        for name in ["files.sqlite", "files.sqlite-wal"] {
            var status = stat()
            #expect(stat(place.folder.path(name), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
    }

    @Test("A snapshot locked by another process is waited for, and then reported")
    func locked() throws {
        let place = try Place()
        let path = place.folder.path("files.sqlite")
        let other = try FileSnapshot(path: path, excluding: [], conditions: .system, patience: 0.05)
        _ = try place.snapshot.once { _ in
            #expect { try other.pending() } throws: { error in
                if case FileWatchingError.snapshot = error { true } else { false }
            }
        }
        #expect(try other.pending() == [:])
    }

    @Test("Changes that may be parts of moves are reported after all are compared")
    func gathered() throws {
        var place = try Place()
        try place.write("one", "a")
        try place.write("one", "changed")
        _ = try place.settle()
        let tree = try #require(try place.snapshot.trees().first)
        rename(place.path("a"), place.path("b"))
        try place.write("two", "changed")
        let before = try place.snapshot.gather { () throws(FileWatchingError) in
            try place.snapshot.compare(tree)
            return try place.snapshot.next(of: FileOwner.name, limit: 9)?.changes
        }
        #expect(before == [.changed(path: place.path("changed"))])
        #expect(try place.settle().contains(.moved(from: place.path("a"), to: place.path("b"))))
    }

    @Test("An owner with changes that wait for a comparison has pending changes, and can wait for its end")
    func withheld() async throws {
        var place = try Place()
        try place.write("one", "a")
        _ = try place.settle()
        func next() throws(FileWatchingError) -> NextChanges {
            try place.snapshot.changes(of: FileOwner.name, limit: 9)
        }
        guard case .nothing = try next() else { return #expect(Bool(false), "it knows all") }
        let tree = try #require(try place.snapshot.trees().first)
        rename(place.path("a"), place.path("b"))
        let waits: Task<Void, Never> = try place.snapshot.gather { () throws(FileWatchingError) in
            guard case .nothing = try next() else { fatalError("nothing is noted yet") }
            try place.snapshot.compare(tree)
            guard case .withheld = try next() else { fatalError("it waits for its counterpart") }
            return Task { [snapshot = place.snapshot] in await snapshot.waitForComparisons(atMost: .seconds(3600)) }
        }
        await waits.value
        guard case .changes = try next() else { return #expect(Bool(false), "the comparison is over") }
        try await place.snapshot.waitForTime()
    }

    @Test("A file on another file system is not the target of a move")
    func sameNumberElsewhere() throws {
        let state = FileState(fileSystem: 1, inode: 7, born: 3, size: 1, modified: 1, changed: 1)
        var other = state
        #expect(state.isOfSameFile(as: other))
        other.fileSystem = 2
        #expect(!state.isOfSameFile(as: other))
        // File systems without stable inode numbers.
        (other.fileSystem, other.inode) = (1, 0)
        #expect(!other.isOfSameFile(as: other))
    }

    @Test("A root may be a file, a link, or become one")
    func fileRoot() throws {
        var place = try Place()
        let file = place.path("list")
        try place.snapshot.setTrees([WatchedTree(owner: FileOwner.name, root: file)])
        #expect(try place.settle() == [])
        try place.write("one", "list")
        try place.write("one", "other")
        #expect(try place.settle() == [.changed(path: file)])
        unlink(file)
        try place.write("two", "list/in")
        #expect(Set(try place.settle()) == [.removed(path: file), .changed(path: file + "/in")])
        try FileManager.default.removeItem(atPath: file)
        try place.write("three", "list")
        #expect(Set(try place.settle()) == [.removed(path: file + "/in"), .changed(path: file)])
    }

    @Test("A folder replaced by a dangling link is removed, even if only that name is checked")
    func folderBecomesLink() throws {
        var place = try Place()
        let observer = Recorder()
        for name in ["folder/a", "folder/below/b", "other/c"] { try place.write("one", name) }
        _ = try place.settle()
        _ = try place.snapshot.compare(try #require(try place.snapshot.trees().first), observer: observer)
        let root = try #require(observer.noted.first)
        for name in ["folder", "other"] {
            try FileManager.default.removeItem(atPath: place.path(name))
            symlink("nothing", place.path(name))
        }
        _ = try place.snapshot.compare(["folder"], of: root, observer: observer)
        let changes = try #require(try place.snapshot.next(of: FileOwner.name, limit: 9))
        let removed = ["folder/a", "folder/below/b"].map { FileChange.removed(path: place.path($0)) }
        #expect(Set(changes.changes) == Set(removed))
        try place.snapshot.acknowledge(changes)
        #expect(try place.settle() == [.removed(path: place.path("other/c"))])
    }

    @Test("Patterns select the watched names below a root")
    func patterns() throws {
        var place = try Place()
        try place.snapshot.setTrees([
            WatchedTree(owner: FileOwner.name, root: place.root, names: ["*", "places.sqlite*"])
        ])
        try place.write("one", "profile/places.sqlite")
        try place.write("one", "profile/places.sqlite-wal")
        try place.write("one", "profile/cookies.sqlite")
        try place.write("one", "profile/deep/places.sqlite")
        try place.write("one", "places.sqlite")
        #expect(
            Set(try place.settle()) == [
                .changed(path: place.path("profile/places.sqlite")),
                .changed(path: place.path("profile/places.sqlite-wal")),
            ])
    }

    @Test("Files of a tree that is no longer watched are removed")
    func droppedTree() throws {
        var place = try Place()
        try place.write("one", "a")
        _ = try place.settle()
        try place.snapshot.setTrees([])
        #expect(try place.snapshot.next(of: FileOwner.name, limit: 10)?.changes == [.removed(path: place.path("a"))])
    }

    @Test("An unreadable snapshot is rebuilt")
    func damaged() throws {
        let place = try Place()
        let path = place.folder.path + "/other.sqlite"
        try Data("no database at all, of some length".utf8).write(to: URL(fileURLWithPath: path))
        let snapshot = try FileSnapshot(path: path)
        #expect(try snapshot.trees() == [])
    }

    @Test("After random histories with kills the owner knows the files on the disk", arguments: 0..<24)
    func randomHistories(seed: UInt64) throws {
        var place = try Place()
        var tree = RandomTree(root: place.root, seed: seed)
        var random = SplitMix64(seed: seed &+ 1000)
        for _ in 0..<40 {
            for _ in 0..<Int.random(in: 0..<12, using: &random) { tree.step() }
            try place.compare()
            while let changes = try place.snapshot.next(of: FileOwner.name, limit: 3) {
                // The process is killed before its request, before its answer, or not at all.
                switch Int.random(in: 0..<6, using: &random) {
                case 0: place.snapshot = try FileSnapshot(path: place.folder.path + "/files.sqlite")
                case 1:
                    place.owner.take(changes)
                    place.snapshot = try FileSnapshot(path: place.folder.path + "/files.sqlite")
                default:
                    place.owner.take(changes)
                    try place.snapshot.acknowledge(changes)
                    continue
                }
                break
            }
        }
        _ = try place.settle()
        #expect(place.owner.files == filesOnDisk(place.root))
    }
}

/// Records reports, and answers that all folders are watched.
private final class Recorder: FolderObserver {
    var noted: [Int64] = []
    var watched: Set<Int64> = []
    func willRead(_ folder: OwnedDescriptor, _ number: FolderNumber) -> Int32? { 1 }
    func didNote(_ watch: Int32?, _ folder: Int64?, _ number: FolderNumber) {
        guard let folder else { return }
        noted.append(folder)
        watched.insert(folder)
    }
    func isWatched(_ folder: Int64) -> Bool { watched.contains(folder) }
}
