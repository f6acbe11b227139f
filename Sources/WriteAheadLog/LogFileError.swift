// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file operation that the system refused.
package struct LogFileError: Error, Hashable, Sendable {
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

    /// Whether the file is simply not there.
    package var isNotFound: Bool { code == ENOENT }
}
