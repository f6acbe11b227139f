// SPDX-License-Identifier: Apache-2.0

internal import BusTransport

/// A single connection to the service.
protocol ServiceLink: Sendable {
    /// Sends a call. The reply handler is called once, on any thread; it must not block.
    func call(_ member: BusMember, _ arguments: [BusValue], reply: @escaping BusConnection.ReplyHandler)
    /// Sends a call that has no reply.
    func post(_ member: BusMember, _ arguments: [BusValue])
    /// Ends the connection.
    func close()
}

extension BusConnection: ServiceLink {}

/// Opens connections to the service.
protocol ServiceOpener: Sendable {
    /// Connects, and starts the service if possible. May block for several seconds; never called
    /// concurrently.
    ///
    /// - Parameters:
    ///   - onCall: Receives calls from the service, on the connection's thread.
    ///   - onDisconnect: Called once when the connection ends.
    /// - Throws: ``BusError``; ``ServiceErrorName/absent`` if no service runs and none can be
    ///   started.
    func open(
        onCall: @escaping BusConnection.CallHandler, onDisconnect: @escaping @Sendable () -> Void
    ) throws(BusError) -> any ServiceLink
}
