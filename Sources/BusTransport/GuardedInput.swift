// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import Synchronization
import SystemSupport

/// A filter between an untrusted peer and sd-bus. sd-bus alone would buffer 128 MiB of an endless
/// message, silently drop messages that it does not understand, and leak descriptors.
///
/// sd-bus reads from an inner socket. The ``FrameTracker`` checks the peer's bytes, and only valid
/// bytes are written to the inner socket, on the same thread. sd-bus writes directly to the peer.
/// Confined to the connection's thread.
final class GuardedInput {
    let socket: OwnedDescriptor
    private let inner: OwnedDescriptor
    private let limits: BusLimits
    private var tracker: FrameTracker
    /// The bytes that were read. The range `sent..<filled` has not been written to the inner socket
    /// yet.
    private var buffer = [UInt8](repeating: 0, count: GuardedInput.smallBuffer)
    private var filled = 0
    private var sent = 0
    private var descriptors: [OwnedDescriptor] = []
    /// `false` from an empty read until `poll` reports input again.
    private(set) var mayHaveInput = true
    /// `true` if the inner socket is full.
    private(set) var isBlocked = false
    private var hasEnded = false
    /// `true` if the peer hung up while reading was suspended.
    private(set) var isAbandoned = false
    private let room: ReceiveBudget
    private let wake: @Sendable () -> Void
    /// The ticket of the current message for the memory budget, if the message is large.
    private var ticket: ReceiveBudget.Ticket?
    private let gate: CallGate
    /// `true` if the current message may be read completely.
    private var isAdmitted = false
    /// `true` if a large message waits for the gate or for the memory budget.
    private(set) var waitsForRoom = false
    /// The tickets of complete messages that sd-bus has not delivered yet, by serial number, oldest
    /// first.
    private var complete: [(serial: UInt64, ticket: ReceiveBudget.Ticket)] = []
    /// The start time and the number of the current incomplete message.
    private var halfSince: (time: UInt64, message: UInt64)?
    /// The last time when no other message waited for the budget that the current message holds.
    private var lookedAt: UInt64 = 0

    /// The initial size of the buffer, which is enough for most messages.
    private static let smallBuffer = 4 << 10
    /// The number of bytes of a large message that are moved at a time; larger than any header.
    private static let largeBuffer = 64 << 10

