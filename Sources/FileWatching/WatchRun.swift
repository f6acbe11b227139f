// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import SystemSupport

/// The intervals of a watcher.
struct WatchPace: Sendable {
    /// The minimum time between two reads of events. It limits the number of wakeups during
    /// frequent events.
    var pause = Duration.milliseconds(50)
    /// The delay before retrying after a failure of the snapshot.
    var failure = Duration.seconds(60)
    /// The interval between comparisons of a polled tree.
    var polling = Duration.seconds(300)
    /// The initial delay before a complete comparison after events were lost or resources were
    /// lacking. It doubles, up to `longest`, while the condition lasts.
    var first = Duration.seconds(1)
    var longest = Duration.seconds(60)
    /// The time after which a file system that does not answer is reported as silent.
    var silence = Duration.seconds(5)
    /// The delay before rechecking a file that may have changed within the timestamp granularity.
    var unsettled = Duration.milliseconds(2200)
    /// The number of events per second above which a burst begins; see ``EventBurst``.
    var burst = 4096
    /// The interval at which the end of a burst is checked for, and the shortest burst.
    var burstCheck = Duration.seconds(1)
}

/// The state of a burst of events, such as a Git checkout that replaces 20,000 files.
///
/// Each event costs the program that makes the changes time in the kernel, even if the event is
/// never read. So a burst removes all watches, and no comparison begins. When it ends, a comparison
/// of all trees finds the changes and adds the watches again.
///
/// The burst ends when no thread waits for a processor, or after ``WatchPace/longest`` in any case.
/// A burst that follows another one soon lasts longer.
struct EventBurst {
    private var second: (start: ContinuousClock.Instant, events: Int)
    /// The start of the burst in progress, and the time of the next check.
    private var burst: (start: ContinuousClock.Instant, check: ContinuousClock.Instant)?
    private var waits: DoublingWait
    private let pace: WatchPace

    init(_ pace: WatchPace) {
        (self.pace, second) = (pace, (.now, 0))
        waits = DoublingWait(first: pace.burstCheck, longest: pace.longest)
    }

    /// The time of the next check; `nil` if there is no burst.
    var nextCheck: ContinuousClock.Instant? { burst?.check }

    /// Counts events.
    ///
    /// - Returns: `true` if a burst begins, because there are too many.
    mutating func note(_ events: Int, at now: ContinuousClock.Instant) -> Bool {
        if now - second.start >= .seconds(1) { second = (now, 0) }
        second.events += events
        guard second.events > pace.burst, burst == nil else { return false }
        burst = (now, now + waits.next(at: now))
        return true
    }

    /// Postpones the next check by ``WatchPace/burstCheck``.
    mutating func postpone(at now: ContinuousClock.Instant) {
        let check = now + pace.burstCheck
        burst?.check = check
    }

    /// Returns `true` if the burst has lasted too long and must end.
    func isOverdue(at now: ContinuousClock.Instant) -> Bool { burst.map { now - $0.start >= pace.longest } ?? false }

    mutating func end() { (burst, second.events) = (nil, 0) }
}

/// A delay that doubles each time the same condition occurs again soon.
struct DoublingWait {
    let first: Duration
    let longest: Duration
    private var last: (time: ContinuousClock.Instant, wait: Duration)?

    init(first: Duration, longest: Duration) { (self.first, self.longest) = (first, longest) }

    /// Returns the delay after another occurrence.
    mutating func next(at now: ContinuousClock.Instant) -> Duration {
        var wait = first
        if let last, now - last.time <= last.wait + longest { wait = min(last.wait * 2, longest) }
        last = (now, wait)
        return wait
    }
}

