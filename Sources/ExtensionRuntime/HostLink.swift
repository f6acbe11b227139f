// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages

/// The connection from an extension to its host.
public protocol HostLink: Sendable {
    /// Sends a request. The completion is called once, on any thread, with the arguments of the
    /// reply.
    func send(_ request: HostRequest, completion: @escaping @Sendable (Result<[BusValue], BusError>) -> Void)
    /// Sends a message that has no reply. Never blocks.
    func post(_ message: HostRequest)
}

/// Sends the requests over the D-Bus connection on which the host started this worker.
struct BusHostLink: HostLink {
    let connection: BusConnection

    func send(_ request: HostRequest, completion: @escaping @Sendable (Result<[BusValue], BusError>) -> Void) {
        connection.call(request.member, request.arguments, reply: completion)
    }

    func post(_ message: HostRequest) { connection.post(message.member, message.arguments) }
}
