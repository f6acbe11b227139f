// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import Synchronization

/// The calls from one client. It decodes them, runs a limited number at a time, and cancels them
/// when the client disconnects.
package final class ClientCallSession: Sendable {
    /// The maximum number of calls from one client that run at the same time.
    static let maximumRunning = 16
    /// The maximum size of a request in bytes.
    static let maximumRequestBytes = 33 << 20

    private struct State {
        var connection: BusConnection?
        var running: [UInt64: Task<Void, Never>] = [:]
        var hasEnded = false
    }
    private let state = Mutex(State())
    private let handler: ClientCallHandler

    /// Creates the service's side of a connection.
    package init(_ handler: ClientCallHandler) { self.handler = handler }

    /// Sets the connection for progress messages. It is retained until ``end()``.
    package func attach(_ connection: BusConnection) {
        state.withLock { if !$0.hasEnded { $0.connection = connection } }
    }

    /// Cancels all running calls. Call it when the client disconnects.
    package func end() {
        let running = state.withLock { state in
            (state.hasEnded, state.connection) = (true, nil)
            return Array(state.running.values)
        }
        for task in running { task.cancel() }
    }

    /// Processes a request. The reply to a call follows when the call has finished. Never blocks.
    package func take(_ request: AdminRequest, _ incoming: IncomingCall) {
        switch request {
        case .perform(let name, let number, let fields):
            do throws(BusError) {
                guard fields.approximateBytes <= Self.maximumRequestBytes else {
                    throw .remote(
                        name: BusErrorName.limitsExceeded,
                        message: """
                            The request has \(fields.approximateBytes) bytes; the limit is \(Self.maximumRequestBytes).
                            """)
                }
                try start(try ClientCallHandler.kind(name), number, fields, incoming)
            } catch {
                incoming.refuse(error)
            }
        case .cancel(let number):
            state.withLock { $0.running[number] }?.cancel()
            incoming.reply()
        }
    }

    private func start<Call: ClientCall>(
        _ kind: Call.Type, _ number: UInt64, _ fields: BusValue, _ incoming: IncomingCall
    ) throws(BusError) {
        let call: Call
        do throws(BusCodingError) { call = try BusDecoder.decode(kind, from: fields) } catch {
            throw .remote(
                name: BusErrorName.invalidArguments, message: "The request “\(Call.name)” is malformed: \(error).")
        }
        let problem: String? = state.withLock { state in
            guard !state.hasEnded else { return "The connection has ended." }
            guard state.running[number] == nil else { return "A call with the number \(number) is running." }
            guard state.running.count < Self.maximumRunning else {
                return "\(Self.maximumRunning) calls of this client are running. Wait until one ends."
            }
            // The task is created under the lock, so that it is recorded before it can remove
            // itself.
            state.running[number] = Task { await self.run(call, number, incoming) }
            return nil
        }
        if let problem { throw .remote(name: BusErrorName.limitsExceeded, message: problem) }
    }

    private func run<Call: ClientCall>(_ call: Call, _ number: UInt64, _ incoming: IncomingCall) async {
        let relay = EventRelay(number: number) { [self] message in await send(message) }
        let outcome = await handler.perform(call) { relay.take($0) }
        await relay.finish()
        state.withLock { $0.running[number] = nil }
        incoming.reply([outcome])
    }

    /// Sends a progress message and waits for the client's reply. Errors are ignored.
    private func send(_ message: EventMessage) async {
        guard let connection = state.withLock({ $0.connection }), let value = try? BusEncoder.encode(message) else {
            return
        }
        _ = try? await connection.call(AdminRequest.eventMember, [value])
    }
}