/// The state and the work of the ``FileWatcher`` thread.
struct WatchRun: ~Copyable {
    /// A watched tree.
    private struct Tree {
        var stored: StoredTree
        /// The time of the next complete comparison.
        var due: ContinuousClock.Instant?
        /// The time of the next polling comparison.
        var poll: ContinuousClock.Instant?
        var polling: FileWatcher.Polling?
        var state = FileWatcher.TreeState.waiting
        /// The path of the root with links resolved.
        var resolved: String
        /// The row number of the root folder.
        var root: Int64?
        var report = TreeReport()
    }

    private let snapshot: FileSnapshot
    private let watches: FolderWatches
    private let pace: WatchPace
    private let pulse: ComparisonPulse
    private var settling = SettlingPaths()
    private var trees: [Int64: Tree] = [:]
    /// The trees to watch next. `rulesDue` is the time at which they replace the current trees, and
    /// `nil` afterwards.
    private var rules: [WatchedTree] = []
    private var rulesDue: ContinuousClock.Instant?
    /// The reason why setting the trees failed.
    private var rulesFailure: String?
    /// The last known number of times that the snapshot was created again.
    private var lossCount: Int
    private var overflows: DoublingWait
    private var retries: DoublingWait
    /// `true` if a folder was moved, so that watches may belong to folders outside all trees.
    private var wasMoved = false
    private let mounts: OwnedDescriptor?
    private var mountPoints: MountPoints?
    private var lastRead: ContinuousClock.Instant
    private let buffer = EventBuffer()
    private var burst: EventBurst
    /// Returns `true` if threads wait for a processor.
    private let isContended: @Sendable () -> Bool
    private(set) var status = FileWatcher.Status()

    init(
        snapshot: FileSnapshot, watches: FolderWatches, pace: WatchPace, pulse: ComparisonPulse = ComparisonPulse(),
        isContended: @escaping @Sendable () -> Bool
    ) {
        burst = EventBurst(pace)
        self.isContended = isContended
        self.snapshot = snapshot
        self.watches = watches
        self.pace = pace
        self.pulse = pulse
        lossCount = snapshot.lossCount
        overflows = DoublingWait(first: pace.first, longest: pace.longest)
        retries = overflows
        let number = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        mounts = number >= 0 ? OwnedDescriptor(adopting: number) : nil
        mountPoints = .current()
        lastRead = .now - pace.pause
    }

    // MARK: Waiting

    /// Waits in poll(2) for an event, a command, or the next due time.
    mutating func wait(_ wake: OwnedDescriptor) {
        let now = ContinuousClock.now
        let due = settling.hasOverflowed && burst.nextCheck == nil ? now : nextDue
        var descriptors = [
            pollfd(fd: wake.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: mounts?.number ?? -1, events: Int16(POLLPRI), revents: 0),
        ]
        // After a read, further events accumulate until the pause is over.
        let ready = lastRead + pace.pause
        if now >= ready, burst.nextCheck == nil {
            descriptors.append(pollfd(fd: watches.descriptor.number, events: Int16(POLLIN), revents: 0))
        }
        let end = now >= ready || burst.nextCheck != nil ? due : min(due ?? ready, ready)
        let timeout = end.map { Int32(clamping: ($0 - now).wholeMilliseconds) } ?? -1
        guard Glibc.poll(&descriptors, nfds_t(descriptors.count), timeout) > 0 else { return }
        if descriptors[0].revents != 0 {
            var count: UInt64 = 0
            read(wake.number, &count, 8)
        }
        if descriptors[1].revents & Int16(POLLPRI | POLLERR) != 0 { lookAtMounts() }
        if descriptors.count == 3, descriptors[2].revents != 0 { readEvents() }
    }

    /// Reads at most 64 KiB of events. Stops watching if a burst begins.
    private mutating func readEvents() {
        lastRead = .now
        let events = watches.read(buffer.bytes)
        for event in events { note(event, at: lastRead) }
        guard burst.note(events.count, at: lastRead) else { return }
        watches.removeAll()
        // The comparison after the burst finds what these events report.
        var reads = 0
        while reads < Self.maximumReads, !watches.read(buffer.bytes).isEmpty { reads += 1 }
    }

