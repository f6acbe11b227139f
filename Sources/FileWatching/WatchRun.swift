// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import SystemSupport

/// What the thread of a ``FileWatcher`` has and does.
struct WatchRun: ~Copyable {
    private let snapshot: FileSnapshot
    private var watches: FolderWatches
    private var settling = SettlingPaths()
    private var trees: [Int64: StoredTree] = [:]
    /// Trees that are to be compared as a whole, and when.
    private var roots: [Int64: ContinuousClock.Instant] = [:]
    /// Whether a folder was moved, so that watches may stand for what is not in a tree any more.
    private var wasMoved = false
    private let mounts: OwnedDescriptor?
    private var mountPoints: MountPoints?
    private var lastRead: ContinuousClock.Instant
    private let buffer: EventBuffer
    private(set) var status = FileWatcher.Status()

    /// The shortest time between two looks at events: what happens often is not worth being woken each time.
    private static let pause = Duration.milliseconds(50)
    /// How long after a failure everything is compared again.
    private static let retry = Duration.seconds(60)

    /// - Parameter inotify: A descriptor of inotify(7).
    init(snapshot: FileSnapshot, inotify: OwnedDescriptor) {
        self.snapshot = snapshot
        watches = FolderWatches(inotify)
        let number = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        mounts = number >= 0 ? OwnedDescriptor(adopting: number) : nil
        mountPoints = .current()
        buffer = EventBuffer()
        lastRead = .now - Self.pause
    }

    // MARK: Waiting

    /// Waits until something happened, is due, or was ordered.
    mutating func wait(_ wake: OwnedDescriptor) {
        let now = ContinuousClock.now
        let due = [settling.nextDue, roots.values.min()].compactMap { $0 }.min()
        var descriptors = [
            pollfd(fd: wake.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: mounts?.number ?? -1, events: Int16(POLLPRI), revents: 0),
        ]
        // Right after events were read, more are left to gather for a moment.
        let ready = lastRead + Self.pause
        if now >= ready {
            descriptors.append(pollfd(fd: watches.descriptor.number, events: Int16(POLLIN), revents: 0))
        }
        let end = now >= ready ? due : min(due ?? ready, ready)
        let timeout = end.map { Int32(clamping: ($0 - now).wholeMilliseconds) } ?? -1
        guard poll(&descriptors, nfds_t(descriptors.count), timeout) > 0 else { return }
        if descriptors[0].revents != 0 {
            var count: UInt64 = 0
            read(wake.number, &count, 8)
        }
        if descriptors[1].revents & Int16(POLLPRI | POLLERR) != 0 { lookAtMounts() }
        if descriptors.count == 3, descriptors[2].revents != 0 {
            lastRead = .now
            for event in watches.read(buffer.bytes) { note(event, at: lastRead) }
        }
    }

    private mutating func note(_ event: InotifyEvent, at now: ContinuousClock.Instant) {
        if event.has(.eventsLost) { return settling.overflow() }
        for place in watches.places(of: event.watch)
        where event.name == place.name || event.name == "" || event.has(.watchEnded) {
            roots[place.tree] = now + SettlingPaths.quiet
        }
        if let folder = watches.folder(of: event.watch), let name = event.name {
            if !name.isEmpty {
                guard !name.isHiddenName || trees.values.contains(where: { !$0.rule.names.isEmpty }) else { return }
                let isFolder = event.has(.isFolder)
                let isWriting =
                    event.has(.modified) && !event.has(.closedAfterWriting) || event.has(.created) && !isFolder
                settling.note(isWriting ? .writing : .done, name, in: folder, at: now)
            } else if event.has(.folderGone) {
                wasMoved = true
                for (tree, root) in rootFolders where root == folder { roots[tree] = now + SettlingPaths.quiet }
            } else if event.has(.attributes) {
                settling.note(.done, nil, in: folder, at: now)
            }
        }
        if event.has(.watchEnded) { watches.forget(event.watch) }
    }

    /// The folder of each root.
    private var rootFolders: [Int64: Int64] = [:]

    private mutating func lookAtMounts() {
        let now = MountPoints.current()
        defer { mountPoints = now }
        guard let now, let earlier = mountPoints else { return compareAll() }
        for point in now.changedPoints(since: earlier) {
            for tree in trees.values where lies(tree.rule.root, in: point) || lies(point, in: tree.rule.root) {
                roots[tree.id] = .now + SettlingPaths.quiet
            }
        }
    }

