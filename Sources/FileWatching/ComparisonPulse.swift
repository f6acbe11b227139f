// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Which tree is compared, and when its file system last answered, for those who must not wait for that: a dead server of NFS
/// answers no question, and nothing can end the wait.
///
/// Any thread; one comparison at a time.
final class ComparisonPulse: Sendable {
    private let tree = Mutex<WatchedTree?>(nil)
    /// In nanoseconds since some moment; 0 while nothing is asked.
    private let last = Atomic<Int64>(0)

    /// Notes that the file system is asked about a tree from now on.
    func begin(_ rule: WatchedTree) {
        tree.withLock { $0 = rule }
        beat()
    }

    /// Notes that the comparison is over.
    func end() { pause() }

    /// Notes that there was an answer.
    func beat() { last.store(Self.now, ordering: .relaxed) }

    /// Notes that something else is waited for.
    func pause() { last.store(0, ordering: .relaxed) }

    /// The tree whose file system has left a question unanswered for that long; `nil` if all is well.
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
