// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// The channel to a client: its connection, or its name on the session bus. May be used from any
/// thread.
protocol ClientLink: Sendable {
    /// Sends a call and waits for the reply.
    ///
    /// - Throws: ``BusError``.
    func call(_ member: BusMember, _ arguments: [BusValue]) async throws(BusError) -> [BusValue]

    /// Sends a call that has no reply.
    func post(_ member: BusMember, _ arguments: [BusValue])

    /// Ends the conversation.
    func close()

    /// `true` if the client has closed its end, even if no disconnect was reported yet.
    var hasHungUp: Bool { get }
}

extension BusConnection: ClientLink {}
