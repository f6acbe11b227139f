// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc
import SystemSupport

/// The thread that serves a connection, and all that belongs to the connection's sd-bus object.
///
/// `@unchecked Sendable`: all of it is touched only by who has the turn (``BusMailbox``): the thread, which has it but while it
/// waits in `poll`, or meanwhile one who does a job in its place.
final class BusThread: @unchecked Sendable {
    /// What a connection is made of.
    enum Origin: Sendable {
        /// A connected socket, and which end of it this is.
        case socket(OwnedDescriptor, BusConnection.Side)
        /// The address of a message bus.
        case messageBus(address: String, SenderLimits)
    }

    struct Start: Sendable {
        let origin: Origin
        let name: String
        let limits: BusLimits?
        let kernel: BusKernel
        /// For large messages of a peer that is not trusted.
        var room = ReceiveBudget.shared
        /// Decides when these are read.
        var gate: BusConnection.LargeCallGate?
        let mailbox: BusMailbox
        let onCall: BusConnection.CallHandler
        /// Receives the signals of a message bus.
        var onSignal: BusConnection.SignalHandler?
        /// Who hears the signals of somebody on it.
        var listener: BusConnection.Listener?
        let onDisconnect: BusConnection.EndHandler
    }

    let start: Start
    let bus: OpaquePointer
    /// Between the peer and sd-bus, when the peer is not trusted.
    let input: GuardedInput?
    /// The socket from which sd-bus reads, and which it closes; `nil` where sd-bus made it.
    private let ownSource: Int32?
    /// What waits to be sent, when the peer is not trusted.
    var unsent: UnsentMessages?
    /// Outgoing calls that wait for a reply, by the serial number of the message.
    var waiting: [UInt64: WaitingCall] = [:]
    /// Incoming calls that wait for an answer.
    var unanswered: [CallKey: UnansweredCall] = [:]
    var unansweredBytes = 0
    /// Of these, the bytes of calls that need no room.
    var freeBytes = 0
    /// How much of these is whose, on a message bus.
    var shares: SenderShares?

    /// What tells incoming calls apart: the sender, on a message bus, and the serial number of the message.
    struct CallKey: Hashable, Sendable {
        let sender: String?
        let cookie: UInt64
    }

    /// An outgoing call that waits for a reply.
    struct WaitingCall {
        /// Who alone may answer it, on a message bus.
        let destination: String?
        let reply: Reply
    }

    /// Who receives the reply of a call, and how it is read.
    enum Reply: Sendable {
        /// As this protocol's values.
        case own(BusConnection.ReplyHandler)
        /// As another program's.
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
        /// Its room, if it is large.
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
        // The peer learns of it even while somebody still holds the descriptor.
        if case .socket(let socket, _) = start.origin { shutdown(socket.number, Int32(SHUT_RDWR)) }
        // Also when the connection could not even be begun: whoever has posted a job waits for its end.
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
            try BusMessage.check(sd_bus_set_address(bus, address), "reading the address of the bus")
            try BusMessage.check(sd_bus_set_bus_client(bus, 1), "speaking as the client of a bus")
        }
        try BusMessage.check(sd_bus_negotiate_fds(bus, 1), "allowing descriptors")
        try BusMessage.check(sd_bus_start(bus), "starting the connection")
    }

    /// Has sd-bus speak over a socket.
    private static func adopt(
        _ socket: OwnedDescriptor, _ side: BusConnection.Side, _ start: Start, by bus: OpaquePointer
    ) throws(BusError) -> (GuardedInput?, Int32?) {
        // sd-bus closes the descriptors it is given, hence the copies.
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

    /// Whether there is nothing to do but to wait for the peer: sd-bus has handed on to the kernel all that was to be sent,
    /// and has not found thereby that the peer takes nothing more, of which the kernel tells nobody who waits.
    var mayRest: Bool {
        var queued: UInt64 = 0
        return sd_bus_get_n_queued_write(bus, &queued) >= 0 && queued == 0 && sd_bus_is_ready(bus) > 0
    }

    /// Whether others may send while this thread waits: not where what is sent is counted after each step; and not before the
    /// authentication, for whose end sd-bus would have them wait.
    private var mayBeLent: Bool { start.limits == nil && ownSource != nil && sd_bus_is_ready(bus) > 0 }

    /// What to wait for: with an address, sd-bus may try one socket after the other.
    private var source: Int32 { ownSource ?? sd_bus_get_fd(bus) }

    deinit { sd_bus_unref(bus) }

    private func run() -> BusEnd {
        let end: BusEnd
        do { try serve() } catch { end = error }
        // What is still unsent is not waited for: the peer may never read it.
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

    /// Serves until the end, which it throws.
    private func serve() throws(BusEnd) -> Never {
        while true {
            // sd-bus waits in its own way for the end of the authentication when it is to send a descriptor before, and
            // that way does not know of the guard.
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
            // sd-bus would wait for another attempt, behind which no peer that is in its right mind sends messages.
            if let input, input.hasBegun, sd_bus_is_ready(bus) == 0 {
                throw .malformed("its authentication was refused")
            }
            try waitForWork()
        }
    }

    /// Whether the next message may be read from a peer that is not trusted: not before sd-bus has done with the
    /// authentication, as it would end a connection on which a descriptor comes with the last bytes of that; and not
    /// while the peer is that far ahead of its answers.
    private var mayRead: Bool {
        guard let input, let limits = start.limits else { return false }
        if !input.isBetweenMessages { return true }
        return unansweredBytes <= limits.maximumUnansweredBytes && freeBytes <= ReceiveBudget.maximumFreeBytes
            && sd_bus_is_ready(bus) > 0
    }

    /// Ends the connection to a peer that does not read.
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
        // Asked again: whether others wait for room may have changed.
        guard deadline != nil, !input.mayHaveInput, let end = input.deadline(now: start.kernel.now) else { return }
        if start.kernel.now() >= end { throw input.stalled }
    }

    /// How long to wait for sd-bus's next moment or the deadline, whichever is first; -1 without either.
    private func milliseconds(until deadline: UInt64?) -> Int32 {
        func left(_ moment: UInt64, _ now: UInt64) -> Int32 {
            moment <= now ? 0 : Int32(clamping: (moment - now) / 1000 + 1)
        }
        var shortest: Int32?
        if let deadline { shortest = left(deadline, start.kernel.now()) }
        var next: UInt64 = UInt64.max
        if sd_bus_get_timeout(bus, &next) >= 0, next != UInt64.max {
            // On the real clock, because sd-bus is.
            let own = left(next, BusKernel.monotonicMicroseconds())
            shortest = min(shortest ?? own, own)
        }
        return shortest ?? -1
    }
}

/// What a connection's thread asks of the system besides its sockets, so that tests can watch it wait.
struct BusKernel: Sendable {
    /// The clock of the deadlines, in microseconds.
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
    /// The number of a second descriptor for the same open file, for who closes it itself.
    fileprivate static func copy(_ descriptor: OwnedDescriptor) throws(BusError) -> Int32 {
        let copy = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .system(operation: "duplicating a socket", code: errno) }
        return copy
    }
}
