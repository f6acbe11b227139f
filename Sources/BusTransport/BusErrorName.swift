// SPDX-License-Identifier: Apache-2.0

/// The D-Bus names of errors.
public enum BusErrorName {
    /// A general failure; the message describes it.
    public static let failed = "com.searchlight.Error.Failed"
    /// The arguments of a message are invalid.
    public static let invalidArguments = "com.searchlight.Error.InvalidArguments"
    /// The method does not exist.
    public static let unknownMethod = "com.searchlight.Error.UnknownMethod"
    /// A limit is exceeded.
    public static let limitsExceeded = "com.searchlight.Error.LimitsExceeded"
}
