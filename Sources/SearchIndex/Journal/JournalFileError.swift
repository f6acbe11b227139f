// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file operation that the system refused.
struct JournalFileError: Error, Hashable, Sendable {
    /// What was attempted, as it reads in a sentence: "writing", "fdatasync".
    var operation: String
    /// The file or folder.
    var path: String
    /// The system's `errno`.
    var code: Int32

    /// Whether the file is simply not there.
    var isNotFound: Bool { code == ENOENT }
}
