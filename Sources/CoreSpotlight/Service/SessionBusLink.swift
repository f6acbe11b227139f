// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
import Dispatch
import Glibc
internal import ServiceMessages
import Synchronization

/// The service over the session bus: for who cannot see its socket, as from inside of a sandbox.
final class SessionBusLink: ServiceLink {
    private let bus: MessageBus
    /// The unique name of the service; what is asked of a service that was started since is not for it.
    private let owner: String
    private let state: State

    private final class State: Sendable {
        let owner = Mutex<String?>(nil)
        let end = Mutex<BusEnd?>(nil)
        /// Signalled once the end is known.
        let ended = DispatchSemaphore(value: 0)
    }

    /// How long all of connecting may take, the start of the service included.
    static let patience = 20

    /// Has the bus start the service, unless it runs, and connects to it. Blocks for at most ``patience`` seconds,
    /// and as long again at most for the reason of a bus that is lost, which comes at once.
    ///
    /// - Throws: ``BusError``: `system` without a bus, `remote` when it cannot start the service.
    init(
        address: String, patience: Int = SessionBusLink.patience, onCall: @escaping BusConnection.CallHandler,
        onDisconnect: @escaping @Sendable () -> Void
    ) throws(BusError) {
        let state = State()
        self.state = state
        let bus = try MessageBus(
            address: address, name: "searchlight-bus",
            onCall: { call in
                // Anybody on the bus could pretend to be the service.
                guard let sender = call.sender, state.owner.withLock({ $0 }) == sender else {
                    return call.refuse(
                        name: ServiceErrorName.accessDenied, message: "Only the service may ask an app.")
                }
                onCall(call)
            },
            onDisconnect: { end in
                state.end.withLock { $0 = end }
                state.ended.signal()
                onDisconnect()
            })
        self.bus = bus
        do throws(BusError) {
            owner = try Self.wait(patience) { () throws(BusError) in try await Self.start(bus) }
        } catch {
            bus.close()
            // The reason is told once the calls have failed.
            if case .disconnected = error { _ = state.ended.wait(timeout: .now() + .seconds(patience)) }
            guard case .disconnected = error, case .system(_, let code)? = state.end.withLock({ $0 }) else {
                throw error
            }
            throw .system(operation: "connecting to the session bus at \(address)", code: code)
        }
        let owner = owner
        state.owner.withLock { $0 = owner }
    }

    /// Has the bus start the service, and returns once it has its name there.
    static func startService(address: String) throws(BusError) {
        try SessionBusLink(address: address, onCall: { _ in }, onDisconnect: {}).close()
    }

    private static func start(_ bus: MessageBus) async throws(BusError) -> String {
        while true {
            let owner: String
            do throws(BusError) { owner = try await bus.owner(of: MessageBus.serviceName) } catch {
                guard case .remote = error else { throw error }
                try await bus.startService(MessageBus.serviceName)
                owner = try await bus.owner(of: MessageBus.serviceName)
            }
            try await bus.watch(owner) { bus.close() }
            // It may have gone before it was watched.
            if try await bus.owner(of: MessageBus.serviceName) == owner { return owner }
            bus.unwatch(owner)
        }
    }

    func call(_ member: BusMember, _ arguments: [BusValue], reply: @escaping BusConnection.ReplyHandler) {
        bus.call(owner, member, arguments) { result in
            // The bus says it in its own way that the service is gone.
            if case .failure(.remote(let name, _)) = result, Self.meansGone.contains(name) {
                reply(.failure(.disconnected))
            } else {
                reply(result)
            }
        }
    }

    func post(_ member: BusMember, _ arguments: [BusValue]) { bus.post(owner, member, arguments) }

    func close() { bus.close() }

    private static let meansGone: Set<String> = Set(
        ["NoReply", "ServiceUnknown", "NameHasNoOwner", "Disconnected"].map { "org.freedesktop.DBus.Error." + $0 })

    /// Waits for what is asynchronous on a thread that may block.
    private static func wait<Value: Sendable>(
        _ seconds: Int, _ body: @escaping @Sendable () async throws(BusError) -> Value
    ) throws(BusError) -> Value {
        let done = DispatchSemaphore(value: 0)
        let outcome = Outcome<Value>()
        let task = Task {
            let result: Result<Value, BusError>
            do throws(BusError) { result = .success(try await body()) } catch { result = .failure(error) }
            outcome.result.withLock { $0 = result }
            done.signal()
        }
        guard done.wait(timeout: .now() + .seconds(seconds)) == .success,
            let result = outcome.result.withLock({ $0 })
        else {
            task.cancel()
            throw .system(operation: "waiting \(seconds) s for the session bus to start the service", code: ETIMEDOUT)
        }
        return try result.get()
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, BusError>?>(nil)
    }
}
