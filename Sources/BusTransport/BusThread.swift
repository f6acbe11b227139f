// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc
import SystemSupport

/// The thread of a connection, with the state of the connection's sd-bus object.
///
/// `@unchecked Sendable`: all state is accessed only by the holder of the lock in ``BusMailbox``.
/// The thread holds the lock except while it waits in `poll`. During that wait, a caller that runs
/// a job itself holds it.
final class BusThread: @unchecked Sendable {
    /// The endpoint of a connection.
    enum Origin: Sendable {
        /// A connected socket, and the side that this process takes.
        case socket(OwnedDescriptor, BusConnection.Side)
        /// The address of a message bus.
        case messageBus(address: String, SenderLimits)
    }

    struct Start: Sendable {
        let origin: Origin
        let name: String
        let limits: BusLimits?
        let kernel: BusKernel
        /// The memory budget for an untrusted peer's large messages.
        var room = ReceiveBudget.shared
        /// Decides when large messages are read.
        var gate: BusConnection.LargeCallGate?
        let mailbox: BusMailbox
        let onCall: BusConnection.CallHandler
        /// Receives the message bus's own signals.
        var onSignal: BusConnection.SignalHandler?
        /// Returns the handler for a sender's signals on the bus.
        var listener: BusConnection.Listener?
        let onDisconnect: BusConnection.EndHandler
    }

    let start: Start
    let bus: OpaquePointer
    /// The filter between an untrusted peer and sd-bus.
    let input: GuardedInput?
    /// The socket that sd-bus reads from and closes; `nil` if sd-bus created it.
    private let ownSource: Int32?
    /// The messages that are waiting to be sent to an untrusted peer.
    var unsent: UnsentMessages?
    /// The outgoing calls that are waiting for a reply, by serial number.
    var waiting: [UInt64: WaitingCall] = [:]
    /// The incoming calls that are waiting for an answer.
    var unanswered: [CallKey: UnansweredCall] = [:]
    var unansweredBytes = 0
    /// The part of `unansweredBytes` that belongs to calls that need no share of the memory budget.
    var freeBytes = 0
    /// The senders' shares on a message bus.
    var shares: SenderShares?

    /// The key of an incoming call: its sender on a message bus, and its serial number.
    struct CallKey: Hashable, Sendable {
        let sender: String?
        let cookie: UInt64
    }

    /// An outgoing call that waits for a reply.
    struct WaitingCall {
        /// On a message bus, the only sender that may answer the call.
        let destination: String?
        let reply: Reply
    }

    /// The handler of a reply, and the format in which the reply is read.
    enum Reply: Sendable {
        /// The reply contains values of this protocol.
        case own(BusConnection.ReplyHandler)
        /// The reply contains values of another program's interface.
        case foreign(BusService.ReplyHandler)

        func fail(_ error: BusError) {
            switch self {
            case .own(let handler): handler(.failure(error))
            case .foreign(let handler): handler(.failure(error))
            }
        }
    }

    /// An incoming call that waits for an answer.
    struct UnansweredCall {
        let message: OpaquePointer
        let size: Int
        /// The call's share of the memory budget, if it is large.
        let ticket: ReceiveBudget.Ticket?
    }

    static func start(_ start: Start) throws(BusError) {
        let result = OwnThread.start(start.name) { main(start) }
        guard result == 0 else { throw .system(operation: "starting the thread of a connection", code: result) }
    }

    private static func main(_ start: Start) {
        start.mailbox.begin()
        defer { start.mailbox.end() }
        let end: BusEnd
        do {
            let thread = try BusThread(start)
            end = thread.run()
        } catch { end = BusEnd(error) }
        // A shutdown notifies the peer even if another process still has a copy of the descriptor.
        if case .socket(let socket, _) = start.origin { shutdown(socket.number, Int32(SHUT_RDWR)) }
        // Also called if the connection could not be started, because posted jobs must not wait
        // indefinitely.
        start.mailbox.abandon()
        start.onDisconnect(end)
    }

