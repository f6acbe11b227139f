// SPDX-License-Identifier: Apache-2.0

/// An entry and its place in the order of all entries.
struct JournalRecord: Hashable, Sendable {
    /// Its sequence number.
    var sequence: UInt64
    /// What was journaled.
    var entry: JournalEntry
}
