// SPDX-License-Identifier: Apache-2.0

internal import BusTransport

/// One connection to the service, for as long as it lasts.
protocol ServiceLink: Sendable {
    /// Sends a call. The reply comes once, on any thread; it must not block.
    func call(_ member: BusMember, _ arguments: [BusValue], reply: @escaping BusConnection.ReplyHandler)
    /// Sends a call that has no reply.
    func post(_ member: BusMember, _ arguments: [BusValue])
    /// Ends the connection.
    func close()
}

extension BusConnection: ServiceLink {}

/// Makes connections to the service.
protocol ServiceOpener: Sendable {
    /// Connects, and starts the service if that can be done. May block for some seconds; never called twice at once.
    ///
    /// - Parameters:
    ///   - onCall: Receives what the service asks, on the connection's thread.
    ///   - onDisconnect: Called once when the connection is over.
    /// - Throws: ``BusError``: ``ServiceErrorName/absent`` when no service runs and nothing would start one.
    func open(
        onCall: @escaping BusConnection.CallHandler, onDisconnect: @escaping @Sendable () -> Void
    ) throws(BusError) -> any ServiceLink
}