    private init(_ start: Start) throws(BusError) {
        self.start = start
        var created: OpaquePointer?
        guard sd_bus_new(&created) >= 0, let created else {
            throw .system(operation: "creating a connection", code: ENOMEM)
        }
        bus = created
        var handshake: BusHandshake?
        switch start.origin {
        case .socket(let socket, let side):
            do {
                (input, ownSource) = try Self.adopt(socket, side, start, by: created)
            } catch {
                sd_bus_unref(created)
                throw error
            }
            unsent = start.limits.map { UnsentMessages(limits: $0) }
        case .messageBus(let address, let limits):
            (input, ownSource) = (nil, nil)
            shares = SenderShares(limits)
            handshake = try BusHandshake.begin(address, for: bus)
            if handshake == nil {
                try BusMessage.check(sd_bus_set_address(bus, address), "reading the address of the bus")
            }
            try BusMessage.check(sd_bus_set_bus_client(bus, 1), "registering as a client of the bus")
        }
        try BusMessage.check(sd_bus_negotiate_fds(bus, 1), "allowing descriptors")
        try BusMessage.check(sd_bus_start(bus), "starting the connection")
        try handshake?.finish(bus) { [mailbox = start.mailbox] in mailbox.isClosed }
    }

    /// Connects sd-bus to a socket.
    private static func adopt(
        _ socket: OwnedDescriptor, _ side: BusConnection.Side, _ start: Start, by bus: OpaquePointer
    ) throws(BusError) -> (GuardedInput?, Int32?) {
        // sd-bus closes the descriptors that are passed to it, so it gets copies.
        let output = try OwnedDescriptor.copy(socket)
        var input: GuardedInput?
        var source = output
        if let limits = start.limits {
            do {
                (input, source) = try GuardedInput.make(
                    socket, side: side, limits: limits, room: start.room, gate: start.gate
                ) { [mailbox = start.mailbox] in mailbox.signal() }
            } catch {
                close(output)
                throw error
            }
        }
        let taken = sd_bus_set_fd(bus, source, output)
        if taken < 0 {
            close(output)
            if source != output { close(source) }
        }
        try BusMessage.check(taken, "setting the socket")
        if side == .server {
            try BusMessage.check(sd_bus_set_server(bus, 1, sd_id128_t()), "setting the server side")
        }
        return (input, source)
    }

    /// `true` if the thread can only wait for the peer. sd-bus has then passed all messages to the
    /// kernel, and its socket is not full. sd-bus reports a full socket to no other thread.
    var mayRest: Bool {
        var queued: UInt64 = 0
        return sd_bus_get_n_queued_write(bus, &queued) >= 0 && queued == 0 && sd_bus_is_ready(bus) > 0
    }

    /// `true` if callers may send while this thread waits. A connection with limits does not allow
    /// it, because this thread counts the sent bytes after each step. A connection whose
    /// authentication is not complete does not allow it either, because sd-bus would block the
    /// caller until then.
    private var mayBeLent: Bool { start.limits == nil && ownSource != nil && sd_bus_is_ready(bus) > 0 }

    /// The descriptor to poll. If the connection was opened by address, sd-bus may try several
    /// sockets.
    private var source: Int32 { ownSource ?? sd_bus_get_fd(bus) }

    deinit { sd_bus_unref(bus) }

    private func run() -> BusEnd {
        let end: BusEnd
        do { try serve() } catch { end = error }
        // Unsent messages are dropped, since the peer may never read them.
        start.mailbox.abandon()
        sd_bus_close(bus)
        for call in unanswered.values {
            call.ticket?.end()
            sd_bus_message_unref(call.message)
        }
        unanswered = [:]
        input?.end()
        for call in waiting.values { call.reply.fail(.disconnected) }
        waiting = [:]
        return end
    }

    /// Serves the connection until it ends, and throws the reason.
    private func serve() throws(BusEnd) -> Never {
        while true {
            // If a descriptor is to be sent before the authentication is complete, sd-bus itself
            // polls for its completion. sd-bus does not know about the filter, so jobs wait until
            // the connection is open.
            let isOpen = (input == nil && ownSource != nil) || sd_bus_is_ready(bus) > 0
            for job in start.mailbox.takeJobs(only: isOpen) { job.run(self) }
            try input?.pump(mayRead: mayRead)
            var received: OpaquePointer?
            let result = sd_bus_process(bus, &received)
            if let received { handle(BusMessage(adopting: received)) }
            if result == 0 { input?.forgetComplete() }
            try settle()
            if start.mailbox.isClosed { throw .closed }
            if result < 0 { throw BusEnd(processing: -result) }
            if result > 0 || (mayRead && input?.isWaiting == false) { continue }
            if !isOpen, sd_bus_is_ready(bus) > 0 { continue }
            // sd-bus would wait for another authentication attempt, but no valid peer sends
            // messages after a rejection.
            if let input, input.hasBegun, sd_bus_is_ready(bus) == 0 {
                throw .malformed("its authentication was refused")
            }
            try waitForWork()
        }
    }

