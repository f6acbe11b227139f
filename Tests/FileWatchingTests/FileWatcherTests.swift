// SPDX-License-Identifier: Apache-2.0
import CSystem
import Foundation
import GRDB
import Glibc
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import FileWatching

extension FolderWatches {
    /// Returns the number of an owner's watched folders.
    fileprivate func folderCount(of owner: String, _ snapshot: FileSnapshot) -> Int {
        let folders = try? snapshot.once { db in
            try Int64.fetchAll(
                db,
                sql: """
                    SELECT folder.id FROM folder JOIN tree ON tree.id = tree JOIN owner ON owner.id = owner
                    WHERE owner.name = ? AND state = 0
                    """, arguments: [owner])
        }
        return (folders ?? []).filter { isWatched($0) }.count
    }
}

/// A watcher, and an owner that processes all reports until it knows the files on disk.
final class Watched: Sendable {
    let folder: TemporaryFolder
    let snapshot: FileSnapshot
    private let watcher: FileWatcher
    private let news: AsyncStream<FileWatcher.Status>
    private let owner = Mutex(FileOwner())
    let root: String

    /// Shorter delays than in the service.
    static let pace = WatchPace(
        failure: .milliseconds(50), polling: .milliseconds(100), first: .milliseconds(50), longest: .milliseconds(400))

