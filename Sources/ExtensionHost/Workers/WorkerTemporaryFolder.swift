// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Foundation
import Glibc
import Synchronization

/// One worker's writable folder: `TMPDIR`. It is removed when the worker exits.
///
/// It is below the user's cache folder and not below `$XDG_RUNTIME_DIR`, which is in memory that
/// all programs share. Each host's folder is named after its process identifier, so that the
/// folders of killed hosts can be found and removed.
final class WorkerTemporaryFolder: Sendable {
    let path: String

    private static let number = Atomic(0)
    private static let swept = Mutex<Set<String>>([])

    /// Creates a folder below a base; `nil` if that fails.
    init?(below base: String?, bundle: String) {
        guard let base else { return nil }
        let own = base + "/\(getpid())"
        let number = Self.number.wrappingAdd(1, ordering: .relaxed).newValue
        path = own + "/\(bundle)-\(number)"
        let manager = FileManager.default
        let isPrivate: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try? manager.createDirectory(atPath: own, withIntermediateDirectories: true, attributes: isPrivate)
        Self.sweep(base)
        // An earlier process left a folder with this name.
        _ = csandbox_remove_tree(path)
        guard mkdir(path, 0o700) == 0 else { return nil }
    }

    deinit { remove() }

    /// Removes the folder and its contents. Must be called after the last writer has exited.
    func remove() { _ = csandbox_remove_tree(path) }

    /// Removes the folders of hosts that have exited, once per process.
    private static func sweep(_ base: String) {
        guard swept.withLock({ $0.insert(base).inserted }) else { return }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? [] {
            guard let process = pid_t(name), process > 0, process != getpid() else { continue }
            if kill(process, 0) != 0, errno == ESRCH { _ = csandbox_remove_tree(base + "/" + name) }
        }
    }
}
