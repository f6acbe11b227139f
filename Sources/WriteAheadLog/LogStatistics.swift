// SPDX-License-Identifier: Apache-2.0

/// What a log has done since it was opened, and what it holds.
package struct LogStatistics: Hashable, Sendable {
    /// The number of the last durable entry; 0 if there was none ever.
    package var lastSequence: UInt64 = 0
    /// How many segments there are.
    package var segments = 0
    /// How long they are together, in bytes.
    package var bytes = 0
    /// How many groups became durable.
    package var groups = 0
    /// How many groups failed.
    package var failedGroups = 0
    /// How often the note of the last durable entry could not be written; the entries were durable all the same.
    package var headFailures = 0
}
