// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import Synchronization

/// This process's named staging files and folders.
enum UnfinishedFiles {
    private static let paths = Mutex<[String: Bool]>([:])

    static func add(_ path: String, isFolder: Bool = false) { paths.withLock { $0[path] = isFolder } }
    static func forget(_ path: String) { paths.withLock { $0[path] = nil } }

    /// Removes all of them, or those below a folder.
    static func removeAll(below folder: String = "") {
        paths.withLock { paths in
            for (path, isFolder) in paths where path.hasPrefix(folder) {
                if isFolder { csandbox_remove_tree(path) } else { unlink(path) }
                paths[path] = nil
            }
        }
    }
}
