// SPDX-License-Identifier: Apache-2.0
import BusTransport
import CLoopback
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// Serves the connections of the page. One thread accepts connections, checks their user, reads
/// requests within ``PageLimits``, and rejects them if necessary. Only requests from the session's
/// browser get a task, and a thread if the reply does not fit into the socket buffer.
///
/// There are two classes of connections. Connections that have sent the session cookie have their
/// own slots, which no other connection can take. Among the others, the newest replaces the oldest.
package final class PageLoop: Sendable {
    /// The callbacks of the loop. All of them, except `answer`, are called on the loop's thread.
    package struct Handlers: Sendable {
        /// Grants or rejects a request.
        package var admit: @Sendable (PageRequest) -> QuickLookRoutes.Admission
        /// Replies to a granted request.
        package var answer: @Sendable (_ path: [String], _ arguments: [String: String]) async -> PageReply
        /// Writes a line to the log.
        package var log: @Sendable (String) -> Void
        /// Called before the reply that starts the session is sent.
        package var onWelcome: @Sendable () -> Void

        package init(
            admit: @escaping @Sendable (PageRequest) -> QuickLookRoutes.Admission,
            answer: @escaping @Sendable (_ path: [String], _ arguments: [String: String]) async -> PageReply,
            log: @escaping @Sendable (String) -> Void = { _ in }, onWelcome: @escaping @Sendable () -> Void = {}
        ) {
            (self.admit, self.answer, self.log, self.onWelcome) = (admit, answer, log, onWelcome)
        }
    }

    private struct Mailbox {
        var isEnding = false
        /// The replies that have ended. `isWhole` is `true` if the whole reply was sent.
        var answered: [(number: UInt64, isWhole: Bool)] = []
    }

    private let listener: OwnedDescriptor
    private let limits: PageLimits
    private let check: any PeerCheck
    private let handlers: Handlers
    private let activity: Activity
    private let mailbox = Mutex(Mailbox())
    /// A socket pair: bytes written to `far` wake the thread, which polls `near`.
    private let wake: (near: OwnedDescriptor, far: OwnedDescriptor)
    /// A socket pair: shutting down `far` makes `near` hang up, for all threads that write replies.
    private let end: (near: OwnedDescriptor, far: OwnedDescriptor)

    /// POLLRDHUP from poll(2), which Swift does not import: the peer will send nothing more.
    static let hasGone: Int16 = 0x2000
    /// The maximum number of bytes in one read.
    private static let piece = 4096
    /// The maximum number of connections that are accepted before open connections are served.
    private static let batch = 16
    /// The minimum interval between log lines about connections that were closed unread.
    private static let logPause = Duration.seconds(10)
    /// The time during which no connections are accepted after the process has run out of
    /// descriptors.
    private static let acceptPause = Duration.milliseconds(100)

    /// Creates a loop for a non-blocking socket that listens on a loopback address.
    ///
    /// - Throws: ``BusError/system(operation:code:)``.
    package init(
        _ listener: OwnedDescriptor, limits: PageLimits = PageLimits(), check: any PeerCheck, activity: Activity,
        handlers: Handlers
    ) throws(BusError) {
        (self.listener, self.limits, self.check, self.handlers) = (listener, limits, check, handlers)
        self.activity = activity
        wake = try Self.pair()
        end = try Self.pair()
    }

    private static func pair() throws(BusError) -> (near: OwnedDescriptor, far: OwnedDescriptor) {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &numbers) == 0 else {
            throw .system(operation: "creating a socket pair", code: errno)
        }
        return (OwnedDescriptor(adopting: numbers[0]), OwnedDescriptor(adopting: numbers[1]))
    }

    /// Serves until the task is cancelled, and then returns within ``PageLimits/endTime``.
    package func run() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                Thread.detachNewThread { [self] in
                    serve()
                    continuation.resume()
                }
            }
        } onCancel: {
            stop()
        }
    }

    /// Makes ``serve()`` return. May be called from any thread.
    package func stop() {
        mailbox.withLock { $0.isEnding = true }
        shutdown(end.far.number, Int32(SHUT_RDWR))
        wakeUp()
    }

    private func wakeUp() {
        // A full buffer also wakes the thread.
        send(wake.far.number, [1], 1, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }

    // MARK: The thread

    private struct Connection {
        enum Phase {
            case reading
            case answering(Task<Void, Never>, isLast: Bool)
            /// Further input is discarded.
            case lingering(bytes: Int)
        }

        let socket: OwnedDescriptor
        var reader: RequestReader
        var phase = Phase.reading
        var isBrowser = false
        var hasGone = false
        var requests = 0
        var deadline: ContinuousClock.Instant

        var isAnswering: Bool { if case .answering = phase { true } else { false } }
    }

    private struct State {
        /// The connections, by increasing number; the lowest number is the oldest.
        var connections: [UInt64: Connection] = [:]
        var last: UInt64 = 0
        var acceptsAgain = ContinuousClock.now
        var logsAgain = ContinuousClock.now
        var unlogged = 0
    }

    /// Serves on the calling thread until ``stop()`` is called.
    package func serve() {
        var state = State()
        while true {
            let numbers = state.connections.keys.sorted()
            let isAccepting = state.acceptsAgain <= .now
            var waiting = [
                pollfd(fd: wake.near.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isAccepting ? listener.number : -1, events: Int16(POLLIN), revents: 0),
            ]
            for number in numbers {
                guard let connection = state.connections[number] else { continue }
                waiting.append(
                    pollfd(
                        fd: connection.hasGone ? -1 : connection.socket.number,
                        events: connection.isAnswering ? Self.hasGone : Int16(POLLIN), revents: 0))
            }
            let deadlines = state.connections.values.map(\.deadline) + (isAccepting ? [] : [state.acceptsAgain])
            let count = poll(&waiting, nfds_t(waiting.count), Self.milliseconds(until: deadlines.min()))
            guard count >= 0 || errno == EINTR else { return finish(&state) }
            if waiting[0].revents != 0 { drain() }
            let (isEnding, answered) = mailbox.withLock { mailbox in
                defer { mailbox.answered = [] }
                return (mailbox.isEnding, mailbox.answered)
            }
            for one in answered { finishAnswer(one.number, isWhole: one.isWhole, &state) }
            if isEnding { return finish(&state) }
            for (number, ready) in zip(numbers, waiting.dropFirst(2)) where ready.revents != 0 {
                isReady(number, &state)
            }
            if waiting[1].revents != 0 { accept(&state) }
            expire(&state)
        }
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        // Rounded up, so that the deadline has passed after the wait.
        return Int32(clamping: max(0, Int64((deadline - .now) / .milliseconds(1)) + 1))
    }

    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while recv(wake.near.number, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    }

    /// Closes all connections, and waits at most ``PageLimits/endTime`` for their replies to end.
    private func finish(_ state: inout State) {
        for connection in state.connections.values {
            if case .answering(let task, _) = connection.phase { task.cancel() }
            shutdown(connection.socket.number, Int32(SHUT_RDWR))
        }
        state.connections = state.connections.filter { $0.value.isAnswering }
        let deadline = ContinuousClock.now + limits.endTime
        while !state.connections.isEmpty, deadline > .now {
            var waiting = pollfd(fd: wake.near.number, events: Int16(POLLIN), revents: 0)
            poll(&waiting, 1, Self.milliseconds(until: deadline))
            drain()
            for one in mailbox.withLock({ $0.answered }) where state.connections.removeValue(forKey: one.number) != nil
            {
                activity.end()
            }
        }
    }

    // MARK: Accepting

    private func accept(_ state: inout State) {
        for _ in 0..<Self.batch {
            let number = cloopback_accept(listener.number)
            if [-ECONNABORTED, -EINTR, -EPROTO].contains(number) { continue }
            if [-EMFILE, -ENFILE, -ENOBUFS, -ENOMEM].contains(number) {
                if !closeOldestStranger(&state) { state.acceptsAgain = .now + Self.acceptPause }
                return
            }
            guard number >= 0 else { return }
            let socket = OwnedDescriptor(adopting: number)
            let verdict = check.verdict(on: socket)
            guard verdict == .own else {
                log(verdict, &state)
                continue
            }
            if state.connections.values.count(where: { !$0.isBrowser }) >= limits.strangers {
                _ = closeOldestStranger(&state)
            }
            state.last += 1
            state.connections[state.last] = Connection(
                socket: socket, reader: RequestReader(limits), deadline: .now + limits.headTime)
            // A browser sends its request immediately, so it is served before others can replace
            // its connection.
            isReady(state.last, &state)
        }
    }

    private func closeOldestStranger(_ state: inout State) -> Bool {
        guard let oldest = state.connections.filter({ !$0.value.isBrowser }).keys.min() else { return false }
        state.connections[oldest] = nil
        return true
    }

    private func log(_ verdict: PeerVerdict, _ state: inout State) {
        guard state.logsAgain <= .now else {
            state.unlogged += 1
            return
        }
        let what =
            switch verdict {
            case .own: ""
            case .other(let user):
                "Closed a connection of user \(user) unread: the page is only for user \(geteuid())."
            case .unknown(let code):
                "Closed a connection unread, because its user cannot be determined: \(String(cString: strerror(code)))."
            }
        let more = state.unlogged == 0 ? "" : " \(state.unlogged) more were closed after the last such line."
        handlers.log(what + more)
        (state.logsAgain, state.unlogged) = (.now + Self.logPause, 0)
    }

    // MARK: Reading

    private func isReady(_ number: UInt64, _ state: inout State) {
        guard let connection = state.connections[number] else { return }
        switch connection.phase {
        case .answering(let task, _):
            // The client has closed its end or abandoned the request.
            task.cancel()
            state.connections[number]?.hasGone = true
        case .lingering(let bytes):
            guard let dropped = receive(number, upTo: Self.piece, &state) else { return }
            if bytes + dropped.count > limits.lingerBytes {
                state.connections[number] = nil
            } else {
                state.connections[number]?.phase = .lingering(bytes: bytes + dropped.count)
            }
        case .reading:
            guard let bytes = receive(number, upTo: min(Self.piece, connection.reader.room), &state), !bytes.isEmpty
            else { return }
            if connection.isBrowser, !connection.reader.hasBegun {
                state.connections[number]?.deadline = .now + limits.headTime
            }
            state.connections[number]?.reader.receive(bytes)
            proceed(number, &state)
        }
    }

    /// Reads from a connection. Returns `nil` and removes the connection if it was closed; returns
    /// an empty result if no data has arrived.
    private func receive(_ number: UInt64, upTo count: Int, _ state: inout State) -> ArraySlice<UInt8>? {
        guard let socket = state.connections[number]?.socket else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        while true {
            let result = recv(socket.number, &bytes, count, Int32(MSG_DONTWAIT))
            if result < 0, errno == EINTR { continue }
            if result < 0, errno == EAGAIN { return [] }
            if result > 0 { return bytes[..<result] }
            state.connections[number] = nil
            return nil
        }
    }

    /// Handles the next request of a connection, if it is complete.
    private func proceed(_ number: UInt64, _ state: inout State) {
        guard let step = state.connections[number]?.reader.next() else { return }
        switch step {
        case .incomplete: return
        case .refused(let status, let reason): refuse(number, Page.refusal(status, reason), &state)
        case .request(let request, let isLast):
            switch handlers.admit(request) {
            case .answered(let reply, let isWelcome):
                if isWelcome { handlers.onWelcome() }
                refuse(number, reply, &state)
            case .granted(let path): answer(number, path, request.arguments, isLast: isLast, &state)
            }
        }
    }

    /// Sends a small reply, and closes the connection after the client has received it.
    private func refuse(_ number: UInt64, _ reply: PageReply, _ state: inout State) {
        guard let socket = state.connections[number]?.socket else { return }
        var bytes = ReplyWriter.head(of: reply, isLast: true)
        if case .bytes(let body) = reply.body { bytes += body }
        guard ReplyWriter.sendNow(bytes[...], to: socket.number) == bytes.count else {
            state.connections[number] = nil
            return
        }
        linger(number, &state)
    }

    /// Shuts down only the sending side of a connection. Closing it with unread input would send a
    /// reset, and the client would lose the reply.
    private func linger(_ number: UInt64, _ state: inout State) {
        guard let socket = state.connections[number]?.socket else { return }
        shutdown(socket.number, Int32(SHUT_WR))
        state.connections[number]?.phase = .lingering(bytes: 0)
        state.connections[number]?.deadline = .now + limits.lingerTime
    }

    // MARK: Answering

    private func answer(
        _ number: UInt64, _ path: [String], _ arguments: [String: String], isLast: Bool, _ state: inout State
    ) {
        guard var connection = state.connections[number] else { return }
        if !connection.isBrowser {
            let browsers = state.connections.filter { $0.value.isBrowser }
            if browsers.count >= limits.browsers {
                guard let oldest = browsers.filter({ !$0.value.isAnswering }).keys.min() else {
                    return refuse(number, PageFailure(503, "Too many connections are open.").reply, &state)
                }
                state.connections[oldest] = nil
            }
        }
        connection.isBrowser = true
        connection.requests += 1
        let isLast = isLast || connection.requests >= limits.requests
        let writer = ReplyWriter(connection: connection.socket, end: end.near)
        activity.begin()
        let task = Task { [self] in
            let reply = await handlers.answer(path, arguments)
            var bytes = ReplyWriter.head(of: reply, isLast: isLast)
            var stream: PageReply.Body?
            switch reply.body {
            case .bytes(let body): bytes += body
            case .stream: stream = reply.body
            }
            guard let sent = ReplyWriter.sendNow(bytes[...], to: writer.connection.number) else {
                return report(number, isWhole: false)
            }
            if sent == bytes.count, stream == nil { return report(number, isWhole: true) }
            let (rest, following) = (bytes[sent...], stream)
            Thread.detachNewThread { [self] in report(number, isWhole: writer.write(rest, then: following)) }
        }
        connection.phase = .answering(task, isLast: isLast)
        connection.deadline = .now + limits.answerTime
        state.connections[number] = connection
    }

    private func report(_ number: UInt64, isWhole: Bool) {
        mailbox.withLock { $0.answered.append((number, isWhole)) }
        wakeUp()
    }

    private func finishAnswer(_ number: UInt64, isWhole: Bool, _ state: inout State) {
        guard let connection = state.connections[number], case .answering(_, let isLast) = connection.phase else {
            return
        }
        activity.end()
        guard isWhole, !connection.hasGone else {
            state.connections[number] = nil
            return
        }
        guard !isLast else { return linger(number, &state) }
        state.connections[number]?.phase = .reading
        state.connections[number]?.deadline = .now + (connection.reader.hasBegun ? limits.headTime : limits.idleTime)
        // The next request may already have arrived.
        proceed(number, &state)
    }

    // MARK: Time

    private func expire(_ state: inout State) {
        let now = ContinuousClock.now
        for (number, connection) in state.connections where connection.deadline <= now {
            switch connection.phase {
            case .answering(let task, _):
                // The cancelled request still replies, and a reply that is being sent continues.
                task.cancel()
                state.connections[number]?.deadline = now + limits.answerTime
            case .reading where connection.reader.hasBegun:
                refuse(number, Page.refusal(408, "The request took too long."), &state)
            case .reading, .lingering: state.connections[number] = nil
            }
        }
    }
}
