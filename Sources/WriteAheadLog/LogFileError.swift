// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A failed file operation.
package struct LogFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the operation, as used in a sentence: "writing", "fdatasync".
    package var operation: String
    /// The path of the file or folder.
    package var path: String
    /// The value of `errno`.
    package var code: Int32

    /// Creates an error.
    package init(operation: String, path: String, code: Int32) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// `true` if the device or the quota is full.
    package var isFull: Bool { [ENOSPC, EDQUOT].contains(code) }
    /// `true` if the user may not write or read the file.
    package var isNotPermitted: Bool { [EROFS, EACCES, EPERM].contains(code) }

    /// A message with the operation, the problem and the remedy.
    package var description: String {
        let reason =
            if isFull {
                "the device is full. Make room and try again"
            } else if isNotPermitted {
                "not permitted. Check its permissions and whether it is mounted read-only"
            } else {
                strerror(code).map { String(cString: $0) } ?? "error \(code)"
            }
        return "\(operation) \(path) failed: \(reason)."
    }

    /// `true` if the file does not exist.
    package var isNotFound: Bool { code == ENOENT }
}
