// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemSupport

/// A D-Bus connection between two processes over a socket, without a bus daemon.
///
/// The connection has a thread of its own; every method here may be called from any thread. Handlers are called on that thread
/// and must not block; what is sent while it waits for its peer is sent on the caller's thread, and then the handlers that are
/// told of that at once are called there too: `onSent`, and `reply` for what cannot be sent.
///
/// - Important: To a peer that sets no ``BusLimits`` a descriptor may be sent only once a first call was answered: sd-bus
///   ends a connection on which a descriptor arrives together with the last bytes of the authentication. With limits the
///   receiving side takes care of that.
public final class BusConnection: Sendable {
    /// Which end of the socket pair this is; D-Bus authentication needs one of each.
    public enum Side: Sendable {
        /// The end that authenticates the other.
        case server
        /// The end that says who it is.
        case client
    }

    /// Called for each incoming method call.
    public typealias CallHandler = @Sendable (IncomingCall) -> Void
    /// Called with the outcome of an outgoing call, once.
    public typealias ReplyHandler = @Sendable (Result<[BusValue], BusError>) -> Void

    /// Called with the reason when a connection has ended, once.
    public typealias EndHandler = @Sendable (BusEnd) -> Void

    /// Decides whether a large call may be read now. Called on the connection's thread, perhaps more than once for a call;
    /// must not block.
    ///
    /// If it may not, `onOpen` is called once, on any thread, when the call may be asked for again, or, with `true`, when it
    /// is to be read in any case.
    public typealias LargeCallGate = @Sendable (_ onOpen: @escaping @Sendable (_ isFinal: Bool) -> Void) -> Bool

    /// Called for each signal of a message bus itself.
    typealias SignalHandler = @Sendable (BusMember, [BusValue]) -> Void

    /// Says who hears the signals of somebody on a message bus, by the sender's unique name.
    typealias Listener = @Sendable (String) -> (@Sendable (BusSignal) -> Void)?

    private let mailbox: BusMailbox
    /// The thread's, which closes it; `nil` on a message bus.
    private let socket: PeerSocket?

    private struct PeerSocket: Sendable { weak var descriptor: OwnedDescriptor? }

    /// Starts a connection over a connected stream socket and takes the socket over.
    ///
    /// - Parameters:
    ///   - socket: The socket; closed when the connection ends.
    ///   - side: Which end this is.
    ///   - name: The name of the thread, up to 15 bytes, for debuggers.
    ///   - limits: What is taken from the peer, which must be a process of this user; `nil` for a peer that is trusted.
    ///   - gate: Decides when large calls are read, where there are limits.
    ///   - onCall: Receives incoming calls.
    ///   - onDisconnect: Called once, on the connection's thread, when the peer is gone or ``close()`` was called.
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

    /// Sends a call; the handler gets the reply on the connection's thread.
    public func call(_ member: BusMember, _ arguments: [BusValue], reply: @escaping ReplyHandler) {
        call(.peer, member, arguments, reply: reply)
    }

    /// Sends a call; the handler gets the reply on the connection's thread.
    ///
    /// - Parameter onSent: Told the serial number of the call (``IncomingCall/serial``) once it was sent, before any reply.
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

    /// Sends a call and waits for the reply. A cancelled task stops waiting at once; the peer is not told.
    public func call(_ member: BusMember, _ arguments: [BusValue] = []) async throws(BusError) -> [BusValue] {
        try await call(.peer, member, arguments)
    }

    /// Sends a call and waits for the reply, as ``call(_:_:)`` does.
    ///
    /// - Parameter onSent: Told the serial number of the call (``IncomingCall/serial``) once it was sent, before any reply.
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

    /// Whether the peer has closed its end or died, as the kernel says at this moment, or the connection has ended; before
    /// `onDisconnect` is called. Always `false` on a message bus.
    public var hasHungUp: Bool {
        guard let socket else { return false }
        guard let descriptor = socket.descriptor else { return true }
        var entry = pollfd(fd: descriptor.number, events: 0, revents: 0)
        return poll(&entry, 1, 0) > 0 && Int32(entry.revents) & (POLLHUP | POLLERR) != 0
    }

    /// Ends the connection; calls under way fail with ``BusError/disconnected``.
    public func close() { mailbox.close() }
}

/// The name of a method: an interface and a member of it.
public struct BusMember: Hashable, Sendable {
    /// The interface, e.g. `com.searchlight.Worker1`.
    public var interface: String
    /// The member, e.g. `ReindexAll`.
    public var member: String

    /// Creates a name.
    public init(_ interface: String, _ member: String) {
        self.interface = interface
        self.member = member
    }
}

/// A continuation that is resumed by whichever comes first: the reply or the cancellation.
private final class Waiter: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Result<[BusValue], BusError>, Never>)
        case done
    }
    private let state = Mutex(State.idle)

    /// Starts waiting; `false` if it was cancelled before (the continuation is then resumed).
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
