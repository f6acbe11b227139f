// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Foundation
import Glibc
import Synchronization

/// A folder of one worker's own, for what it needs to write: `TMPDIR`. Gone with the worker.
///
/// It lies below the user's cache folder and not below `$XDG_RUNTIME_DIR`, which is memory that all programs share. The
/// name of each host's folder is its process, so that those of hosts that were killed can be told and swept away.
final class WorkerTemporaryFolder: Sendable {
    let path: String

    private static let number = Atomic(0)
    private static let swept = Mutex<Set<String>>([])

    /// Makes one below a base; `nil` if that cannot be.
    init?(below base: String?, bundle: String) {
        guard let base else { return nil }
        let own = base + "/\(getpid())"
        let number = Self.number.wrappingAdd(1, ordering: .relaxed).newValue
        path = own + "/\(bundle)-\(number)"
        let manager = FileManager.default
        let isPrivate: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try? manager.createDirectory(atPath: own, withIntermediateDirectories: true, attributes: isPrivate)
        Self.sweep(base)
        // Whatever has this name is from a process of the past.
        _ = csandbox_remove_tree(path)
        guard mkdir(path, 0o700) == 0 else { return nil }
    }

    deinit { remove() }

    /// Removes it with all that is in it. To be called when nobody can write there any more.
    func remove() { _ = csandbox_remove_tree(path) }

    /// Removes what hosts left behind that are no more, once in the life of this one.
    private static func sweep(_ base: String) {
        guard swept.withLock({ $0.insert(base).inserted }) else { return }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? [] {
            guard let process = pid_t(name), process > 0, process != getpid() else { continue }
            if kill(process, 0) != 0, errno == ESRCH { _ = csandbox_remove_tree(base + "/" + name) }
        }
    }
}
