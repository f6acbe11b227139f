// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import ServiceMessages
import Synchronization
import SystemSupport

/// The command's side of a connection to the service: the first call, calls of the engine, and the progress of these.
final class ServiceConnection: Sendable {
    private let bus: BusConnection
    private let listeners: Listeners
    private let lastNumber = Atomic<UInt64>(0)

    /// Who is told of the progress of which call.
    private final class Listeners: Sendable {
        private let all = Mutex<[UInt64: @Sendable (ExtensionEvent) -> Void]>([:])

        func set(_ number: UInt64, _ listener: (@Sendable (ExtensionEvent) -> Void)?) {
            all.withLock { $0[number] = listener }
        }

        /// Takes what the service calls.
        func receive(_ call: IncomingCall) {
            var arguments = BusArguments(call.arguments, of: call.member.member)
            guard call.member == ShellRequest.eventMember, let json = try? arguments.bytes(),
                let message = try? CallCoding.decode(EventMessage.self, json)
            else { return call.refuse(name: BusErrorName.unknownMethod, message: "Only progress is taken here.") }
            if let listener = all.withLock({ $0[message.number] }) {
                for event in message.events { listener(event) }
            }
            call.reply()
        }
    }

    private init(_ bus: BusConnection, _ listeners: Listeners) { (self.bus, self.listeners) = (bus, listeners) }

    /// Says hello over a connected socket.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - path: What it is called, for messages.
    ///   - program: What this program is called, for the service's log.
    ///   - patience: How long an answer may take.
    /// - Throws: ``EngineError/service(_:)``.
    static func open(
        over socket: OwnedDescriptor, path: String, program: String, patience: Duration
    ) async throws(EngineError) -> ServiceConnection {
        let listeners = Listeners()
        do throws(BusError) {
            let bus = try BusConnection(adopting: socket, side: .client, name: "service") {
                listeners.receive($0)
            } onDisconnect: { _ in
            }
            let hello = Hello(role: .shell, bundle: nil, program: program)
            let values = try await call(bus, Hello.member, hello.arguments, patience: patience)
            var arguments = BusArguments(values, of: Hello.member.member)
            _ = try Welcome(&arguments)
            return ServiceConnection(bus, listeners)
        } catch {
            switch error {
            case .cancelled:
                throw .service(.notAnswering(path: path, seconds: Int(patience.components.seconds)))
            case .remote(ServiceErrorName.unsupportedVersion, let message):
                throw .service(.otherVersion(reason: message))
            default: throw .service(ServiceProblem(error, during: "take a connection"))
            }
        }
    }

    /// Calls and waits no longer than so; then it fails with ``BusError/cancelled``.
    static func call(
        _ bus: BusConnection, _ member: BusMember, _ arguments: [BusValue], patience: Duration
    ) async throws(BusError) -> [BusValue] {
        let asking = Task { () -> Result<[BusValue], BusError> in
            do throws(BusError) { return .success(try await bus.call(member, arguments)) } catch {
                return .failure(error)
            }
        }
        let timer = Task {
            try? await Task.sleep(for: patience)
            asking.cancel()
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            await asking.value
        } onCancel: {
            asking.cancel()
        }.get()
    }

    /// Has the service carry out a call.
    ///
    /// - Parameters:
    ///   - call: What is asked.
    ///   - payload: What follows it.
    ///   - onEvent: Told of its progress, on the connection's thread.
    /// - Returns: The answer, and what follows that.
    func perform<Call: EngineCall>(
        _ call: Call, sending payload: Payload? = nil, onEvent: (@Sendable (ExtensionEvent) -> Void)? = nil
    ) async throws(EngineError) -> (answer: Call.Answer, rest: BusArguments) {
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        let json: [UInt8]
        do throws(CallCodingError) {
            json = try CallCoding.encode(NumberedCall(number: number, call: call))
        } catch {
            throw .service(.refused(during: call.purpose, reason: error.reason))
        }
        guard json.count <= CallCoding.maximumRequestBytes else {
            throw .service(
                .requestTooLarge(during: call.purpose, bytes: json.count, limit: CallCoding.maximumRequestBytes))
        }
        if let onEvent { listeners.set(number, onEvent) }
        defer { if onEvent != nil { listeners.set(number, nil) } }
        let arguments = [.string(Call.name), .bytes(json)] + (payload?.arguments ?? [])
        let outcome: CallOutcome<Call.Answer>
        var rest: BusArguments
        do throws(BusError) {
            let values = try await bus.call(ShellRequest.performMember, arguments)
            rest = BusArguments(values, of: ShellRequest.performMember.member)
            outcome = try Self.outcome(of: call, try rest.bytes())
        } catch {
            if case .cancelled = error { cancel(number) }
            throw EngineError(error, during: call.purpose)
        }
        switch outcome {
        case .answer(let answer): return (answer, rest)
        case .failure(let error): throw error
        }
    }

    private static func outcome<Call: EngineCall>(
        of call: Call, _ json: [UInt8]
    ) throws(BusError) -> CallOutcome<Call.Answer> {
        do throws(CallCodingError) {
            return try CallCoding.decode(CallOutcome<Call.Answer>.self, json)
        } catch {
            throw .malformed(error.reason)
        }
    }

    /// Tells the service that nobody waits for a call any more.
    private func cancel(_ number: UInt64) {
        guard let json = try? CallCoding.encode(number) else { return }
        bus.post(ShellRequest.performMember, [.string(EngineCallsConnection.cancelName), .bytes(json)])
    }

    func close() { bus.close() }
}

extension EngineError {
    /// What became of a call whose connection failed.
    init(_ error: BusError, during purpose: String) {
        if case .cancelled = error {
            self = .query(.cancelled)
        } else {
            self = .service(ServiceProblem(error, during: purpose))
        }
    }
}

extension ServiceProblem {
    /// Why a call failed on its way.
    init(_ error: BusError, during purpose: String) {
        self =
            switch error {
            case .disconnected: .ended(during: purpose)
            case .malformed(let what): .malformedAnswer(during: purpose, reason: what)
            case .remote, .system, .cancelled: .refused(during: purpose, reason: error.description)
            }
    }
}
