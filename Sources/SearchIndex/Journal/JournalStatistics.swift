// SPDX-License-Identifier: Apache-2.0

/// What a journal has done since it was opened, and what it holds.
struct JournalStatistics: Hashable, Sendable {
    /// The number of the last durable entry; 0 if there was none ever.
    var lastSequence: UInt64 = 0
    /// How many segments there are.
    var segments = 0
    /// How long they are together, in bytes.
    var bytes = 0
    /// How many groups became durable.
    var groups = 0
    /// How many groups failed.
    var failedGroups = 0
    /// How often the note of the last durable entry could not be written; the entries were durable all the same.
    var headFailures = 0
}