    init(
        pace: WatchPace = pace,
        addWatch: @escaping FolderWatches.Add = { inotify_add_watch($0, $1, $2) }
    ) throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        root = folder.path + "/notes"
        snapshot = try FileSnapshot(
            path: folder.path + "/files.sqlite", excluding: [], conditions: .system, patience: 0.05)
        let (news, continuation) = AsyncStream.makeStream(of: FileWatcher.Status.self)
        self.news = news
        watcher = try FileWatcher(snapshot: snapshot, pace: pace, addWatch: addWatch) { continuation.yield($0) }
    }

    deinit { watcher.end() }

    func watch(_ roots: [String]) { watch(roots.map { WatchedTree(owner: FileOwner.name, root: $0) }) }
    func watch(_ trees: [WatchedTree]) { watcher.watch(trees) }
    func compareAgain() { watcher.compareAgain() }

    /// Waits for a status, and records the changes.
    func wait(until isDone: @Sendable (FileWatcher.Status) throws -> Bool) async throws {
        if try isDone(status) { return }
        for await status in news where try isDone(status) { return }
    }

    var status: FileWatcher.Status { watcher.status }
    var numbers: [String: Int] { owner.withLock { $0.numbers } }

    /// Processes the current reports. After a snapshot has been recreated, all differences are
    /// found.
    private func takeAll() throws(FileWatchingError) -> [FileChange] {
        var all: [FileChange] = []
        while true {
            let next: FileChanges?
            do throws(FileWatchingError) { next = try snapshot.next(of: FileOwner.name, limit: 100) } catch {
                if case .snapshotLost = error { continue }
                throw error
            }
            guard let next else { return all }
            owner.withLock { $0.take(next) }
            try snapshot.acknowledge(next)
            all += next.changes
        }
    }

    /// Processes reports until a condition holds. The suite's time limit ends a wait for a
    /// condition that never holds.
    @discardableResult
    func settle(until isDone: @Sendable (Watched) -> Bool) async throws -> [FileChange] {
        var all: [FileChange] = []
        if isDone(self) { return all }
        for await _ in news {
            all += try takeAll()
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

@Suite("Watching files", .timeLimit(.minutes(10)))
struct FileWatcherTests {
    @Test("Existing files and their changes are reported without a request")
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

    @Test("A file written through one of its names is changed under all names, including links in other trees")
    func namesOfOneFile() async throws {
        let place = try Watched()
        let other = place.folder.path + "/other"
        mkdir(other, 0o700)
        try place.write("one", "a")
        try place.write("apart", "c")
        place.watch([place.root, other].map { WatchedTree(owner: FileOwner.name, root: $0) })
        _ = try await place.settle { $0.files.count == 2 && $0.status.isUpToDate }
        link(place.root + "/a", place.root + "/b")
        link(place.root + "/a", other + "/hard")
        symlink(place.root + "/a", other + "/soft")
        _ = try await place.settle { $0.files.count == 5 && $0.status.isUpToDate }
        let number = open(other + "/hard", O_WRONLY | O_APPEND)
        write(number, " more", 5)
        close(number)
        let names = [place.root + "/a", place.root + "/b", other + "/hard", other + "/soft"]
        _ = try await place.settle { watched in names.allSatisfy { watched.files[$0] == "one more" } }
        #expect(place.files[place.root + "/c"] == "apart")
        // Another file replaces one of the files, and a symbolic link now leads to the new file.
        try place.write("another", "new")
        rename(place.root + "/new", place.root + "/a")
        _ = try await place.settle { $0.files[other + "/soft"] == "another" }
        #expect(place.files[other + "/hard"] == "one more")
    }

    @Test("A root that does not exist is watched once it does, and again after a deletion")
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

    @Test("A folder that leaves the tree is no longer watched")
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
        // A file that is no longer watched is reported as removed although it still exists. The
        // owner decides the consequences.
        try await place.settle { $0.files[$0.root + "/b/x"] == "one" }
        try place.write("two", "b/x")
        try await place.settle { $0.files[$0.root + "/b/x"] == "two" }
    }

    @Test("Two owners of one folder both get its changes, and the remaining one after the other is removed")
    func twoOwners() async throws {
        let place = try Watched()
        try place.write("one", "folder/a")
        let second = WatchedTree(owner: "org.example.second", root: place.root + "/folder")
        place.watch([WatchedTree(owner: FileOwner.name, root: place.root), second])
        _ = try await place.settle()
        @Sendable func owed(_ owner: String) throws -> Int { try place.snapshot.pending()[owner]?.count ?? 0 }
        #expect(try owed(second.owner) == 1)
        try place.write("two", "folder/b")
        _ = try await place.settle { $0.files.count == 2 && (try? $0.snapshot.pending()[second.owner]?.count) == 2 }
        place.watch([second])
        try place.write("three", "folder/c")
        try await place.wait { _ in try owed(second.owner) == 3 }
    }

    @Test("A second list adds trees, and earlier trees are still followed")
    func moreTrees() async throws {
        let place = try Watched()
        try place.write("one", "a/x")
        place.watch([place.root + "/a"])
        try await place.settle { $0.files.count == 1 && $0.status.isUpToDate }
        place.watch([place.root + "/a", place.root + "/b"])
        try await place.settle { $0.status.trees.count == 2 && $0.status.isUpToDate }
        try place.write("one", "b/x")
        try place.write("two", "a/y")
        _ = try await place.settle()
        #expect(place.files.count == 3)
    }

    @Test("An unwatchable folder is compared at intervals, and watched when a watch is free")
    func withoutRoom() async throws {
        let hasRoom = Mutex(false)
        let place = try Watched { descriptor, path, mask in
            guard hasRoom.withLock({ $0 }) else {
                errno = ENOSPC
                return -1
            }
            return inotify_add_watch(descriptor, path, mask)
        }
        try place.write("one", "folder/a")
        place.watch([place.root])
        _ = try await place.settle()
        let tree = WatchedTree(owner: FileOwner.name, root: place.root)
        #expect(place.status.polled == [tree: .unwatched])
        #expect((place.status.unwatchedFolders, place.status.code ?? 0) == (2, ENOSPC))
        try place.write("two", "folder/a")
        try await place.settle { $0.files.values.contains("two") }
        hasRoom.withLock { $0 = true }
        try await place.wait { $0.polled.isEmpty && $0.unwatchedFolders == 0 && $0.code == nil }
        try place.write("three", "folder/a")
        try await place.settle { $0.files.values.contains("three") }
    }

    @Test("Watches are bounded, with a share for each owner when they run out; other folders are polled")
    func shares() throws {
        let folder = try TemporaryFolder()
        let snapshot = try FileSnapshot(path: folder.path("files.sqlite"))
        for (name, count) in [("large", 60), ("small", 4), ("other", 60)] {
            for number in 0..<count {
                try FileManager.default.createDirectory(
                    atPath: folder.path("\(name)/\(number)"), withIntermediateDirectories: true)
            }
        }
        let inotify = OwnedDescriptor(adopting: inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)))
        let watches = FolderWatches(inotify, maximum: 60) { inotify_add_watch($0, $1, $2) }
        var run = WatchRun(snapshot: snapshot, watches: watches, pace: WatchPace(), isContended: { false })
        func tree(_ name: String) -> WatchedTree { WatchedTree(owner: name, root: folder.path(name)) }
        func work(_ names: [String]) -> FileWatcher.Status {
            run.setTrees(names.map(tree))
            while run.work() {}
            return run.status
        }
        // A single owner gets all watches.
        var status = work(["large"])
        #expect(
            (50...60).contains(status.watches)
                && status.unwatchedFolders == 61 - watches.folderCount(of: "large", snapshot))
        #expect(status.polled == [tree("large"): .unwatched])
        // An owner that needs few watches gets them all.
        status = work(["large", "small"])
        #expect(status.polled == [tree("large"): .unwatched] && status.code == ENOSPC)
        #expect(watches.folderCount(of: "small", snapshot) == 5)
        let before = watches.folderCount(of: "large", snapshot)
        #expect(before > 30)
        // If all owners need more than a third of the watches, each gets a third.
        status = work(["large", "small", "other"])
        #expect(status.polled == [tree("large"): .unwatched, tree("other"): .unwatched])
        #expect(watches.folderCount(of: "small", snapshot) == 5)
        #expect(watches.folderCount(of: "other", snapshot) >= 19 && watches.folderCount(of: "large", snapshot) >= 20)
        #expect(status.watches <= 60)
        // A further comparison takes no watches from an owner.
        let counts = ["large", "small", "other"].map { watches.folderCount(of: $0, snapshot) }
        run.compareAll()
        while run.work() {}
        #expect(["large", "small", "other"].map { watches.folderCount(of: $0, snapshot) } == counts)
    }

    @Test("A file system that does not respond is shown while the watcher waits for it")
    func silence() async throws {
        let isHanging = Mutex(true)
        let answers = DispatchSemaphore(value: 0)
        let folderName = Mutex("")
        let place = try Watched(
            pace: WatchPace(silence: .milliseconds(1)),
            addWatch: { descriptor, path, mask in
                let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? ""
                if target == folderName.withLock({ $0 }), isHanging.withLock({ $0 }) { answers.wait() }
                return inotify_add_watch(descriptor, path, mask)
            })
        folderName.withLock { $0 = place.root + "/server/deep" }
        try place.write("one", "a/x")
        try place.write("one", "server/deep/x")
        place.watch([place.root + "/a", place.root + "/server"])
        let server = WatchedTree(owner: FileOwner.name, root: place.root + "/server")
        while place.status.trees[server] != .silent { await Task.yield() }
        #expect(!place.status.isUpToDate)
        // The comparison of another tree does not wait for this one.
        let other = try #require(try place.snapshot.trees().first { $0.rule != server })
        try place.snapshot.compare(other)
        isHanging.withLock { $0 = false }
        answers.signal()
        _ = try await place.settle()
        #expect(place.status.trees[server] == .watched)
    }

    @Test("A tree is polled no more often than necessary, and not at all once all of it is watched")
    func polling() throws {
        let folder = try TemporaryFolder()
        let snapshot = try FileSnapshot(path: folder.path("files.sqlite"))
        mkdir(folder.path("notes"), 0o700)
        let hasRoom = Mutex(false)
        let watches = FolderWatches(OwnedDescriptor(adopting: inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)))) {
            hasRoom.withLock { $0 } ? inotify_add_watch($0, $1, $2) : -1
        }
        var run = WatchRun(
            snapshot: snapshot, watches: watches, pace: WatchPace(polling: .zero), isContended: { false })
        run.setTrees([WatchedTree(owner: FileOwner.name, root: folder.path("notes"))])
        for _ in 0..<3 {
            let start = ContinuousClock.now
            let (hasWorked, next) = (run.work(), run.nextDue)
            #expect(hasWorked)
            #expect(try #require(next) >= start)
        }
        hasRoom.withLock { $0 = true }
        for works in [true, false] {
            let (hasWorked, next, status) = (run.work(), run.nextDue, run.status)
            #expect(hasWorked == works)
            #expect(next == nil)
            #expect(status.isUpToDate)
        }
    }

    @Test(
        "Nothing is due after a root of any kind was compared",
        arguments: [
            "folder", "file", "link", "linked file", "dangling", "loop", "pipe", "none", "none/below", "file/below",
        ])
    func nothingDue(root: String) throws {
        let folder = try TemporaryFolder()
        mkdir(folder.path("folder"), 0o700)
        for name in ["file", "folder/a"] { try Data("one".utf8).write(to: URL(fileURLWithPath: folder.path(name))) }
        for (name, target) in [("link", "folder"), ("linked file", "file"), ("dangling", "nothing"), ("loop", "loop")] {
            symlink(target, folder.path(name))
        }
        mkfifo(folder.path("pipe"), 0o600)
        mkdir(folder.path("store"), 0o700)
        let snapshot = try FileSnapshot(path: folder.path("store/files.sqlite"))
        let inotify = OwnedDescriptor(adopting: inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)))
        var run = WatchRun(
            snapshot: snapshot, watches: FolderWatches(inotify) { inotify_add_watch($0, $1, $2) }, pace: WatchPace(),
            isContended: { false })
        run.setTrees([WatchedTree(owner: FileOwner.name, root: folder.path(root))])
        let (hasWorked, next, status) = (run.work(), run.nextDue, run.status)
        #expect(hasWorked && next == nil && status.isUpToDate)
        let files = ["folder", "file", "link", "linked file"].contains(root) ? 1 : 0
        #expect((status.files, status.trees.count) == (files, 1))
    }

    @Test("An edit of a file that is a root is found at any time, even just before the watch")
    func editBeforeWatch() throws {
        let folder = try TemporaryFolder()
        let list = folder.path("lists/list")
        let text = Mutex("one")
        mkdir(folder.path("lists"), 0o700)
        mkdir(folder.path("store"), 0o700)
        try Data("one".utf8).write(to: URL(fileURLWithPath: list))
        var conditions = SnapshotConditions.system
        conditions.granularity = { _ in 0 }
        let snapshot = try FileSnapshot(
            path: folder.path("store/files.sqlite"), excluding: [], conditions: conditions)
        let inotify = OwnedDescriptor(adopting: inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)))
        let watches = FolderWatches(inotify) { descriptor, path, mask in
            if path == folder.path("lists"), mask & UInt32(IN_MODIFY) != 0 {
                let longer = text.withLock { text in
                    text += "!"
                    return text
                }
                try? Data(longer.utf8).write(to: URL(fileURLWithPath: list))
            }
            return inotify_add_watch(descriptor, path, mask)
        }
        var run = WatchRun(snapshot: snapshot, watches: watches, pace: WatchPace(), isContended: { false })
        run.setTrees([WatchedTree(owner: FileOwner.name, root: list)])
        for _ in 0..<3 {
            _ = run.work()
            let size = try snapshot.once { try Int.fetchOne($0, sql: "SELECT size FROM difference") }
            // The change is already recorded, or its check is pending.
            let isNoted = try #require(size) == text.withLock { $0.utf8.count }
            let next = run.nextDue
            #expect(isNoted || next != nil)
            run.compareAll()
        }
    }

    @Test(
        "During a burst of events nothing is watched while threads wait for a processor, up to a limit")
    func bursts() throws {
        for ends in [true, false] {
            let folder = try TemporaryFolder()
            let snapshot = try FileSnapshot(path: folder.path("files.sqlite"))
            mkdir(folder.path("notes"), 0o700)
            let isContended = Mutex(true)
            let inotify = OwnedDescriptor(adopting: inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)))
            let wake = OwnedDescriptor(adopting: csystem_event_descriptor())
            var pace = WatchPace(pause: .zero, longest: ends ? .seconds(3600) : .zero)
            (pace.burst, pace.burstCheck) = (20, .zero)
            let watches = FolderWatches(inotify) { inotify_add_watch($0, $1, $2) }
            var run = WatchRun(
                snapshot: snapshot, watches: watches, pace: pace, isContended: { isContended.withLock { $0 } })
            run.setTrees([WatchedTree(owner: FileOwner.name, root: folder.path("notes"))])
            while run.work() {}
            let wasUpToDate = run.status.isUpToDate
            #expect(wasUpToDate)
            let before = watches.count
            #expect(before > 0)
            for number in 0..<50 { try Data("one".utf8).write(to: URL(filePath: folder.path("notes/\(number)"))) }
            func changes() throws -> Int {
                try snapshot.once { try Int.fetchOne($0, sql: "SELECT count(*) FROM difference") } ?? 0
            }
            if ends {
                for _ in 0..<3 {
                    run.wait(wake)
                    _ = run.work()
                    let isUpToDate = run.status.isUpToDate
                    #expect(!isUpToDate)
                    #expect(try changes() == 0 && watches.count == 0)
                    let reported = run.status.watches
                    #expect(reported == before)
                }
                isContended.withLock { $0 = false }
            }
            while try changes() < 50 || !run.status.isUpToDate {
                run.wait(wake)
                _ = run.work()
            }
            #expect(try changes() == 50 && watches.count == before)
            // Later changes are reported again.
            try Data("two".utf8).write(to: URL(filePath: folder.path("notes/later")))
            while try changes() < 51 {
                run.wait(wake)
                _ = run.work()
            }
        }
    }

    @Test("The end of a burst without relevant changes is published")
    func burstOfHiddenNames() throws {
        let folder = try TemporaryFolder()
        let snapshot = try FileSnapshot(path: folder.path("files.sqlite"))
        mkdir(folder.path("notes"), 0o700)
        let inotify = OwnedDescriptor(adopting: inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)))
        let wake = OwnedDescriptor(adopting: csystem_event_descriptor())
        var pace = WatchPace(pause: .zero, longest: .seconds(3600))
        (pace.burst, pace.burstCheck) = (20, .zero)
        let isContended = Mutex(true)
        var run = WatchRun(
            snapshot: snapshot, watches: FolderWatches(inotify) { inotify_add_watch($0, $1, $2) }, pace: pace,
            isContended: { isContended.withLock { $0 } })
        run.setTrees([WatchedTree(owner: FileOwner.name, root: folder.path("notes"))])
        while run.work() {}
        // Publishes the status if there was work, as the watcher does.
        var published = run.status.isUpToDate
        #expect(published)
        for number in 0..<50 { try Data("one".utf8).write(to: URL(filePath: folder.path("notes/.\(number)"))) }
        for _ in 0..<3 {
            run.wait(wake)
            if run.work() { published = run.status.isUpToDate }
        }
        #expect(!published)
        isContended.withLock { $0 = false }
        while !run.status.isUpToDate {
            run.wait(wake)
            if run.work() { published = run.status.isUpToDate }
        }
        #expect(published)
    }

    @Test("A caller that requests a comparison of everything does not wait for the end of a burst")
    func comparesDuringBurst() throws {
        let folder = try TemporaryFolder()
        let snapshot = try FileSnapshot(path: folder.path("files.sqlite"))
        mkdir(folder.path("notes"), 0o700)
        let inotify = OwnedDescriptor(adopting: inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)))
        let wake = OwnedDescriptor(adopting: csystem_event_descriptor())
        var pace = WatchPace(pause: .zero, longest: .seconds(3600))
        pace.burst = 20
        var run = WatchRun(
            snapshot: snapshot, watches: FolderWatches(inotify) { inotify_add_watch($0, $1, $2) }, pace: pace,
            isContended: { true })
        run.setTrees([WatchedTree(owner: FileOwner.name, root: folder.path("notes"))])
        while run.work() {}
        for number in 0..<50 { try Data("one".utf8).write(to: URL(filePath: folder.path("notes/\(number)"))) }
        run.wait(wake)
        _ = run.work()
        run.compareAll()
        _ = run.work()
        #expect(try snapshot.once { try Int.fetchOne($0, sql: "SELECT count(*) FROM difference") } == 50)
    }

    @Test("After an overflow of the kernel's event queue everything is found")
    func lostEvents() async throws {
        let calls = Mutex(0)
        let (reached, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let place = try Watched { descriptor, path, mask in
            let watch = inotify_add_watch(descriptor, path, mask)
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            // By then, all folders except the last have been read.
            if call == 4 {
                reached.signal()
                go.wait()
            }
            return watch
        }
        try place.write("one", "first/second/third/a")
        place.watch([place.root])
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                reached.wait()
                continuation.resume()
            }
        }
        for number in 0..<10_000 {
            let path = place.root + "/\(number)"
            close(open(path, O_WRONLY | O_CREAT, 0o600))
            unlink(path)
        }
        // Changes that are not reported.
        try place.write("two", "first/late")
        try place.write("two", "first/second/late")
        go.signal()
        _ = try await place.settle { $0.status.isUpToDate && $0.files == filesOnDisk($0.root) }
        #expect(place.files.count == 3)
    }

    @Test("A moved folder above the root, or a changed link on the path, is noticed")
    func wayToTheRoot() async throws {
        let place = try Watched()
        try place.write("one", "above/root/a")
        try place.write("one", "other/b")
        symlink(place.root + "/above", place.root + "/link")
        place.watch([place.root + "/link/root"])
        try await place.settle { $0.files.keys.sorted() == [$0.root + "/link/root/a"] && $0.status.isUpToDate }
        rename(place.root + "/above", place.root + "/moved")
        try await place.settle { $0.files.isEmpty }
        rename(place.root + "/moved", place.root + "/above")
        try await place.settle { $0.files.count == 1 && $0.status.isUpToDate }
        try FileManager.default.createDirectory(atPath: place.root + "/new/root", withIntermediateDirectories: true)
        try place.write("two", "new/root/c")
        symlink(place.root + "/new", place.root + "/link.new")
        rename(place.root + "/link.new", place.root + "/link")
        try await place.settle { $0.files.keys.sorted() == [$0.root + "/link/root/c"] }
    }

    @Test("Trees that cannot be stored are reported, and set when that is possible")
    func failedOrder() async throws {
        let place = try Watched()
        try place.write("one", "a")
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: place.folder.path("files.sqlite"), configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        place.watch([place.root])
        try await place.wait { status in
            status.trees.values.contains { if case .failed = $0 { true } else { false } }
        }
        #expect(!place.status.isUpToDate)
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        _ = try await place.settle()
        #expect(Array(place.status.trees.values) == [.watched])
    }

    @Test("A damaged snapshot is rebuilt, and its trees are followed")
    func damaged() async throws {
        let place = try Watched()
        for number in 0..<100 { try place.write("one", "\(number)") }
        place.watch([place.root])
        _ = try await place.settle()
        try place.snapshot.damage(place.folder.path("files.sqlite"))
        try place.write("two", "a")
        _ = try await place.settle()
        #expect(place.files.count == 101)
        try place.write("three", "a")
        _ = try await place.settle()
    }

    @Test("After random histories the owner knows the files on the disk", arguments: 0..<6)
    func randomHistories(seed: UInt64) async throws {
        // In every second history, a few events are already a burst.
        var pace = Watched.pace
        if seed % 2 == 1 { (pace.burst, pace.burstCheck) = (8, .milliseconds(20)) }
        let place = try Watched(pace: pace)
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
