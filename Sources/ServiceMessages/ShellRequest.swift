// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// What a shell asks of the service.
public enum ShellRequest {
    /// One of the calls of an engine: a name, JSON, and a ``Payload`` where the call has one. Answer: JSON, and a payload or
    /// a file where the call has one. Read and answered by the engine's own module, which knows the names.
    public static let performMember = BusMember("com.searchlight.Engine1", "Perform")
    /// Called by the service while it performs a call: JSON about its progress. An answer asks for more.
    public static let eventMember = BusMember("com.searchlight.Engine1", "Event")
}
