// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// What this process has under way in a library, for any host that it serves or has served.
///
/// A worker has one host and one extension object. In a program that serves one host after another
/// (``startWorkerInThisProcess(connection:)``), each makes an object of the same library, with the same global variables, while a
/// call of the one before may not have returned yet: it may have answered in its middle.
enum LibraryCalls {
    /// Of one library each; as many as were loaded.
    private static let groups = Mutex<[String: DispatchGroup]>([:])
    /// How long another object waits, which is part of the time for loading (`WorkerConfiguration.Limits.load`): a call need not
    /// return at all.
    static let patience = DispatchTimeInterval.seconds(2)

    /// Waits until nothing is under way in a library any more, and returns what the calls of another object of it are to be
    /// dispatched with. What takes longer is waited for once: it is not counted among what comes after.
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
