// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc

/// A session that this process leads, so that all of it, threads and workers for persons, can yield to other sessions: the
/// kernel shares processors among sessions first (sched(7), autogroup). Where control groups do that instead, it has no effect.
public struct AutogroupPriority: Sendable {
    /// How much it yields, as niceness.
    private static let yielding: UInt32 = 19

    /// Begins one, unless this process leads one; `nil` where it cannot: at a terminal, and as the leader of a group.
    public init?() {
        guard csandbox_begin_session() == 0 else { return nil }
    }

    /// Has it yield to all others, or be like them.
    ///
    /// - Returns: `false` where the kernel takes no more changes for now, ten a second; where it takes none at all, trying
    ///   again is of no use, and this is `true`.
    public func setYielding(_ isYielding: Bool) -> Bool {
        csandbox_set_session_nice(getpid(), isYielding ? Self.yielding : 0) != EAGAIN
    }
}
