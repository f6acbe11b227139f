// SPDX-License-Identifier: Apache-2.0

/// The counters of a log since it was opened, and its current sizes.
package struct LogStatistics: Hashable, Sendable {
    /// The number of the last durable entry; 0 if there has never been one.
    package var lastSequence: UInt64 = 0
    /// The number of segments.
    package var segments = 0
    /// The total length of the segments, in bytes.
    package var bytes = 0
    /// The number of groups that became durable.
    package var groups = 0
    /// The number of failed groups.
    package var failedGroups = 0
    /// The number of failed writes of the note of the last durable entry. The entries are durable
    /// nevertheless.
    package var headFailures = 0
}