    /// The time at which work is next due without further events; `nil` if there is none.
    var nextDue: ContinuousClock.Instant? {
        if let check = burst.nextCheck { return min(check, rulesDue ?? check) }
        return (trees.values.flatMap { [$0.due, $0.poll] } + [settling.nextDue, rulesDue]).compactMap { $0 }.min()
    }

    private mutating func note(_ event: InotifyEvent, at now: ContinuousClock.Instant) {
        if event.has(.eventsLost) { return settling.overflow() }
        for place in watches.places(of: event.watch) {
            let isItself = event.name == "" || event.has(.watchEnded)
            if isItself ? place.name == nil || event.has([.folderGone, .watchEnded]) : event.name == place.name {
                schedule(place.tree, at: now + SettlingPaths.quiet)
            }
        }
        for folder in watches.folders(of: event.watch) { note(event, in: folder, at: now) }
        if event.has(.watchEnded) { watches.forget(event.watch) }
    }

    private mutating func note(_ event: InotifyEvent, in folder: Int64, at now: ContinuousClock.Instant) {
        guard let name = event.name else { return }
        if name != "" {
            let isWatched = !name.text.isHiddenName || name.text == WatchedTree.ignoreFileName
            guard isWatched || trees.values.contains(where: { !$0.stored.rule.names.isEmpty }) else {
                return
            }
            let isFolder = event.has(.isFolder)
            let isWriting =
                event.has(.modified) && !event.has(.closedAfterWriting) || event.has(.created) && !isFolder
            settling.note(isWriting ? .writing : .done, name, in: folder, at: now, cookie: event.cookie)
        } else if event.has([.folderGone, .unmounted]) {
            wasMoved = true
            for tree in trees.values where tree.root == folder {
                schedule(tree.stored.id, at: now + SettlingPaths.quiet)
            }
            // A parent folder gets no event when a file system is unmounted.
            if event.has(.unmounted), let tree = (try? snapshot.tree(of: folder)) ?? nil {
                schedule(tree, at: now + SettlingPaths.quiet)
            }
        } else if event.has(.attributes) {
            settling.note(.done, nil, in: folder, at: now)
        }
    }

    /// Schedules a complete comparison of a tree, at `time` or earlier.
    private mutating func schedule(_ tree: Int64, at time: ContinuousClock.Instant) {
        guard let due = trees[tree]?.due else {
            trees[tree]?.due = time
            return
        }
        trees[tree]?.due = min(due, time)
    }

    private mutating func lookAtMounts() {
        let now = MountPoints.current()
        defer { mountPoints = now }
        guard let now, let earlier = mountPoints else { return compareAll() }
        for point in now.changedPoints(since: earlier) {
            for tree in trees.values where lies(tree.resolved, in: point) || lies(point, in: tree.resolved) {
                schedule(tree.stored.id, at: .now + SettlingPaths.quiet)
            }
        }
    }

    // MARK: Commands

    /// Schedules the trees to be set.
    mutating func setTrees(_ rules: [WatchedTree]) {
        self.rules = rules
        rulesDue = .now
    }

    private mutating func setRules() {
        (rulesDue, rulesFailure) = (nil, nil)
        do throws(FileWatchingError) {
            let takers = try snapshot.setTrees(rules)
            let stored = try snapshot.trees()
            for number in trees.keys where !stored.contains(where: { $0.id == number }) {
                trees[number] = nil
                watches.keepPlaces(of: number)
                wasMoved = true
            }
            for tree in stored where trees[tree.id] == nil {
                trees[tree.id] = Tree(stored: tree, due: .now, resolved: tree.rule.root)
            }
            for tree in takers { schedule(tree, at: .now) }
        } catch {
            fail(error)
            (rulesDue, rulesFailure) = (.now + pace.failure, error.description)
        }
    }

