// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The tree that is being compared, and the time of the last answer from its file system.
///
/// Other threads read it without waiting for the file system. A dead NFS server answers no call,
/// and nothing can interrupt the wait.
///
/// Any thread; one comparison at a time.
final class ComparisonPulse: Sendable {
    private let tree = Mutex<WatchedTree?>(nil)
    /// `CLOCK_MONOTONIC` time in nanoseconds, plus 1; 0 while no file system call is pending.
    private let last = Atomic<Int64>(0)

    /// Records that file system calls for a tree begin.
    func begin(_ rule: WatchedTree) {
        tree.withLock { $0 = rule }
        beat()
    }

    /// Records the end of the comparison.
    func end() { pause() }

    /// Records an answer of the file system.
    func beat() { last.store(Self.now, ordering: .relaxed) }

    /// Records that the comparison waits for something other than the file system.
    func pause() { last.store(0, ordering: .relaxed) }

    /// Returns the tree whose file system has not answered for the duration `silence`; `nil` if
    /// there is none.
    func silentTree(after silence: Duration) -> WatchedTree? {
        let last = last.load(ordering: .relaxed)
        guard last != 0, .nanoseconds(Self.now - last) >= silence else { return nil }
        return tree.withLock { $0 }
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec) + 1
    }
}
