// SPDX-License-Identifier: Apache-2.0

/// An entry and its place in the order of all entries.
package struct NumberedLogEntry: Hashable, Sendable {
    /// Its sequence number.
    package var sequence: UInt64
    /// What was logged.
    package var entry: LogEntry
}