    /// `true` if an untrusted peer's next message may be read. The first message must wait until
    /// sd-bus has completed the authentication; otherwise sd-bus ends a connection on which a
    /// descriptor arrives with the last bytes of the authentication. Later messages must wait while
    /// too many calls are unanswered.
    private var mayRead: Bool {
        guard let input, let limits = start.limits else { return false }
        if !input.isBetweenMessages { return true }
        return unansweredBytes <= limits.maximumUnansweredBytes && freeBytes <= ReceiveBudget.maximumFreeBytes
            && sd_bus_is_ready(bus) > 0
    }

    /// Ends the connection if its peer does not read.
    private func settle() throws(BusEnd) {
        guard unsent != nil else { return }
        var queued: UInt64 = 0
        guard sd_bus_get_n_queued_write(bus, &queued) >= 0 else { return }
        try unsent?.settle(queued: Int(clamping: queued))
    }

    private func waitForWork() throws(BusEnd) {
        let events = sd_bus_get_events(bus)
        let wake = pollfd(fd: start.mailbox.wake.number, events: Int16(POLLIN), revents: 0)
        guard let input else {
            let both = pollfd(fd: source, events: Int16(truncatingIfNeeded: events), revents: 0)
            var descriptors = [wake, both]
            let time = milliseconds(until: nil)
            start.mailbox.rest(lending: mayBeLent ? self : nil) { _ = start.kernel.wait(&descriptors, time) }
            return
        }
        let own = pollfd(fd: source, events: Int16(truncatingIfNeeded: events & POLLIN), revents: 0)
        let reading = input.isAuthenticating || mayRead
        var descriptors = [wake, own] + input.polls(reading: reading, writing: events & POLLOUT != 0)
        let deadline = input.deadline(now: start.kernel.now)
        _ = start.kernel.wait(&descriptors, milliseconds(until: deadline))
        input.noteReady(descriptors[2...], reading: reading)
        if input.isAbandoned { throw .peerClosed }
        // Computed again, because contention for the memory budget may have changed.
        guard deadline != nil, !input.mayHaveInput, let end = input.deadline(now: start.kernel.now) else { return }
        if start.kernel.now() >= end { throw input.stalled }
    }

    /// Returns the time until sd-bus's next timeout or the deadline, whichever is earlier; -1 for
    /// neither.
    private func milliseconds(until deadline: UInt64?) -> Int32 {
        func left(_ moment: UInt64, _ now: UInt64) -> Int32 {
            moment <= now ? 0 : Int32(clamping: (moment - now) / 1000 + 1)
        }
        var shortest: Int32?
        if let deadline { shortest = left(deadline, start.kernel.now()) }
        var next: UInt64 = UInt64.max
        if sd_bus_get_timeout(bus, &next) >= 0, next != UInt64.max {
            // sd-bus uses the real clock, so its timeout is compared with the real time.
            let own = left(next, BusKernel.monotonicMicroseconds())
            shortest = min(shortest ?? own, own)
        }
        return shortest ?? -1
    }
}

/// The system calls of a connection's thread, except those on its sockets; replaceable in tests.
struct BusKernel: Sendable {
    /// The clock for deadlines, in microseconds.
    var now: @Sendable () -> UInt64 = { monotonicMicroseconds() }
    /// poll(2).
    var wait: @Sendable (_ descriptors: inout [pollfd], _ milliseconds: Int32) -> Int32 = { descriptors, time in
        poll(&descriptors, nfds_t(descriptors.count), time)
    }

    static func monotonicMicroseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1000
    }
}

extension OwnedDescriptor {
    /// Duplicates a descriptor for a function that takes ownership of it.
    fileprivate static func copy(_ descriptor: OwnedDescriptor) throws(BusError) -> Int32 {
        let copy = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .system(operation: "duplicating a socket", code: errno) }
        return copy
    }
}