    /// Creates a filter.
    ///
    /// - Returns: The filter, and the socket that sd-bus reads from and closes.
    static func make(
        _ socket: OwnedDescriptor, side: BusConnection.Side, limits: BusLimits, room: ReceiveBudget,
        gate: BusConnection.LargeCallGate?, wake: @escaping @Sendable () -> Void
    ) throws(BusError) -> (input: GuardedInput, source: Int32) {
        precondition(limits.maximumHeaderBytes <= largeBuffer)
        precondition(limits.maximumDescriptors <= csystem_maximum_descriptors)
        var process: pid_t = 0
        var user: uid_t = 0
        // sd-bus compares the user that a client claims to be with the peer of its input socket.
        // That peer is now this process, so the user is checked here.
        guard csystem_peer(socket.number, &process, &user) == 0 else {
            throw .system(operation: "getting the user of the other process", code: errno)
        }
        guard user == getuid() else { throw .system(operation: "serving another user's process", code: EPERM) }
        var pair: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw .system(operation: "creating a pair of sockets", code: errno)
        }
        let inner = OwnedDescriptor(adopting: pair[0])
        return (
            GuardedInput(
                socket: socket, inner: inner, limits: limits, room: room, gate: gate, wake: wake,
                tracker: FrameTracker(sender: side == .server ? .client : .server, limits: limits)),
            pair[1]
        )
    }

    private init(
        socket: OwnedDescriptor, inner: OwnedDescriptor, limits: BusLimits, room: ReceiveBudget,
        gate: BusConnection.LargeCallGate?, wake: @escaping @Sendable () -> Void, tracker: FrameTracker
    ) {
        (self.room, self.wake) = (room, wake)
        self.gate = CallGate(gate, wake)
        self.socket = socket
        self.inner = inner
        self.limits = limits
        self.tracker = tracker
    }

    /// `true` if no byte of the next message has been read, so that suspending reads interrupts no
    /// message.
    var isBetweenMessages: Bool { !tracker.isHalfSent }

    /// Returns the ticket of a message that sd-bus has delivered. Releases the tickets of earlier
    /// messages.
    func takeRoom(of serial: UInt64) -> ReceiveBudget.Ticket? {
        guard let index = complete.firstIndex(where: { $0.serial == serial }) else { return nil }
        let ticket = complete[index].ticket
        complete.removeSubrange(...index)
        return ticket
    }

    /// Releases the tickets of messages that sd-bus handled internally. Call this when sd-bus has
    /// nothing more to read.
    func forgetComplete() {
        if !isBlocked && !complete.isEmpty { complete = [] }
    }

    /// Releases all tickets.
    func end() { (ticket, complete) = (nil, []) }

    /// `true` until the authentication is complete.
    var isAuthenticating: Bool { tracker.isAuthenticating }

    /// `true` if sd-bus has received the whole authentication.
    var hasBegun: Bool { !tracker.isAuthenticating && !isBlocked }

    /// `true` if no work is possible until `poll` reports an event.
    var isWaiting: Bool { isBlocked || !mayHaveInput || hasEnded || waitsForRoom }

    /// Returns the descriptors and events to poll in addition to sd-bus's own.
    func polls(reading: Bool, writing: Bool) -> [pollfd] {
        let events = (reading && !isBlocked && !hasEnded && !waitsForRoom ? POLLIN : 0) | (writing ? POLLOUT : 0)
        // poll(2) reports a hang-up even without requested events. While reading is suspended, a
        // hang-up ends the connection; otherwise it would wake the thread repeatedly.
        let isWatched = events != 0 || isPutOff(reading: reading)
        return [
            pollfd(fd: isWatched ? socket.number : -1, events: Int16(events), revents: 0),
            pollfd(fd: isBlocked ? inner.number : -1, events: Int16(POLLOUT), revents: 0),
        ]
    }

    /// Returns `true` if reading is suspended, for the memory budget or until earlier calls are
    /// answered. This may take long, so a peer that has disconnected must lose its share and its
    /// position in the queue. Its unread messages were not acknowledged.
    private func isPutOff(reading: Bool) -> Bool { !hasEnded && (waitsForRoom || !reading) }

    /// Processes the results of polling ``polls(reading:writing:)``.
    func noteReady(_ polls: ArraySlice<pollfd>, reading: Bool) {
        guard let outer = polls.first, let inner = polls.last else { return }
        if Int32(outer.revents) & POLLHUP != 0, isPutOff(reading: reading) { isAbandoned = true }
        if Int32(outer.revents) & ~POLLOUT != 0 { mayHaveInput = true }
        if inner.revents != 0 { isBlocked = false }
    }

    /// Returns the time by which the current message must be complete, on the clock of `now`; `nil`
    /// if no message is incomplete.
    func deadline(now: () -> UInt64) -> UInt64? {
        guard tracker.isHalfSent, !hasEnded, !waitsForRoom else {
            halfSince = nil
            return nil
        }
        if halfSince?.message != tracker.completed { halfSince = (now(), tracker.completed) }
        guard let since = halfSince?.time else { return nil }
        guard ticket != nil else { return since + limits.stallTimeout }
        // Contention is checked in each call, since it may change at any time.
        if lookedAt < since { lookedAt = since }
        if ticket?.isContended != true, now() >= lookedAt + ReceiveBudget.patience { lookedAt = now() }
        return min(since + limits.stallTimeout, lookedAt + ReceiveBudget.patience)
    }

    /// The reason for disconnecting a peer that exceeded its deadline.
    var stalled: BusEnd {
        let what = tracker.isAuthenticating ? "an authentication" : "a message"
        if ticket?.isContended == true {
            let seconds = ReceiveBudget.patience / 1_000_000
            return .violated("a message that was not complete after \(seconds) s while others waited for its memory")
        }
        return .violated("\(what) that was not complete after \(limits.stallTimeout / 1_000_000) s")
    }

    /// Moves the available bytes to sd-bus, up to the end of one message.
    ///
    /// - Parameter mayRead: `true` if sd-bus is ready for the next message.
    func pump(mayRead: Bool) throws(BusEnd) {
        isBlocked = false
        let begun = tracker.completed
        while true {
            if sent < filled && tracker.mayForward { try forward() }
            guard !isBlocked, mayHaveInput, !hasEnded, tracker.completed == begun else { break }
            guard tracker.isAuthenticating || mayRead else { break }
            waitsForRoom = !admitCurrent()
            guard !waitsForRoom else { break }
            let wasAuthenticating = tracker.isAuthenticating
            let current = tracker.current
            try read()
            if tracker.completed != begun, let ticket, let current {
                complete.append((UInt64(current.serial), ticket))
                self.ticket = nil
            }
            if tracker.completed != begun { isAdmitted = false }
            // The following bytes wait until sd-bus is ready for messages, which only the caller
            // can check.
            if wasAuthenticating && !tracker.isAuthenticating { break }
        }
        if sent < filled && tracker.mayForward && !isBlocked { try forward() }
        // The remaining bytes belong to a header that will never be complete.
        if hasEnded && !isBlocked { shutdown(inner.number, Int32(SHUT_WR)) }
        if !isBlocked && !tracker.isHalfSent && buffer.count > Self.smallBuffer {
            buffer = [UInt8](repeating: 0, count: Self.smallBuffer)
        }
    }

    /// Returns `true` if the current message may be read. Once its header is complete, a large
    /// message must pass the gate and get a share of the memory budget.
    private func admitCurrent() -> Bool {
        guard !isAdmitted, let current = tracker.current, current.bytes > ReceiveBudget.freeBytes else { return true }
        // While the message waits for the budget, the gate is checked again, since its condition
        // may have changed.
        guard !current.isCall || gate.isOpen() else {
            ticket = nil
            return false
        }
        let ticket = ticket ?? room.ask(current.bytes, onGrant: wake)
        self.ticket = ticket
        isAdmitted = ticket.isGranted
        if isAdmitted { gate.forget() }
        return isAdmitted
    }

    private func read() throws(BusEnd) {
        if sent == filled { (sent, filled) = (0, 0) }
        let wanted = min(tracker.wanted, Self.largeBuffer)
        if buffer.count - filled < wanted {
            var larger = [UInt8](repeating: 0, count: filled + Self.largeBuffer)
            larger.replaceSubrange(..<filled, with: buffer[..<filled])
            buffer = larger
        }
        var numbers = [Int32](repeating: -1, count: Int(csystem_maximum_descriptors))
        var count: Int32 = 0
        var truncated: Int32 = 0
        let start = filled
        let result = buffer.withUnsafeMutableBytes { bytes in
            csystem_receive(socket.number, bytes.baseAddress.map { $0 + start }, wanted, &numbers, &count, &truncated)
        }
        let code = errno
        for number in numbers.prefix(Int(count)) { descriptors.append(OwnedDescriptor(adopting: number)) }
        guard truncated == 0 else {
            throw .violated(
                "more than \(limits.maximumDescriptors) descriptors at once, or more than fit into the buffer")
        }
        guard result > 0 else {
            mayHaveInput = false
            switch result == 0 ? ECONNRESET : code {
            case EAGAIN: break
            case EINTR: mayHaveInput = true
            case ECONNRESET, EPIPE: hasEnded = true
            default: throw .system(operation: "reading from a socket", code: code)
            }
            return
        }
        filled += result
        let new = buffer[start..<filled]
        try tracker.take(new.span, descriptors: Int(count))
    }

    private func forward() throws(BusEnd) {
        let numbers = descriptors.map(\.number)
        let (start, count) = (sent, filled - sent)
        let result = buffer.withUnsafeBytes { bytes in
            csystem_send(inner.number, bytes.baseAddress.map { $0 + start }, count, numbers, Int32(numbers.count))
        }
        if result < 0 {
            guard errno == EAGAIN || errno == EINTR else {
                throw .system(operation: "forwarding a message", code: errno)
            }
            isBlocked = errno == EAGAIN
            return
        }
        descriptors = []
        sent += result
        isBlocked = sent < filled
    }
}

/// The state of a connection's ``BusConnection/LargeCallGate``. At most one call to the gate is in
/// progress at a time.
private final class CallGate: Sendable {
    private enum State {
        /// The gate must be asked.
        case unknown
        /// The gate is closed and will call `onOpen`.
        case closed
        /// The current call may be read without another decision.
        case open
    }
    private let state = Mutex(State.unknown)
    private let ask: BusConnection.LargeCallGate?
    private let wake: @Sendable () -> Void

    init(_ ask: BusConnection.LargeCallGate?, _ wake: @escaping @Sendable () -> Void) {
        (self.ask, self.wake) = (ask, wake)
    }

    func isOpen() -> Bool {
        guard let ask else { return true }
        let known: Bool? = state.withLock { state in
            switch state {
            case .open: return true
            case .closed: return false
            case .unknown:
                // Set before the gate is called, since it may open immediately.
                state = .closed
                return nil
            }
        }
        if let known { return known }
        let isOpen = ask { [self] isFinal in
            state.withLock { $0 = isFinal ? .open : .unknown }
            wake()
        }
        if isOpen { forget() }
        return isOpen
    }

    /// Resets the state for the next call.
    func forget() { state.withLock { $0 = .unknown } }
}
