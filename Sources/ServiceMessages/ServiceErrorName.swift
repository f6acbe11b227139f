// SPDX-License-Identifier: Apache-2.0

/// The names of the errors with which the service answers a client, besides those of ``BusErrorName`` and
/// ``ExtensionStatus``.
public enum ServiceErrorName {
    /// This client may not ask that; the message says why.
    public static let accessDenied = "com.searchlight.Error.AccessDenied"
    /// An item cannot be indexed as it is.
    public static let invalidItem = "com.searchlight.Error.InvalidItem"
    /// A client state is longer than 250 bytes.
    public static let invalidClientState = "com.searchlight.Error.InvalidClientState"
    /// The stored client state is not the expected one; nothing was changed.
    public static let mismatchedClientState = "com.searchlight.Error.MismatchedClientState"
    /// A query cannot be understood; the message says where and what was expected.
    public static let invalidQuery = "com.searchlight.Error.InvalidQuery"
    /// The client speaks another version of the protocol.
    public static let unsupportedVersion = "com.searchlight.Error.UnsupportedVersion"
    /// No service runs, and nothing is there that would start one; a client says so to itself.
    public static let absent = "com.searchlight.Error.Absent"
    /// No service answers; a client says so to itself.
    public static let unreachable = "com.searchlight.Error.Unreachable"
    /// The disk is full, or the store cannot be written; the message says what to do.
    public static let storeNotWritable = "com.searchlight.Error.StoreNotWritable"
}
