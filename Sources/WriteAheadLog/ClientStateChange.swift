// SPDX-License-Identifier: Apache-2.0

/// What became of a scope's client state through the entries that a log accepted since it was opened.
package enum ClientStateChange: Hashable, Sendable {
    /// No entry touched it: it is what it was when the log was opened and replayed.
    case unchanged
    /// The latest entry that touched it deleted everything.
    case cleared
    /// The latest entry that touched it set it to these bytes.
    case set([UInt8])
}
