// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// The calls in progress into each library, for all hosts that this process serves or has served.
///
/// A worker has one host and one extension object. A program can also serve one host after another
/// (``startWorkerInThisProcess(connection:)``). Each host then creates an object in the same
/// library, with the same global variables. A call from the previous host may still be running,
/// because an extension may answer before the call returns.
enum LibraryCalls {
    /// One group for each library that was loaded.
    private static let groups = Mutex<[String: DispatchGroup]>([:])
    /// The time for which the creation of a new object waits. It is part of the time limit for
    /// loading (`WorkerConfiguration.Limits.load`). It is bounded because a call may never return.
    static let patience = DispatchTimeInterval.seconds(2)

    /// Waits until no call into a library is in progress, and returns the group for the next
    /// object's calls. A call that takes longer than `patience` is only waited for once: it stays
    /// in the old group.
    static func settled(_ library: String, patience: DispatchTimeInterval = patience) -> DispatchGroup {
        let group = groups.withLock { groups in
            let group = groups[library] ?? DispatchGroup()
            groups[library] = group
            return group
        }
        guard group.wait(timeout: .now() + patience) == .timedOut else { return group }
        let next = DispatchGroup()
        groups.withLock { $0[library] = next }
        return next
    }
}
