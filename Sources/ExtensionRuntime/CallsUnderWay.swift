// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// The calls under way into a library, of all that this process serves or has served.
///
/// A worker has one host and one extension object. In a program that serves one host after another
/// (``startWorkerInThisProcess(connection:)``), each makes an object of the same library, with the same global variables, while a
/// call of the one before may not have returned yet: it may have answered in its middle.
enum CallsUnderWay {
    /// Of one library each; as many as were loaded.
    private static let groups = Mutex<[String: DispatchGroup]>([:])
    /// How long another object waits: a call need not return at all.
    private static let patience = DispatchTimeInterval.seconds(5)

    /// What calls into a library are to be dispatched with, by its path.
    static func group(of library: String) -> DispatchGroup {
        groups.withLock { groups in
            if let group = groups[library] { return group }
            let group = DispatchGroup()
            groups[library] = group
            return group
        }
    }

    /// Waits until the calls under way have returned, or no longer than an extension may be expected to take for it.
    static func settle(_ group: DispatchGroup) { _ = group.wait(timeout: .now() + patience) }
}
