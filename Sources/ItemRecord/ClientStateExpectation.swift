// SPDX-License-Identifier: Apache-2.0

/// The client state: bytes with which an app identifies its last durable batch.
public enum ClientState {
    /// The longest client state, in bytes (according to Apple's documentation of batches).
    public static let maximumBytes = 250
}

/// The client state that an index must have for a batch to be accepted.
public enum ClientStateExpectation: Hashable, Sendable {
    /// Any state.
    case any
    /// Exactly these bytes; `nil` means no client state.
    case exactly([UInt8]?)
}
