// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// The way back to a client: its connection, or its name on the session bus. May be used from any thread.
protocol ClientLink: Sendable {
    /// Sends a call and waits for the reply.
    ///
    /// - Throws: ``BusError``.
    func call(_ member: BusMember, _ arguments: [BusValue]) async throws(BusError) -> [BusValue]

    /// Sends a call that expects no reply.
    func post(_ member: BusMember, _ arguments: [BusValue])

    /// Ends the conversation.
    func close()

    /// Whether the client is known to have gone, even if nobody was told yet.
    var hasHungUp: Bool { get }
}

extension BusConnection: ClientLink {}
