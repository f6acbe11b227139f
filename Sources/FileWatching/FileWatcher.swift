// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import Synchronization
import SystemSupport

/// A watcher that keeps a ``FileSnapshot`` in sync with the disk for as long as it lives.
///
/// It stores each change once the path has settled. It compares a whole tree when the tree is first
/// watched, when events were lost, and when a file system was mounted.
///
/// One thread waits in poll(2) for inotify(7) events and changes to the mount table. It wakes up
/// for nothing else, unless some folders cannot be watched; their trees are compared every five
/// minutes (``Polling``). The thread may block on a file system that does not answer. No other
/// thread waits for it.
package final class FileWatcher: Sendable {
    /// The state of a tree.
    package enum TreeState: Hashable, Sendable {
        /// The tree has not been compared yet.
        case waiting
        /// The tree has been compared, and changes are reported.
        case watched
        /// Nothing exists at the path.
        case missing
        /// These paths do not exist or cannot be read. Their files stay as they were.
        case unavailable([String])
        /// The file system of the tree does not answer. Until it does, changes in other trees are
        /// not stored either.
        case silent
        /// The snapshot failed, or a folder did.
        case failed(String)
    }

    /// The reason why a tree is compared every five minutes.
    package enum Polling: Hashable, Sendable {
        /// Some folders have no watch, because the kernel refused it, or because half of the user's
        /// limit is used up and the rest is left to other programs.
        case unwatched
        /// The tree is on a file system that others can change without notice, such as NFS, SMB or
        /// FUSE.
        case shared
    }

    /// The current state of the watcher.
    package struct Status: Hashable, Sendable {
        /// The state of each tree.
        package var trees: [WatchedTree: TreeState] = [:]
        /// Trees that are also compared at intervals, because not every change is reported.
        package var polled: [WatchedTree: Polling] = [:]
        /// The number of inotify watches.
        package var watches = 0
        /// The number of folders that could not be watched, and the last error code, usually
        /// ENOSPC. The watcher retries them.
        package var unwatchedFolders = 0
        package var code: Int32?
        /// The numbers of files and folders in the trees, as of their last complete comparison.
        package var files = 0
        package var folders = 0
        /// Folders that are not compared completely, because the tree exceeds
        /// ``WatchedTree/Limit``.
        package var beyondLimits: [String] = []
        /// `true` if every event so far has been stored.
        package var isUpToDate = false
    }

    private struct Orders {
        var trees: [WatchedTree]?
        var comparesAgain = false
        var hasEnded = false
    }
    private let orders = Mutex(Orders())
    private let statusNow = Mutex(Status())
    private let wake: OwnedDescriptor
    private let pulse = ComparisonPulse()
    private let silence: Duration

    /// Starts the thread. It watches nothing until ``watch(_:)`` is called.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot that receives the changes.
    ///   - onNews: Called on the thread after a change was stored or a comparison ended. Must not
    ///     block.
    /// - Throws: ``FileWatchingError/system(operation:code:)``.
    package convenience init(
        snapshot: FileSnapshot, onNews: @escaping @Sendable (FileWatcher.Status) -> Void
    ) throws(FileWatchingError) {
        try self.init(
            snapshot: snapshot, pace: WatchPace(), maximumWatches: FolderWatches.systemMaximum,
            addWatch: { inotify_add_watch($0, $1, $2) }, onNews: onNews)
    }

    init(
        snapshot: FileSnapshot, pace: WatchPace, maximumWatches: Int = .max, addWatch: @escaping FolderWatches.Add,
        isContended: @escaping @Sendable () -> Bool = { [contention = ProcessorContention()] in contention.isPresent },
        onNews: @escaping @Sendable (FileWatcher.Status) -> Void
    ) throws(FileWatchingError) {
        let number = csystem_event_descriptor()
        guard number >= 0 else { throw .system(operation: "creating an event descriptor", code: errno) }
        let wake = OwnedDescriptor(adopting: number)
        self.wake = wake
        silence = pace.silence
        snapshot.signalLosses(to: wake)
        let watches = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard watches >= 0 else { throw .system(operation: "creating an inotify descriptor", code: errno) }
        let inotify = OwnedDescriptor(adopting: watches)
        let result = OwnThread.start("file-watch") { [weak self, pulse] in
            // Changes should be stored soon, but the user's work takes precedence.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
            var run = WatchRun(
                snapshot: snapshot, watches: FolderWatches(inotify, maximum: maximumWatches, add: addWatch), pace: pace,
                pulse: pulse, isContended: isContended)
            while true {
                run.wait(wake)
                guard let orders = self?.takeOrders(), !orders.hasEnded else { return }
                if let trees = orders.trees { run.setTrees(trees) }
                if orders.comparesAgain { run.compareAll() }
                guard run.work(), let self else { continue }
                let status = run.status
                self.statusNow.withLock { $0 = status }
                onNews(status)
            }
        }
        guard result == 0 else { throw .system(operation: "starting a thread", code: result) }
    }

    private func takeOrders() -> Orders {
        orders.withLock { orders in
            defer { (orders.trees, orders.comparesAgain) = (nil, false) }
            return orders
        }
    }

    private func order(_ change: (inout Orders) -> Void) {
        statusNow.withLock { $0.isUpToDate = false }
        orders.withLock { change(&$0) }
        wake.signalEvent()
    }

    /// Sets the trees to watch. New trees are compared.
    package func watch(_ trees: [WatchedTree]) { order { $0.trees = trees } }

    /// Compares all trees again.
    package func compareAgain() { order { $0.comparesAgain = true } }

    /// The current state. Never waits for a file system.
    package var status: Status {
        var status = statusNow.withLock { $0 }
        if let tree = pulse.silentTree(after: silence) {
            status.trees[tree] = .silent
            status.isUpToDate = false
        }
        return status
    }

    /// Ends the thread.
    package func end() { order { $0.hasEnded = true } }

    deinit { end() }
}

extension OwnedDescriptor {
    /// Adds 1 to an event descriptor (eventfd(2)).
    func signalEvent() {
        var one: UInt64 = 1
        write(number, &one, 8)
    }
}
