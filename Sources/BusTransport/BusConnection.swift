// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemSupport

/// A D-Bus connection between two processes over a socket, without a bus daemon.
///
/// Each connection has its own thread, but every method may be called from any thread. Handlers are
/// called on the connection's thread and must not block. While the thread waits for its peer,
/// messages are sent on the caller's thread. The handlers that report sending are then also called
/// on the caller's thread: `onSent`, and `reply` for a message that cannot be sent.
///
/// - Important: If the peer sets no ``BusLimits``, send it a descriptor only after the answer to a
///   first call. sd-bus ends a connection on which a descriptor arrives together with the last
///   bytes of the authentication. With limits, the receiving side handles that case.
public final class BusConnection: Sendable {
    /// The side of the connection. D-Bus authentication needs one of each.
    public enum Side: Sendable {
        /// The side that authenticates the other.
        case server
        /// The side that is authenticated.
        case client
    }

    /// Called for each incoming method call.
    public typealias CallHandler = @Sendable (IncomingCall) -> Void
    /// Called once with the result of an outgoing call.
    public typealias ReplyHandler = @Sendable (Result<[BusValue], BusError>) -> Void

    /// Called once with the reason when a connection has ended.
    public typealias EndHandler = @Sendable (BusEnd) -> Void

    /// Decides whether a large call may be read now. Called on the connection's thread, possibly
    /// more than once per call; must not block.
    ///
    /// If it returns `false`, it must call `onOpen` once, on any thread, when the gate may be asked
    /// about the call again. If `isFinal` is `true`, the call may be read without another decision.
    public typealias LargeCallGate = @Sendable (_ onOpen: @escaping @Sendable (_ isFinal: Bool) -> Void) -> Bool

    /// Called for each signal from the message bus itself.
    typealias SignalHandler = @Sendable (BusMember, [BusValue]) -> Void

    /// Returns the handler for a sender's signals. The sender is given by its unique name on a
    /// message bus.
    typealias Listener = @Sendable (String) -> (@Sendable (BusSignal) -> Void)?

    private let mailbox: BusMailbox
    /// The peer's socket, which the thread owns and closes; `nil` on a message bus.
    private let socket: PeerSocket?

    private struct PeerSocket: Sendable { weak var descriptor: OwnedDescriptor? }

    /// Starts a connection over a connected stream socket and takes ownership of the socket.
    ///
    /// - Parameters:
    ///   - socket: The socket; closed when the connection ends.
    ///   - side: The side that this process takes.
    ///   - name: The name of the thread, up to 15 bytes, for debuggers.
    ///   - limits: The limits for the peer, which must be a process of this user; `nil` for a
    ///     trusted peer.
    ///   - gate: Decides when large calls are read. Used only with limits.
    ///   - onCall: Receives incoming calls.
    ///   - onDisconnect: Called once, on the connection's thread, when the peer has disconnected or
    ///     ``close()`` was called.
    /// - Throws: ``BusError/system(operation:code:)``.
    public convenience init(
        adopting socket: OwnedDescriptor, side: Side, name: String, limits: BusLimits? = nil,
        gate: LargeCallGate? = nil, onCall: @escaping CallHandler, onDisconnect: @escaping EndHandler
    ) throws(BusError) {
        try self.init(
            adopting: socket, side: side, name: name, limits: limits, kernel: BusKernel(), gate: gate, onCall: onCall,
            onDisconnect: onDisconnect)
    }

    init(
        adopting socket: OwnedDescriptor, side: Side, name: String, limits: BusLimits?, kernel: BusKernel,
        room: ReceiveBudget = .shared, gate: LargeCallGate? = nil, onCall: @escaping CallHandler,
        onDisconnect: @escaping EndHandler
    ) throws(BusError) {
        mailbox = try BusMailbox()
        self.socket = PeerSocket(descriptor: socket)
        try BusThread.start(
            BusThread.Start(
                origin: .socket(socket, side), name: name, limits: limits, kernel: kernel, room: room, gate: gate,
                mailbox: mailbox, onCall: onCall, onDisconnect: onDisconnect))
    }

    /// Starts a connection to a message bus.
    init(
        address: String, name: String, limits: SenderLimits, onCall: @escaping CallHandler,
        onSignal: @escaping SignalHandler, listener: @escaping Listener, onDisconnect: @escaping EndHandler
    ) throws(BusError) {
        mailbox = try BusMailbox()
        socket = nil
        try BusThread.start(
            BusThread.Start(
                origin: .messageBus(address: address, limits), name: name, limits: nil, kernel: BusKernel(),
                mailbox: mailbox, onCall: onCall, onSignal: onSignal, listener: listener, onDisconnect: onDisconnect))
    }

    deinit { mailbox.close() }