    // MARK: Orders

    mutating func setTrees(_ rules: [WatchedTree]) {
        do throws(FileWatchingError) {
            try snapshot.setTrees(rules)
            let stored = try snapshot.trees()
            for tree in stored where trees[tree.id] == nil { roots[tree.id] = .now }
            let gone = !Set(trees.keys).isSubset(of: stored.map(\.id))
            trees = Dictionary(uniqueKeysWithValues: stored.map { ($0.id, $0) })
            roots = roots.filter { trees[$0.key] != nil }
            if gone { beginAnew() }
            status.trees = [:]
            for tree in stored { status.trees[tree.rule] = .waiting }
        } catch {
            status.trees = Dictionary(rules.map { ($0, .failed(error.description)) }) { one, _ in one }
        }
    }

    private mutating func beginAnew() {
        watches.removeAll()
        rootFolders = [:]
        compareAll()
    }

    /// Compares all trees.
    mutating func compareAll() {
        settling = SettlingPaths()
        for tree in trees.keys { roots[tree] = .now }
    }

    // MARK: Comparing

    /// Does what is due.
    ///
    /// - Returns: Whether anything was.
    mutating func work() -> Bool {
        if settling.hasOverflowed { compareAll() }
        let now = ContinuousClock.now
        let dueRoots = roots.filter { $0.value <= now }.keys.sorted()
        let dueNames = settling.takeDue(at: now)
        for tree in dueRoots {
            roots[tree] = nil
            compareWhole(tree)
        }
        for (folder, names) in dueNames { compare(names, of: folder) }
        if wasMoved, !dueNames.isEmpty || !dueRoots.isEmpty { dropStrayWatches() }
        (status.watches, status.unwatchedFolders, status.code) = (watches.count, watches.unwatched, watches.failure)
        status.isUpToDate = roots.isEmpty
        return !dueRoots.isEmpty || !dueNames.isEmpty
    }

    private mutating func compareWhole(_ number: Int64) {
        do throws(FileWatchingError) {
            guard let tree = try snapshot.trees().first(where: { $0.id == number }) else { return }
            trees[number] = tree
            var root: Int64?
            let report = try snapshot.compare(tree) { descriptor, folder in
                // The root is met first.
                if root == nil { root = folder }
                watches.add(descriptor, folder)
            }
            status.files += report.files
            status.folders += report.folders
            rootFolders[number] = root
            if root == nil { watchAround(tree) }
            status.trees[tree.rule] =
                if !report.unavailable.isEmpty {
                    .unavailable(report.unavailable)
                } else if root == nil, report.files == 0 {
                    .missing
                } else { .watched }
        } catch {
            fail(error)
            roots[number] = .now + Self.retry
        }
    }

    private mutating func compare(_ names: Set<String>?, of folder: Int64) {
        do throws(FileWatchingError) {
            _ = try snapshot.compare(names, of: folder) { watches.add($0, $1) }
        } catch {
            fail(error)
            for tree in trees.keys { roots[tree] = .now + Self.retry }
        }
    }

    private mutating func fail(_ error: FileWatchingError) {
        for tree in trees.values { status.trees[tree.rule] = .failed(error.description) }
    }

    /// Watches the folder that holds a root which is a file, or the nearest one above a root that is not there.
    private mutating func watchAround(_ tree: StoredTree) {
        // What appears between the look and the watch is found by looking once more.
        for _ in 0..<8 {
            let found = Found(path: tree.rule.root)
            var names = pathNames(tree.rule.root)
            while let name = names.popLast() {
                let place = FolderWatches.Place(tree: tree.id, name: name)
                let isFile = if case .file = found { true } else { false }
                if watches.add("/" + names.joined(separator: "/"), place, isFile: isFile) { break }
            }
            let now = Found(path: tree.rule.root)
            if now == found { return }
            if case .folder = now {
                roots[tree.id] = .now
                return
            }
        }
    }

    /// Ends watches of folders that are in no tree any more.
    private mutating func dropStrayWatches() {
        wasMoved = false
        guard let present = try? snapshot.presentFolders() else { return }
        watches.keep(present)
    }
}

/// Room for events. Owns its memory.
final class EventBuffer {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 8)
    deinit { bytes.deallocate() }
}

extension Duration {
    /// Milliseconds, rounded up.
    fileprivate var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return max(0, seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
