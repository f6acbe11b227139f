// SPDX-License-Identifier: Apache-2.0

/// The mode in which a log file is opened.
package enum LogFileMode: Hashable, Sendable {
    /// Opens an existing file for reading.
    case read
    /// Opens an existing file for reading and writing.
    case update
    /// Creates a file, or truncates an existing one.
    case create
}
