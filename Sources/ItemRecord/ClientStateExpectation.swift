// SPDX-License-Identifier: Apache-2.0

/// The client state that an index must have for a batch to be accepted.
public enum ClientStateExpectation: Hashable, Sendable, Codable {
    /// Any state.
    case any
    /// These bytes, or none at all for `nil`.
    case exactly([UInt8]?)
}
