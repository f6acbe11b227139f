// SPDX-License-Identifier: Apache-2.0

/// The effect of the entries accepted since the opening on a scope's client state.
package enum ClientStateChange: Hashable, Sendable {
    /// No entry changed the state since the log was opened and replayed.
    case unchanged
    /// The latest entry with an effect deleted everything.
    case cleared
    /// The latest entry with an effect set the state to these bytes.
    case set([UInt8])
}
