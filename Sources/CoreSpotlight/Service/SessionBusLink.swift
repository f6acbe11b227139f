// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
import Dispatch
import Glibc
internal import ServiceMessages
import Synchronization

/// A link to the service over the session bus, for processes that cannot see its socket, for
/// example in a sandbox.
final class SessionBusLink: ServiceLink {
    private let bus: MessageBus
    /// The service's unique bus name. Calls to this service do not reach a service that is started
    /// later.
    private let owner: String
    private let state: State

    private final class State: Sendable {
        let owner = Mutex<String?>(nil)
        let end = Mutex<BusEnd?>(nil)
        /// A semaphore that is signalled once the reason for the end of the connection is known.
        let ended = DispatchSemaphore(value: 0)
    }

    /// The maximum time in seconds for connecting and starting the service.
    static let patience = 20

    /// Starts the service through the bus, unless it is already running, and connects to it.
    ///
    /// Blocks for at most ``patience`` seconds. If the bus connection is lost, it waits for at most
    /// the same time again for the reason, which usually arrives at once.
    ///
    /// - Throws: ``BusError``: `system` if there is no bus, `remote` if the bus cannot start the
    ///   service.
    init(
        address: String, patience: Int = SessionBusLink.patience, onCall: @escaping BusConnection.CallHandler,
        onDisconnect: @escaping @Sendable () -> Void
    ) throws(BusError) {
        let state = State()
        self.state = state
        let bus = try MessageBus(
            address: address, name: "searchlight-bus",
            onCall: { call in
                // Any process on the bus could pretend to be the service.
                guard let sender = call.sender, state.owner.withLock({ $0 }) == sender else {
                    return call.refuse(
                        name: ServiceErrorName.accessDenied, message: "Only the service may call an app.")
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
            // The reason arrives after the calls have failed.
            if case .disconnected = error { _ = state.ended.wait(timeout: .now() + .seconds(patience)) }
            guard case .disconnected = error, case .system(_, let code)? = state.end.withLock({ $0 }) else {
                throw error
            }
            throw .system(operation: "connecting to the session bus at \(address)", code: code)
        }
        let owner = owner
        state.owner.withLock { $0 = owner }
    }

    /// Starts the service through the bus, and returns when the service owns its name.
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
            // The service may have exited before the watch was set up.
            if try await bus.owner(of: MessageBus.serviceName) == owner { return owner }
            bus.unwatch(owner)
        }
    }

    func call(_ member: BusMember, _ arguments: [BusValue], reply: @escaping BusConnection.ReplyHandler) {
        bus.call(owner, member, arguments) { result in
            // The bus reports that the service has exited with its own error names.
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

    /// Waits for asynchronous work on a thread that may block.
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
