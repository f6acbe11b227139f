// SPDX-License-Identifier: Apache-2.0

/// What became of a scope's client state through the entries that a journal accepted since it was opened.
enum JournalStateChange: Hashable, Sendable {
    /// No entry touched it: it is what it was when the journal was opened and replayed.
    case unchanged
    /// The latest entry that touched it deleted everything.
    case cleared
    /// The latest entry that touched it set it to these bytes.
    case set([UInt8])
}
