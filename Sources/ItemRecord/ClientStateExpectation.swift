// SPDX-License-Identifier: Apache-2.0

/// A client state: bytes by which an app finds out which of its batches is the last durable one.
public enum ClientState {
    /// The longest, in bytes (Apple's documentation of batches).
    public static let maximumBytes = 250
}

/// The client state that an index must have for a batch to be accepted.
public enum ClientStateExpectation: Hashable, Sendable {
    /// Any state.
    case any
    /// These bytes, or none at all for `nil`.
    case exactly([UInt8]?)
}