    /// Sends a call; the handler receives the reply on the connection's thread.
    public func call(_ member: BusMember, _ arguments: [BusValue], reply: @escaping ReplyHandler) {
        call(.peer, member, arguments, reply: reply)
    }

    /// Sends a call; the handler receives the reply on the connection's thread.
    ///
    /// - Parameter onSent: Called with the call's serial number (``IncomingCall/serial``) when it
    ///   has been sent, before any reply.
    public func call(
        noting onSent: @escaping @Sendable (UInt64) -> Void, _ member: BusMember, _ arguments: [BusValue],
        reply: @escaping ReplyHandler
    ) {
        call(.peer, member, arguments, onSent: onSent, reply: reply)
    }

    func call(
        _ target: BusTarget, _ member: BusMember, _ arguments: [BusValue], onSent: (@Sendable (UInt64) -> Void)? = nil,
        reply: @escaping ReplyHandler
    ) {
        send(target, member, arguments, onSent: onSent, reply: .own(reply))
    }

    func send(
        _ target: BusTarget, _ member: BusMember, _ arguments: [BusValue], onSent: (@Sendable (UInt64) -> Void)? = nil,
        reply: BusThread.Reply
    ) {
        mailbox.post { thread in
            thread.send(member, arguments, to: target, onSent: onSent, reply: reply)
        } orElse: {
            reply.fail(.disconnected)
        }
    }

    /// Sends a call and waits for the reply. A cancelled task stops waiting immediately; the peer
    /// is not notified.
    public func call(_ member: BusMember, _ arguments: [BusValue] = []) async throws(BusError) -> [BusValue] {
        try await call(.peer, member, arguments)
    }

    /// Sends a call and waits for the reply, as ``call(_:_:)`` does.
    ///
    /// - Parameter onSent: Called with the call's serial number (``IncomingCall/serial``) when it
    ///   has been sent, before any reply.
    public func call(
        noting onSent: @escaping @Sendable (UInt64) -> Void, _ member: BusMember, _ arguments: [BusValue]
    ) async throws(BusError) -> [BusValue] {
        try await call(.peer, member, arguments, onSent: onSent)
    }

    func call(
        _ target: BusTarget, _ member: BusMember, _ arguments: [BusValue], onSent: (@Sendable (UInt64) -> Void)? = nil
    ) async throws(BusError) -> [BusValue] {
        let waiter = Waiter()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard waiter.wait(continuation) else { return }
                call(target, member, arguments, onSent: onSent) { waiter.resume($0) }
            }
        } onCancel: {
            waiter.resume(.failure(.cancelled))
        }
        return try result.get()
    }

    /// Sends a call that expects no reply.
    public func post(_ member: BusMember, _ arguments: [BusValue]) { post(.peer, member, arguments) }

    func post(_ target: BusTarget, _ member: BusMember, _ arguments: [BusValue]) {
        mailbox.post { thread in
            thread.send(member, arguments, to: target, reply: nil)
        } orElse: {
        }
    }

    /// `true` if the peer has closed its end or died, or the connection has ended. The value comes
    /// from `poll`, so it may be `true` before `onDisconnect` is called. Always `false` on a
    /// message bus.
    public var hasHungUp: Bool {
        guard let socket else { return false }
        guard let descriptor = socket.descriptor else { return true }
        var entry = pollfd(fd: descriptor.number, events: 0, revents: 0)
        return poll(&entry, 1, 0) > 0 && Int32(entry.revents) & (POLLHUP | POLLERR) != 0
    }

    /// Ends the connection. Calls in progress fail with ``BusError/disconnected``.
    public func close() { mailbox.close() }
}

/// The name of a method: its interface and its member.
public struct BusMember: Hashable, Sendable {
    /// The interface, such as `com.searchlight.Worker1`.
    public var interface: String
    /// The member, such as `ReindexAll`.
    public var member: String

    /// Creates a name.
    public init(_ interface: String, _ member: String) {
        self.interface = interface
        self.member = member
    }
}

/// A continuation that is resumed by the reply or by cancellation, whichever comes first.
private final class Waiter: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Result<[BusValue], BusError>, Never>)
        case done
    }
    private let state = Mutex(State.idle)

    /// Starts waiting. If the task has already been cancelled, resumes the continuation and returns
    /// `false`.
    func wait(_ continuation: CheckedContinuation<Result<[BusValue], BusError>, Never>) -> Bool {
        let proceed = state.withLock { state in
            guard case .idle = state else { return false }
            state = .waiting(continuation)
            return true
        }
        if !proceed { continuation.resume(returning: .failure(.cancelled)) }
        return proceed
    }

    func resume(_ result: Result<[BusValue], BusError>) {
        let continuation: CheckedContinuation<Result<[BusValue], BusError>, Never>? = state.withLock { state in
            defer { state = .done }
            guard case .waiting(let continuation) = state else { return nil }
            return continuation
        }
        continuation?.resume(returning: result)
    }
}
