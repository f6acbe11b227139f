// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file operation that the system refused.
package struct LogFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was attempted, as it reads in a sentence: "writing", "fdatasync".
    package var operation: String
    /// The file or folder.
    package var path: String
    /// The system's `errno`.
    package var code: Int32

    /// Says what failed.
    package init(operation: String, path: String, code: Int32) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// Whether there is no room left on the device, or in the quota.
    package var isFull: Bool { [ENOSPC, EDQUOT].contains(code) }
    /// Whether this user may not write the file, or not read it.
    package var isNotPermitted: Bool { [EROFS, EACCES, EPERM].contains(code) }

    /// The error: what was attempted, what happened, what to do.
    package var description: String {
        let reason =
            if isFull {
                "the device is full. Make room and try again"
            } else if isNotPermitted {
                "not permitted. Check its permissions, or whether it is mounted read-only"
            } else {
                strerror(code).map { String(cString: $0) } ?? "error \(code)"
            }
        return "\(operation) \(path) failed: \(reason)."
    }

    /// Whether the file is simply not there.
    package var isNotFound: Bool { code == ENOENT }
}
