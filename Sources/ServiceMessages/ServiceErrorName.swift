// SPDX-License-Identifier: Apache-2.0

/// The D-Bus error names of the service, in addition to ``BusErrorName`` and ``ExtensionStatus``.
public enum ServiceErrorName {
    /// The client may not make this call; the message states why.
    public static let accessDenied = "com.searchlight.Error.AccessDenied"
    /// An item cannot be indexed.
    public static let invalidItem = "com.searchlight.Error.InvalidItem"
    /// A client state is longer than 250 bytes.
    public static let invalidClientState = "com.searchlight.Error.InvalidClientState"
    /// The stored client state differs from the expected one; nothing was changed.
    public static let mismatchedClientState = "com.searchlight.Error.MismatchedClientState"
    /// A query is malformed; the message states the position and the expected text.
    public static let invalidQuery = "com.searchlight.Error.InvalidQuery"
    /// The client uses an unsupported version of the protocol.
    public static let unsupportedVersion = "com.searchlight.Error.UnsupportedVersion"
    /// No service is running, and none can be started. Created by the client itself.
    public static let absent = "com.searchlight.Error.Absent"
    /// The service does not answer. Created by the client itself.
    public static let unreachable = "com.searchlight.Error.Unreachable"
    /// An app that was started exited with an error.
    public static let crashed = "com.searchlight.Error.Crashed"
    /// An app did not answer in time.
    public static let timedOut = "com.searchlight.Error.TimedOut"
    /// The disk is full, or the store cannot be written; the message includes advice.
    public static let storeNotWritable = "com.searchlight.Error.StoreNotWritable"
    /// The index is protected, and either locked or without keys; the message includes advice.
    public static let protected = "com.searchlight.Error.Protected"
}