    /// Schedules comparisons of all trees, and ends a burst. A caller that waits for the result
    /// need not wait for the end of the burst.
    mutating func compareAll() {
        burst.end()
        settling = SettlingPaths()
        for tree in trees.keys { schedule(tree, at: .now) }
    }

    // MARK: Comparing

    /// Carries out the work that is due.
    ///
    /// - Returns: `true` if any work was due, or if the status has changed.
    mutating func work() -> Bool {
        let now = ContinuousClock.now
        let wasUpToDate = status.isUpToDate
        if lossCount != snapshot.lossCount { startAgain() }
        if let check = burst.nextCheck, !(rulesDue.map { $0 <= now } ?? false) {
            // The status will report that changes are pending.
            defer { updateStatus() }
            guard check <= now, endBurst(at: now) else { return status.isUpToDate }
        }
        if settling.hasOverflowed {
            settling = SettlingPaths()
            let wait = overflows.next(at: now)
            for tree in trees.keys where trees[tree]?.due == nil { trees[tree]?.due = now + wait }
        }
        let hasRules = rulesDue.map { $0 <= now } ?? false
        var dueTrees = dueTrees(at: now)
        let dueNames = settling.takeDue(at: now)
        guard hasRules || !dueTrees.isEmpty || !dueNames.isEmpty else {
            return status.isUpToDate != wasUpToDate
        }
        do throws(FileWatchingError) {
            // The two names of a moved file may be in two trees. The stored files of dropped trees
            // are accurate again once the trees that took them over have been compared.
            try snapshot.gather { () throws(FileWatchingError) in
                if hasRules {
                    setRules()
                    dueTrees = self.dueTrees(at: .now)
                }
                for tree in dueTrees { try compareWhole(tree) }
                for (folder, names) in dueNames { try compare(names, of: folder) }
            }
        } catch {
            // The work failed, so it is rescheduled.
            for tree in trees.keys { schedule(tree, at: .now + pace.failure) }
            if let due = rulesDue, due <= now { (rulesDue, rulesFailure) = (now + pace.failure, error.description) }
            fail(error)
        }
        for tree in trees.values where watches.curtailed.contains(tree.stored.ownerNumber) {
            pollUnwatched(tree.stored.id)
        }
        watches.curtailed = []
        if wasMoved || !watches.unwatched.isEmpty && !dueTrees.isEmpty { dropStrayWatches() }
        updateStatus()
        return true
    }

    /// Ends the burst if no thread waits for a processor, and schedules a comparison of all trees,
    /// which adds their watches again.
    ///
    /// - Returns: `true` if the burst is over.
    private mutating func endBurst(at now: ContinuousClock.Instant) -> Bool {
        guard burst.isOverdue(at: now) || !isContended() else {
            burst.postpone(at: now)
            return false
        }
        compareAll()
        return true
    }

    /// The number of 64 KiB reads needed to empty a queue of 16,384 events with the longest names.
    private static let maximumReads = 72

    private func dueTrees(at now: ContinuousClock.Instant) -> [Int64] {
        trees.values.filter { tree in [tree.due, tree.poll].contains { $0.map { $0 <= now } ?? false } }
            .map(\.stored.id).sorted()
    }

