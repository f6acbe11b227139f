// SPDX-License-Identifier: Apache-2.0
import GRDBSQLite
import Glibc

/// Restricts SQLite, in the whole process, to opening regular files and folders. A store's files
/// are checked before it is opened. If one of them is replaced later, SQLite must not block, as on
/// a named pipe, or read a device.
enum RegularFilesOnly {
    /// Installs the restriction; later calls have no effect.
    static func begin() { _ = isSet }

    private static let isSet: Bool = {
        typealias Open = @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32
        let opening: Open = { path, flags, mode in
            guard let path else {
                errno = EINVAL
                return -1
            }
            // Checks the type before opening, because merely opening a device can have side
            // effects.
            var status = stat()
            if lstat(path, &status) == 0, !RegularFilesOnly.isAllowed(status) {
                errno = EINVAL
                return -1
            }
            let number = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, mode_t(mode))
            guard number >= 0 else { return number }
            guard fstat(number, &status) == 0, RegularFilesOnly.isAllowed(status) else {
                close(number)
                errno = EINVAL
                return -1
            }
            return number
        }
        guard let system = sqlite3_vfs_find(nil), let set = system.pointee.xSetSystemCall else { return false }
        return set(system, "open", unsafeBitCast(opening, to: sqlite3_syscall_ptr.self)) == SQLITE_OK
    }()

    private static func isAllowed(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG || status.st_mode & S_IFMT == S_IFDIR
    }
}
