// SPDX-License-Identifier: Apache-2.0
import CFiles
import Glibc

/// Renames a staged file or folder to a free name, without ever replacing anything.
enum FreeName {
    private static let maximumNumber = 10_000

    /// Returns the paths to try, in order.
    ///
    /// - Parameter folder: The folder, with a trailing slash.
    static func paths(_ name: FileName, in folder: String) -> some Sequence<String> {
        (1...maximumNumber).lazy.map { folder + name.numbered($0) }
    }

    /// Returns the error if no name is free.
    static func exhausted(_ name: FileName, in folder: String) -> PromiseError {
        .inputOutput(operation: "Finding a free name for", path: folder + name.numbered(1), code: EEXIST)
    }

    /// Renames to a free path. If the file system does not support exclusive renames
    /// (RENAME_NOREPLACE), an empty file or folder first reserves the name, and the rename replaces
    /// it.
    ///
    /// - Returns: 0 or an errno; `EEXIST` if the path is not free.
    static func rename(_ staging: String, to path: String, isFolder: Bool) -> Int32 {
        let code = -cfiles_rename_exclusively(staging, path)
        guard code == EINVAL || code == ENOSYS || code == EOPNOTSUPP else { return code }
        return renameOverPlaceholder(staging, to: path, isFolder: isFolder)
    }

    static func renameOverPlaceholder(_ staging: String, to path: String, isFolder: Bool) -> Int32 {
        if isFolder {
            guard mkdir(path, 0o700) == 0 else { return errno }
        } else {
            let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard number >= 0 else { return errno }
            close(number)
        }
        guard Glibc.rename(staging, path) == 0 else {
            let code = errno
            if isFolder { rmdir(path) } else { unlink(path) }
            return code
        }
        return 0
    }
}
