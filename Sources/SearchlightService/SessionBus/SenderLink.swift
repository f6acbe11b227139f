// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// The channel to a sender on the session bus, by its unique name.
struct SenderLink: ClientLink {
    let bus: MessageBus
    let sender: String
    let onClose: @Sendable () -> Void

    func call(_ member: BusMember, _ arguments: [BusValue]) async throws(BusError) -> [BusValue] {
        try await bus.call(sender, member, arguments)
    }

    func post(_ member: BusMember, _ arguments: [BusValue]) { bus.post(sender, member, arguments) }

    func close() { onClose() }

    /// Always `false`, because the bus itself reports when a sender has disconnected.
    var hasHungUp: Bool { false }
}
