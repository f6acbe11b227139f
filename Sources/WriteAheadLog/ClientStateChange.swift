// SPDX-License-Identifier: Apache-2.0

/// The net change to a scope's client state by the entries accepted since the log was opened.
package enum ClientStateChange: Hashable, Sendable {
    /// No entry changed the state since the log was opened and replayed.
    case unchanged
    /// The latest entry that affected the state deleted everything.
    case cleared
    /// The latest entry that affected the state set it to these bytes.
    case set([UInt8])
}
