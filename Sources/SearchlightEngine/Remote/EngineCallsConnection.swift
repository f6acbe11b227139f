// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import Synchronization

/// What one client asks of the engine: reads its calls, lets a bounded number of them run, and cancels them when it goes.
public final class EngineCallsConnection: Sendable {
    /// The most calls of one client that run at the same time.
    static let maximumRunning = 16
    /// The name under which a call is cancelled; `call` is its number.
    static let cancelName = "cancel"

    private struct State {
        var connection: BusConnection?
        var running: [UInt64: Task<Void, Never>] = [:]
        var hasEnded = false
    }
    private let state = Mutex(State())
    private let calls: EngineCalls

    /// Creates the service's side of a connection.
    public init(_ calls: EngineCalls) { self.calls = calls }

    /// Hands over the connection, for progress to be told over it. Held until ``end()``.
    public func attach(_ connection: BusConnection) {
        state.withLock { if !$0.hasEnded { $0.connection = connection } }
    }

    /// Ends what runs. To be called when the client is gone.
    public func end() {
        let running = state.withLock { state in
            (state.hasEnded, state.connection) = (true, nil)
            return Array(state.running.values)
        }
        for task in running { task.cancel() }
    }

    /// Takes a call of ``ShellRequest/performMember`` and answers it when it is done. Never blocks.
    public func receive(_ call: IncomingCall) {
        do throws(BusError) {
            var arguments = BusArguments(call.arguments, of: call.member.member)
            guard call.member == ShellRequest.performMember else { throw Self.unknown(call.member) }
            let name = try arguments.string()
            let json = try arguments.bytes()
            guard json.count <= CallCoding.maximumRequestBytes else {
                throw .remote(
                    name: BusErrorName.limitsExceeded,
                    message: "The request has \(json.count) bytes; the limit is \(CallCoding.maximumRequestBytes).")
            }
            let payload = call.arguments.count == 2 ? nil : try Payload(&arguments)
            try arguments.finish()
            if name == Self.cancelName {
                let number: UInt64 = try Self.decode(name, json)
                state.withLock { $0.running[number] }?.cancel()
                return call.reply()
            }
            try start(try EngineCalls.kind(name), json, payload, call)
        } catch {
            call.refuse(error)
        }
    }

    private static func unknown(_ member: BusMember) -> BusError {
        .remote(
            name: BusErrorName.unknownMethod, message: "There is no method \(member.interface).\(member.member).")
    }

    private static func decode<Value: Decodable>(_ name: String, _ json: [UInt8]) throws(BusError) -> Value {
        do throws(CallCodingError) {
            return try CallCoding.decode(Value.self, json)
        } catch {
            throw .remote(
                name: BusErrorName.invalidArguments, message: "The request “\(name)” is malformed: \(error.reason).")
        }
    }

    private func start<Call: EngineCall>(
        _ kind: Call.Type, _ json: [UInt8], _ payload: Payload?, _ incoming: IncomingCall
    ) throws(BusError) {
        let numbered: NumberedCall<Call> = try Self.decode(Call.name, json)
        let number = numbered.number
        let problem: String? = state.withLock { state in
            guard !state.hasEnded else { return "The connection has ended." }
            guard state.running[number] == nil else { return "A call with the number \(number) is running." }
            guard state.running.count < Self.maximumRunning else {
                return "\(Self.maximumRunning) calls of this client are running. Wait for one of them."
            }
            // Created while nobody else may look, so that it is noted before it can take itself out.
            state.running[number] = Task { await self.run(numbered, payload, incoming) }
            return nil
        }
        if let problem { throw .remote(name: BusErrorName.limitsExceeded, message: problem) }
    }

    private func run<Call: EngineCall>(
        _ numbered: NumberedCall<Call>, _ payload: Payload?, _ incoming: IncomingCall
    ) async {
        let relay = EventRelay(number: numbered.number) { [self] message in await send(message) }
        let result = await calls.perform(numbered, payload: payload) { relay.take($0) }
        await relay.finish()
        state.withLock { $0.running[numbered.number] = nil }
        incoming.reply([.bytes(result.json)] + result.attached)
    }

    /// Sends what happened and waits until the client took it; one that is gone or does not want it gets no more.
    private func send(_ message: EventMessage) async {
        guard let connection = state.withLock({ $0.connection }), let json = try? CallCoding.encode(message) else {
            return
        }
        _ = try? await connection.call(ShellRequest.eventMember, [.bytes(json)])
    }
}

extension IncomingCall {
    /// Answers with an error.
    fileprivate func refuse(_ error: BusError) {
        switch error {
        case .remote(let name, let message): refuse(name: name, message: message)
        case .malformed: refuse(name: BusErrorName.invalidArguments, message: error.description)
        case .disconnected, .cancelled, .system: refuse(name: BusErrorName.failed, message: error.description)
        }
    }
}
