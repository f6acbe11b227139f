// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import Synchronization
import SystemSupport

/// Follows trees for as long as it lives, and keeps a ``FileSnapshot`` true: what happens is noted there as soon as it has
/// settled, and a tree is compared as a whole when it is first watched, when events were lost and when something was mounted.
///
/// One thread waits in the kernel (inotify(7), the table of mounts) and wakes for nothing else, unless some folders cannot be
/// watched: their trees are compared every five minutes (``Polling``). It may wait for a file system that does not answer, and
/// nobody waits for it.
package final class FileWatcher: Sendable {
    /// What is known of a tree.
    package enum TreeState: Hashable, Sendable {
        /// Not compared yet.
        case waiting
        /// Changes are told.
        case watched
        /// There is nothing at the path.
        case missing
        /// Places that are not there or cannot be read; their files stay as they were.
        case unavailable([String])
        /// Its file system does not answer; what happens in the other trees is not noted either until it does.
        case silent
        /// The snapshot or a folder failed.
        case failed(String)
    }

    /// Why a tree is compared every five minutes.
    package enum Polling: Hashable, Sendable {
        /// The kernel refused watches, or half of those that it allows a user are used: the rest is left to other programs.
        case unwatched
        /// It is on a file system that others change unseen: NFS, SMB, FUSE and the like.
        case shared
    }

    /// What is watched now.
    package struct Status: Hashable, Sendable {
        /// Each tree.
        package var trees: [WatchedTree: TreeState] = [:]
        /// Trees of which not every change is told.
        package var polled: [WatchedTree: Polling] = [:]
        /// Watches that the kernel keeps for it.
        package var watches = 0
        /// Folders that could not be watched, and why: the code of an error, most often ENOSPC. They are tried again.
        package var unwatchedFolders = 0
        package var code: Int32?
        /// Files and folders of the trees, as they were last compared as a whole.
        package var files = 0
        package var folders = 0
        /// Folders of which not all is compared, since the tree has more than ``WatchedTree/Limit``.
        package var beyondLimits: [String] = []
        /// Whether everything that happened is noted.
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

    /// Starts the thread. Nothing is watched before ``watch(_:)``.
    ///
    /// - Parameters:
    ///   - snapshot: Where everything is noted.
    ///   - onNews: Called on the thread after something was noted or a comparison ended; must not block.
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
            // Changes matter soon, and less than what the user does.
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

    /// Says what is watched from now on; what is new is compared.
    package func watch(_ trees: [WatchedTree]) { order { $0.trees = trees } }

    /// Compares everything again.
    package func compareAgain() { order { $0.comparesAgain = true } }

    /// What is watched now. Never waits for a file system.
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
    /// Signals an event descriptor.
    func signalEvent() {
        var one: UInt64 = 1
        write(number, &one, 8)
    }
}
