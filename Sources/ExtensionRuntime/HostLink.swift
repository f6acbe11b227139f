// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages

/// The way from an extension back to its host.
public protocol HostLink: Sendable {
    /// Sends a request. The completion is called once, on any thread, with the arguments of the answer.
    func send(_ request: HostRequest, completion: @escaping @Sendable (Result<[BusValue], BusError>) -> Void)
    /// Sends a message that nobody answers; never blocks.
    func post(_ message: HostRequest)
}

/// The way over a connection.
struct BusHostLink: HostLink {
    let connection: BusConnection

    func send(_ request: HostRequest, completion: @escaping @Sendable (Result<[BusValue], BusError>) -> Void) {
        connection.call(request.member, request.arguments, reply: completion)
    }

    func post(_ message: HostRequest) { connection.post(message.member, message.arguments) }
}
