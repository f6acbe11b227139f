// SPDX-License-Identifier: Apache-2.0

/// The mode in which a file of the log is opened.
package enum LogFileMode: Hashable, Sendable {
    /// Opens an existing file for reading.
    case read
    /// Opens an existing file for reading and writing.
    case update
    /// Creates a file or empties an existing one.
    case create
}
