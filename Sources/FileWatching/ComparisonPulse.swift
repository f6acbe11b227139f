// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The tree that is being compared, and the time at which its file system last answered.
///
/// Other threads can read it without waiting for the file system. A dead NFS server does not answer
/// any call, and the wait cannot be interrupted.
///
/// May be used from any thread; one comparison at a time.
final class ComparisonPulse: Sendable {
    private let tree = Mutex<WatchedTree?>(nil)
    /// `CLOCK_MONOTONIC` time in nanoseconds, plus 1; 0 while no file system call is pending.
    private let last = Atomic<Int64>(0)

    /// Records that file system calls for a tree are about to begin.
    func begin(_ rule: WatchedTree) {
        tree.withLock { $0 = rule }
        beat()
    }

    /// Records the end of the comparison.
    func end() { pause() }

    /// Records an answer from the file system.
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
