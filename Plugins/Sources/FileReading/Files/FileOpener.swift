// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Opens files and directories. Tests replace it to make any file fail to open.
package struct FileOpener: Sendable {
    /// Opens `name`, which is relative to the directory or absolute, with open(2) flags. Returns a
    /// descriptor that the caller owns, or throws the skip reason for the error number. Called on
    /// any thread.
    package var open: @Sendable (_ directory: Int32, _ name: String, _ flags: Int32) throws(SkipReason) -> Int32

    package init(open: @escaping @Sendable (Int32, String, Int32) throws(SkipReason) -> Int32) {
        self.open = open
    }

    /// The opener that calls openat(2).
    package static let system = FileOpener { (directory, name, flags) throws(SkipReason) -> Int32 in
        while true {
            let descriptor = openat(directory, name, flags | O_CLOEXEC)
            if descriptor >= 0 { return descriptor }
            let code = errno
            if code != EINTR { throw SkipReason(errno: code) }
        }
    }

    /// Opens a configured folder, which may be a symbolic link.
    func folder(_ path: String) throws(SkipReason) -> Descriptor {
        try descriptor(in: nil, name: path, flags: O_RDONLY | O_DIRECTORY)
    }

    func descriptor(in directory: Descriptor?, name: String, flags: Int32) throws(SkipReason) -> Descriptor {
        Descriptor(raw: try open(directory?.raw ?? AT_FDCWD, name, flags))
    }
}

/// Owns a file descriptor and closes it on deinitialization.
package final class Descriptor: Sendable {
    package let raw: Int32

    init(raw: Int32) { self.raw = raw }

    deinit { close(raw) }

    func status() throws(SkipReason) -> stat {
        var status = stat()
        guard fstat(raw, &status) == 0 else { throw SkipReason(errno: errno) }
        return status
    }

    /// Returns the status of an entry of this directory.
    func status(ofEntry name: String, followingLinks: Bool) throws(SkipReason) -> stat {
        var status = stat()
        guard fstatat(raw, name, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else {
            throw SkipReason(errno: errno)
        }
        return status
    }
}
