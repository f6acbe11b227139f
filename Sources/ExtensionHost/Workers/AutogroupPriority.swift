// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc

/// The scheduling priority of this process's session. The kernel first shares processors among
/// sessions (sched(7), autogroup). So this process, with all its threads and its workers for
/// interactive requests, can yield to other sessions. Has no effect if cgroups share the processors
/// instead.
public struct AutogroupPriority: Sendable {
    /// The nice value while yielding.
    private static let yielding: UInt32 = 19

    /// Starts a session, unless this process already leads one. Returns `nil` if that is
    /// impossible: at a terminal, or as a process group leader.
    public init?() {
        guard csandbox_begin_session() == 0 else { return nil }
    }

    /// Makes the session yield to all others, or restores the normal priority.
    ///
    /// - Returns: `false` if the kernel temporarily rejects the change, because it accepts ten per
    ///   second. `true` also if the kernel rejects all changes, because a retry would not help.
    public func setYielding(_ isYielding: Bool) -> Bool {
        csandbox_set_session_nice(getpid(), isYielding ? Self.yielding : 0) != EAGAIN
    }
}
