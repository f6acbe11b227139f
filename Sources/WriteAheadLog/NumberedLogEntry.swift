// SPDX-License-Identifier: Apache-2.0

/// An entry with its number.
package struct NumberedLogEntry: Hashable, Sendable {
    /// The sequence number.
    package var sequence: UInt64
    /// The entry.
    package var entry: LogEntry
}
