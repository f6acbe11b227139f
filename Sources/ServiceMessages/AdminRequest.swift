// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// What a program of the user's that sees the whole index asks of the service.
public enum AdminRequest {
    /// One of the calls of an engine: its name, a number that the client chooses, and its fields (`sta{sv}`). Answer: `a{sv}`
    /// with `answer` or `error`. Read and answered by the engine's own module, which knows the names.
    public static let performMember = BusMember("com.searchlight.Engine2", "Perform")
    /// Ends a call, by its number (`t`).
    public static let cancelMember = BusMember("com.searchlight.Engine2", "Cancel")
    /// Called by the service while it performs a call: the call's number and its progress (`a{sv}`). An answer asks for more.
    public static let eventMember = BusMember("com.searchlight.Engine2", "Event")
}
