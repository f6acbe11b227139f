// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import ServiceMessages
import Synchronization
import SystemSupport

/// The client side of a connection to the service: the handshake, calls to the engine, and their
/// progress.
final class EngineConnection: Sendable {
    private let bus: BusConnection
    private let listeners: Listeners
    private let lastNumber = Atomic<UInt64>(0)

    /// The progress handlers by call number.
    private final class Listeners: Sendable {
        private let all = Mutex<[UInt64: @Sendable (ExtensionEvent) -> Void]>([:])

        func set(_ number: UInt64, _ listener: (@Sendable (ExtensionEvent) -> Void)?) {
            all.withLock { $0[number] = listener }
        }

        /// Processes a message from the service.
        func receive(_ call: IncomingCall) {
            var arguments = BusArguments(call.arguments, of: call.member.member)
            guard call.member == AdminRequest.eventMember, let fields = try? arguments.dictionary(),
                let message = try? BusDecoder.decode(EventMessage.self, from: .dictionary(fields))
            else {
                return call.refuse(name: BusErrorName.unknownMethod, message: "This connection only accepts progress.")
            }
            if let listener = all.withLock({ $0[message.number] }) {
                for event in message.events { listener(event) }
            }
            call.reply()
        }
    }

    private init(_ bus: BusConnection, _ listeners: Listeners) { (self.bus, self.listeners) = (bus, listeners) }

    /// Performs the handshake over a connected socket.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - path: The socket's path, for messages.
    ///   - program: The name of this program, for the service's log.
    ///   - patience: The time limit for a reply.
    /// - Throws: ``EngineError/service(_:)``.
    static func open(
        over socket: OwnedDescriptor, path: String, program: String, patience: Duration
    ) async throws(EngineError) -> EngineConnection {
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
            return EngineConnection(bus, listeners)
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

    /// Performs a bus call with a time limit. When the limit is exceeded, it throws
    /// ``BusError/cancelled``.
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

    /// Performs a call in the service.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - onEvent: Called with the call's progress, on the connection's thread.
    func perform<Call: ClientCall>(
        _ call: Call, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Call.Answer {
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        let fields: BusValue
        do throws(BusCodingError) { fields = try BusEncoder.encode(call) } catch {
            throw .service(.refused(during: call.purpose, reason: error.description))
        }
        guard fields.approximateBytes <= ClientCallSession.maximumRequestBytes else {
            throw .service(
                .requestTooLarge(
                    during: call.purpose, bytes: fields.approximateBytes, limit: ClientCallSession.maximumRequestBytes))
        }
        listeners.set(number, onEvent)
        defer { listeners.set(number, nil) }
        let outcome: Result<Call.Answer, EngineError>
        do throws(BusError) {
            let values = try await bus.call(
                AdminRequest.performMember, [.string(Call.name), .unsigned(number), fields])
            outcome = try Self.outcome(of: call, values)
        } catch {
            if case .cancelled = error { bus.post(AdminRequest.cancelMember, [.unsigned(number)]) }
            throw EngineError(error, during: call.purpose)
        }
        return try outcome.get()
    }

    private static func outcome<Call: ClientCall>(
        of call: Call, _ values: [BusValue]
    ) throws(BusError) -> Result<Call.Answer, EngineError> {
        var arguments = BusArguments(values, of: AdminRequest.performMember.member)
        let fields = try arguments.dictionary()
        try arguments.finish()
        do throws(BusCodingError) {
            switch try BusDecoder.decode(CallOutcome<Call.Answer>.self, from: .dictionary(fields)) {
            case .answer(let answer): return .success(answer)
            case .failure(let error): return .failure(error)
            }
        } catch {
            throw .malformed(error.description)
        }
    }

    func close() { bus.close() }
}

extension EngineError {
    /// Creates the error for a call whose connection failed.
    init(_ error: BusError, during purpose: String) {
        if case .cancelled = error {
            self = .query(.cancelled)
        } else {
            self = .service(ServiceProblem(error, during: purpose))
        }
    }
}

extension ServiceProblem {
    /// Creates the problem for a call whose connection failed.
    init(_ error: BusError, during purpose: String) {
        self =
            switch error {
            case .disconnected: .ended(during: purpose)
            case .malformed(let what): .malformedAnswer(during: purpose, reason: what)
            case .remote, .system, .cancelled: .refused(during: purpose, reason: error.description)
            }
    }
}