    private mutating func compareWhole(_ number: Int64) throws(FileWatchingError) {
        guard var tree = trees[number] else { return }
        trees[number]?.due = nil
        trees[number]?.poll = nil
        pulse.begin(tree.stored.rule)
        defer { pulse.end() }
        // Watches are added before the comparison: the comparison finds earlier changes, and the
        // kernel reports later ones.
        var way = WatchedWay(to: tree.stored, watches)
        // A change to the root's name reveals that an unreadable folder has become readable.
        if !way.path.isFolder || tree.state.isUnavailable { way.addName() }
        let observer = TreeObserver(watches, tree.stored.ownerNumber)
        tree.report = try snapshot.compare(tree.stored, observer: observer, pulse)
        tree.root = observer.root
        pulse.begin(tree.stored.rule)
        if tree.root == nil, !way.hasName {
            way.addName()
            schedule(number, at: .now + SettlingPaths.quiet)
        }
        if RootPath(tree.stored.rule.root) != way.path { schedule(number, at: .now + SettlingPaths.quiet) }
        way.end()
        if way.isUnwatched { tree.report.unwatched += 1 }
        tree.resolved = way.path.resolved.text
        let report = tree.report
        tree.state =
            if !report.unavailable.isEmpty {
                .unavailable(report.unavailable)
            } else if tree.root == nil, report.files == 0 {
                .missing
            } else { .watched }
        // The comparison itself may have scheduled another comparison.
        (tree.due, tree.poll) = (trees[number]?.due, nil)
        trees[number] = tree
        if report.needsRetry { schedule(number, at: .now + retries.next(at: .now)) }
        look(again: report, number)
        lookAtOtherNames(report)
        poll(number, report)
    }

    private mutating func compare(_ names: Set<EntryName>?, of folder: Int64) throws(FileWatchingError) {
        // The folder may no longer belong to any tree.
        guard let tree = try snapshot.tree(of: folder), let stored = trees[tree]?.stored else { return }
        pulse.begin(stored.rule)
        defer { pulse.end() }
        let observer = TreeObserver(watches, stored.ownerNumber)
        let report = try snapshot.compare(names, of: folder, observer: observer, pulse)
        lookAtOtherNames(report)
        if report.needsRetry {
            let wait = retries.next(at: .now)
            for name in names ?? [] { settling.note(.later(wait), name, in: folder, at: .now) }
            if names == nil { settling.note(.later(wait), nil, in: folder, at: .now) }
        }
        if report.needsWholeTree { schedule(tree, at: .now) }
        look(again: report, tree)
        if report.unwatched > 0 { poll(tree, report) }
        if !report.unavailable.isEmpty, var known = trees[tree]?.report {
            for path in report.unavailable { known.noteUnavailable(path) }
            trees[tree]?.report = known
            trees[tree]?.state = .unavailable(known.unavailable)
        }
    }

    /// Schedules another check of files that may change without getting a new time.
    private mutating func look(again report: TreeReport, _ tree: Int64) {
        for (folder, names) in report.unsettled {
            for name in names {
                // The root is a file.
                if name == "" {
                    schedule(tree, at: .now + pace.unsettled)
                } else {
                    settling.note(.later(pace.unsettled), name, in: folder, at: .now)
                }
            }
        }
    }

    /// Schedules a check of the other names of changed files, because the kernel reports no events
    /// for them.
    private mutating func lookAtOtherNames(_ report: TreeReport) {
        if report.hasMoreNames { return settling.overflow() }
        for (folder, names) in report.otherNames {
            for name in names { settling.note(.done, name, in: folder, at: .now) }
        }
    }

    /// Schedules polling comparisons of a tree if not all of its changes are reported.
    private mutating func poll(_ number: Int64, _ report: TreeReport) {
        let polling: FileWatcher.Polling? =
            report.unwatched > 0
            ? .unwatched : report.isShared || trees[number]?.report.isShared == true ? .shared : nil
        trees[number]?.polling = polling
        if polling != nil, trees[number]?.poll == nil { trees[number]?.poll = .now + pace.polling }
    }

    /// Starts polling a tree that lost watches.
    private mutating func pollUnwatched(_ number: Int64) {
        var report = TreeReport()
        report.unwatched = 1
        poll(number, report)
    }

    private mutating func fail(_ error: FileWatchingError) {
        for tree in trees.keys { trees[tree]?.state = .failed(error.description) }
        if case .snapshotLost = error { startAgain() }
    }

    /// Restarts after the snapshot was created again, because folders have new row numbers.
    private mutating func startAgain() {
        lossCount = snapshot.lossCount
        watches.removeAll()
        trees = [:]
        settling = SettlingPaths()
        rulesDue = .now
    }

