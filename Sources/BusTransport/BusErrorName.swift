// SPDX-License-Identifier: Apache-2.0

/// The names of the errors that travel over a connection.
public enum BusErrorName {
    /// Something went wrong; the message says what.
    public static let failed = "com.searchlight.Error.Failed"
    /// A message with wrong arguments.
    public static let invalidArguments = "com.searchlight.Error.InvalidArguments"
    /// No such method.
    public static let unknownMethod = "com.searchlight.Error.UnknownMethod"
    /// Too much at once.
    public static let limitsExceeded = "com.searchlight.Error.LimitsExceeded"
}
