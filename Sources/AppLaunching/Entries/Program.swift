// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Returns `true` if a path leads to a regular file that this user may execute.
func isProgram(_ path: String) -> Bool {
    var status = stat()
    return !path.utf8.contains(0) && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        && access(path, X_OK) == 0
}

/// Returns `true` if a path leads to a folder.
func isFolder(_ path: String) -> Bool {
    var status = stat()
    return !path.utf8.contains(0) && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

/// Returns `true` if a file of any kind exists at a path.
func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }
