// SPDX-License-Identifier: Apache-2.0
import CSystem
import Glibc
import Synchronization
import SystemSupport

/// What stands between a peer that is not trusted and sd-bus, which itself would hold 128 MiB of a message whose end
/// never comes, drop what it does not understand without a word, and lose descriptors.
///
/// sd-bus reads from an inner socket; into that goes, on the same thread, what the ``FrameTracker`` has found good in
/// what the peer sent. What sd-bus writes goes to the peer directly. Confined to the connection's thread.
final class GuardedInput {
    let socket: OwnedDescriptor
    private let inner: OwnedDescriptor
    private let limits: BusLimits
    private var tracker: FrameTracker
    /// What was read; of it `sent..<filled` is not in the inner socket yet.
    private var buffer = [UInt8](repeating: 0, count: GuardedInput.smallBuffer)
    private var filled = 0
    private var sent = 0
    private var descriptors: [OwnedDescriptor] = []
    /// Whether reading may give something; `false` from the moment at which nothing was there until the poll says so.
    private(set) var mayHaveInput = true
    /// Whether the inner socket is full.
    private(set) var isBlocked = false
    private var hasEnded = false
    /// Whether the peer was found gone while it was not read.
    private(set) var isAbandoned = false
    private let room: ReceiveBudget
    private let wake: @Sendable () -> Void
    /// The room of the current message, or the place in the line for it, if it is large.
    private var ticket: ReceiveBudget.Ticket?
    private let gate: CallGate
    /// Whether the current message may be read to its end.
    private var isAdmitted = false
    /// Whether a large message waits for the gate or for room.
    private(set) var waitsForRoom = false
    /// That of messages that are complete and that sd-bus has not handed on, by serial number, oldest first.
    private var complete: [(serial: UInt64, ticket: ReceiveBudget.Ticket)] = []
    /// When what is half-sent began, and which message it is.
    private var halfSince: (time: UInt64, message: UInt64)?
    /// Until when nobody waited for the room that the current message has.
    private var lookedAt: UInt64 = 0

    /// Enough for most messages.
    private static let smallBuffer = 4 << 10
    /// How much of a large message is moved at a time; more than any header.
    private static let largeBuffer = 64 << 10

    /// - Returns: The guard, and the socket from which sd-bus shall read, which sd-bus closes.
    static func make(
        _ socket: OwnedDescriptor, side: BusConnection.Side, limits: BusLimits, room: ReceiveBudget,
        gate: BusConnection.LargeCallGate?, wake: @escaping @Sendable () -> Void
    ) throws(BusError) -> (input: GuardedInput, source: Int32) {
        precondition(limits.maximumHeaderBytes <= largeBuffer)
        precondition(limits.maximumDescriptors <= csystem_maximum_descriptors)
        var process: pid_t = 0
        var user: uid_t = 0
        // sd-bus compares the user that a client says it is with the other end of what it reads from; that is this
        // process now, so it has to be compared here.
        guard csystem_peer(socket.number, &process, &user) == 0 else {
            throw .system(operation: "asking who is at the other end", code: errno)
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

    /// Whether nothing of a message has come, so that reading can be put off without holding up a message.
    var isBetweenMessages: Bool { !tracker.isHalfSent }

    /// Hands over the room of a message that sd-bus has handed on; what came before it has been dealt with.
    func takeRoom(of serial: UInt64) -> ReceiveBudget.Ticket? {
        guard let index = complete.firstIndex(where: { $0.serial == serial }) else { return nil }
        let ticket = complete[index].ticket
        complete.removeSubrange(...index)
        return ticket
    }

    /// Gives back the room of messages that sd-bus dealt with itself; to be called when it has nothing more to read.
    func forgetComplete() {
        if !isBlocked && !complete.isEmpty { complete = [] }
    }

    /// Gives all room back.
    func end() { (ticket, complete) = (nil, []) }

    /// Whether the authentication is still under way.
    var isAuthenticating: Bool { tracker.isAuthenticating }

    /// Whether sd-bus has the whole authentication.
    var hasBegun: Bool { !tracker.isAuthenticating && !isBlocked }

    /// Whether there is nothing to do here until the poll reports something.
    var isWaiting: Bool { isBlocked || !mayHaveInput || hasEnded || waitsForRoom }

    /// The descriptors and events to wait for besides sd-bus's.
    func polls(reading: Bool, writing: Bool) -> [pollfd] {
        let events = (reading && !isBlocked && !hasEnded && !waitsForRoom ? POLLIN : 0) | (writing ? POLLOUT : 0)
        // A hang-up is reported even if nothing is asked for. Where reading is put off, it ends the connection; else it would
        // wake the thread again and again.
        let isWatched = events != 0 || isPutOff(reading: reading)
        return [
            pollfd(fd: isWatched ? socket.number : -1, events: Int16(events), revents: 0),
            pollfd(fd: isBlocked ? inner.number : -1, events: Int16(POLLOUT), revents: 0),
        ]
    }

    /// Whether the peer has to wait before it is read on, for room or for its answers: that may take long, and a peer that has
    /// gone must not keep its place, nor its place in the line. What it has sent was not acknowledged.
    private func isPutOff(reading: Bool) -> Bool { !hasEnded && (waitsForRoom || !reading) }

    /// Takes note of what the poll found for ``polls(reading:writing:)``.
    func noteReady(_ polls: ArraySlice<pollfd>, reading: Bool) {
        guard let outer = polls.first, let inner = polls.last else { return }
        if Int32(outer.revents) & POLLHUP != 0, isPutOff(reading: reading) { isAbandoned = true }
        if Int32(outer.revents) & ~POLLOUT != 0 { mayHaveInput = true }
        if inner.revents != 0 { isBlocked = false }
    }

    /// When the peer must have finished what it began, on the clock of `now`; `nil` while nothing is half-sent.
    func deadline(now: () -> UInt64) -> UInt64? {
        guard tracker.isHalfSent, !hasEnded, !waitsForRoom else {
            halfSince = nil
            return nil
        }
        if halfSince?.message != tracker.completed { halfSince = (now(), tracker.completed) }
        guard let since = halfSince?.time else { return nil }
        guard ticket != nil else { return since + limits.stallTimeout }
        // Looked at again and again: nobody may wait for room now, and somebody in a moment.
        if lookedAt < since { lookedAt = since }
        if ticket?.isContended != true, now() >= lookedAt + ReceiveBudget.patience { lookedAt = now() }
        return min(since + limits.stallTimeout, lookedAt + ReceiveBudget.patience)
    }

    /// The end of a peer that did not finish in time.
    var stalled: BusEnd {
        let what = tracker.isAuthenticating ? "an authentication" : "a message"
        if ticket?.isContended == true {
            let seconds = ReceiveBudget.patience / 1_000_000
            return .violated("a message that was not complete after \(seconds) s while others waited for its room")
        }
        return .violated("\(what) that was not complete after \(limits.stallTimeout / 1_000_000) s")
    }

    /// Moves what there is, up to the end of one message, to sd-bus.
    ///
    /// - Parameter mayRead: Whether sd-bus wants what comes next.
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
            // What follows waits until sd-bus is ready for messages, which only its owner can ask it.
            if wasAuthenticating && !tracker.isAuthenticating { break }
        }
        if sent < filled && tracker.mayForward && !isBlocked { try forward() }
        // What is still there then is a header that will never be whole.
        if hasEnded && !isBlocked { shutdown(inner.number, Int32(SHUT_WR)) }
        if !isBlocked && !tracker.isHalfSent && buffer.count > Self.smallBuffer {
            buffer = [UInt8](repeating: 0, count: Self.smallBuffer)
        }
    }

    /// Whether reading may go on: a message that is large passes the gate and has room, once its header is there.
    private func admitCurrent() -> Bool {
        guard !isAdmitted, let current = tracker.current, current.bytes > ReceiveBudget.freeBytes else { return true }
        // Asked again with a place in the line, and with room: what the gate stands for may be gone by then.
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
                "more than \(limits.maximumDescriptors) descriptors at once, or more than there is room for")
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
                throw .system(operation: "handing a message on", code: errno)
            }
            isBlocked = errno == EAGAIN
            return
        }
        descriptors = []
        sent += result
        isBlocked = sent < filled
    }
}

/// Whether the owner of a connection lets large calls be read; asks the owner no more than once at a time.
private final class CallGate: Sendable {
    private enum State {
        /// To be asked.
        case unknown
        /// The owner will say when it opens.
        case closed
        /// The current call may be read whatever the owner would say.
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
                // Before it is asked, since it may open in the same moment.
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

    /// Begins again with the next call.
    func forget() { state.withLock { $0 = .unknown } }
}