    /// Removes watches on folders that no longer belong to any tree.
    private mutating func dropStrayWatches() {
        guard let present = try? snapshot.presentFolders() else { return }
        wasMoved = false
        watches.keep(present)
    }

    private mutating func updateStatus() {
        let all = trees.values
        status.trees = Dictionary(all.map { ($0.stored.rule, $0.state) }) { one, _ in one }
        if rulesDue != nil {
            for rule in rules where status.trees[rule] == nil {
                status.trees[rule] = rulesFailure.map { .failed($0) } ?? .waiting
            }
        }
        status.polled = Dictionary(
            all.compactMap { tree in tree.polling.map { (tree.stored.rule, $0) } }
        ) { one, _ in one }
        status.beyondLimits = Array(all.flatMap(\.report.beyondLimits).prefix(TreeReport.maximumPlaces))
        // During a burst there are no watches for a moment, which says nothing about their limit.
        if burst.nextCheck == nil {
            (status.watches, status.unwatchedFolders, status.code) =
                (watches.count, watches.unwatched.count, watches.code)
        }
        status.files = all.lazy.map(\.report.files).reduce(0, +)
        status.folders = all.lazy.map(\.report.folders).reduce(0, +)
        status.isUpToDate =
            rulesDue == nil && burst.nextCheck == nil && settling.isEmpty && all.allSatisfy { $0.due == nil }
    }
}

/// The watches on the folders that lead to the root of a tree. They cover folders and links, and
/// the parent folder if the root is a file or missing. Old watches are kept until the new ones are
/// added.
private struct WatchedWay {
    let path: RootPath
    private let tree: Int64
    private let watches: FolderWatches
    private var places: [Int32: Set<FolderWatches.Place>] = [:]
    private(set) var hasName = false
    /// `true` if the root could not be watched because of a lack of resources.
    private(set) var isUnwatched = false

    init(to tree: StoredTree, _ watches: FolderWatches) {
        (self.tree, self.watches, path) = (tree.id, watches, RootPath(tree.rule.root))
        for step in path.steps { note(watches.addItself(step, tree: tree.id), nil) }
    }

    /// Watches the name of the root in its parent folder.
    mutating func addName() {
        hasName = true
        let place = FolderWatches.Place(tree: tree, name: path.lastName)
        let watch = watches.add(path.lastFolder.text, place, isFile: path.exists)
        note(watch, path.lastName)
        isUnwatched = watch == nil && watches.isOutOfRoom
    }

    private mutating func note(_ watch: Int32?, _ name: EntryName?) {
        if let watch { places[watch, default: []].insert(FolderWatches.Place(tree: tree, name: name)) }
    }

    /// Removes the watches on the old path.
    func end() { watches.keepPlaces(places, of: tree) }
}

/// Watches folders for the owner of a tree, and records the number of the first folder: the root.
private final class TreeObserver: FolderObserver {
    private let watches: FolderWatches
    private let owner: Int64
    private(set) var root: Int64?

    init(_ watches: FolderWatches, _ owner: Int64) { (self.watches, self.owner) = (watches, owner) }

    func willRead(_ folder: OwnedDescriptor, _ number: FolderNumber) -> Int32? {
        watches.willRead(folder, number, for: owner)
    }
    func isWatched(_ folder: Int64) -> Bool { watches.isWatched(folder) }
    func didNote(_ watch: Int32?, _ folder: Int64?, _ number: FolderNumber) {
        if root == nil { root = folder }
        watches.didNote(watch, folder, number, for: owner)
    }
}

extension FileWatcher.TreeState {
    fileprivate var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
}

/// A buffer for inotify events. Owns its memory.
final class EventBuffer {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 8)
    deinit { bytes.deallocate() }
}

extension Duration {
    /// The duration in milliseconds, rounded up.
    fileprivate var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return max(0, seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
