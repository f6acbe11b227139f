// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc
import Synchronization

/// What other threads ask of a connection's thread: jobs in order, and a descriptor that wakes it.
final class BusMailbox: Sendable {
    /// Something to do on the thread, and what to do instead when the connection has ended before. One of the two is
    /// called, once.
    struct Job: Sendable {
        let run: @Sendable (BusThread) -> Void
        let orElse: @Sendable () -> Void
    }
    private struct State {
        var jobs: [Job] = []
        var isClosed = false
    }
    private let state = Mutex(State())
    let wake: OwnedDescriptor

    init() throws(BusError) {
        let descriptor = csystemd_event_descriptor()
        guard descriptor >= 0 else { throw .system(operation: "creating an event descriptor", code: errno) }
        wake = OwnedDescriptor(adopting: descriptor)
    }

    /// Hands a job to the thread, or calls `orElse` if the connection has ended.
    func post(_ run: @escaping @Sendable (BusThread) -> Void, orElse: @escaping @Sendable () -> Void) {
        let accepted = state.withLock { state in
            guard !state.isClosed else { return false }
            state.jobs.append(Job(run: run, orElse: orElse))
            return true
        }
        accepted ? signal() : orElse()
    }

    /// Takes no more jobs; the thread will end.
    func close() {
        state.withLock { $0.isClosed = true }
        signal()
    }

    /// Closes, and gives up on the jobs that were not done.
    func abandon() {
        close()
        for job in takeJobs() { job.orElse() }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    func takeJobs() -> [Job] {
        var count: UInt64 = 0
        _ = read(wake.number, &count, 8)
        return state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
    }

    private func signal() {
        var one: UInt64 = 1
        _ = write(wake.number, &one, 8)
    }
}

/// The one thread that owns a connection's sd-bus object.
final class BusThread {
    struct Start: Sendable {
        let socket: OwnedDescriptor
        let side: BusConnection.Side
        let name: String
        let mailbox: BusMailbox
        let onCall: BusConnection.CallHandler
        let onDisconnect: @Sendable () -> Void
    }

    private let start: Start
    private let bus: OpaquePointer
    /// Outgoing calls that wait for a reply, by the serial number of the message.
    private var waiting: [UInt64: BusConnection.ReplyHandler] = [:]
    /// Incoming calls that wait for an answer, by the serial number of the message.
    private var unanswered: [UInt64: OpaquePointer] = [:]

    /// The most calls a peer may leave unanswered at a time; more are refused, so that a flood is bounded.
    private static let maximumUnanswered = 1024
    private static let path = "/com/searchlight"

    static func start(_ start: Start) throws(BusError) {
        let result = OwnThread.start(start.name) { main(start) }
        guard result == 0 else { throw .system(operation: "starting the thread of a connection", code: result) }
    }

    private static func main(_ start: Start) {
        if let thread = try? BusThread(start) { thread.run() }
        // Also when the connection could not even be begun: whoever has posted a job waits for its end.
        start.mailbox.abandon()
        start.onDisconnect()
    }

    private init(_ start: Start) throws(BusError) {
        var created: OpaquePointer?
        try BusMessage.check(sd_bus_new(&created), "creating a connection")
        guard let created else { throw .system(operation: "creating a connection", code: ENOMEM) }
        self.start = start
        bus = created
        // sd-bus closes the descriptors it is given, hence the copies.
        let input = fcntl(start.socket.number, F_DUPFD_CLOEXEC, 3)
        guard input >= 0 else { throw .system(operation: "duplicating a socket", code: errno) }
        let taken = sd_bus_set_fd(bus, input, input)
        if taken < 0 { close(input) }
        try BusMessage.check(taken, "setting the socket")
        try BusMessage.check(sd_bus_negotiate_fds(bus, 1), "allowing descriptors")
        if start.side == .server {
            try BusMessage.check(sd_bus_set_server(bus, 1, sd_id128_t()), "setting the server side")
        }
        try BusMessage.check(sd_bus_start(bus), "starting the connection")
    }

    deinit { sd_bus_unref(bus) }

    private func run() {
        while true {
            for job in start.mailbox.takeJobs() { job.run(self) }
            var received: OpaquePointer?
            let result = sd_bus_process(bus, &received)
            if let received {
                handle(BusMessage(adopting: received))
                continue
            }
            if result < 0 || start.mailbox.isClosed { break }
            if result == 0 { waitForWork() }
        }
        // What is still unsent is not waited for: the peer may never read it.
        start.mailbox.abandon()
        sd_bus_close(bus)
        for message in unanswered.values { sd_bus_message_unref(message) }
        unanswered = [:]
        for handler in waiting.values { handler(.failure(.disconnected)) }
        waiting = [:]
    }

    private func waitForWork() {
        var deadline: UInt64 = UInt64.max
        sd_bus_get_timeout(bus, &deadline)
        var timeout: Int32 = -1
        if deadline != UInt64.max {
            var now = timespec()
            clock_gettime(CLOCK_MONOTONIC, &now)
            let microseconds = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1000
            timeout = deadline <= microseconds ? 0 : Int32(clamping: (deadline - microseconds) / 1000 + 1)
        }
        var descriptors = [
            pollfd(fd: sd_bus_get_fd(bus), events: Int16(truncatingIfNeeded: sd_bus_get_events(bus)), revents: 0),
            pollfd(fd: start.mailbox.wake.number, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&descriptors, 2, timeout)
    }

    private func handle(_ message: consuming BusMessage) {
        var type: UInt8 = 0
        sd_bus_message_get_type(message.pointer, &type)
        switch Int(type) {
        case SD_BUS_MESSAGE_METHOD_CALL: receive(message)
        case SD_BUS_MESSAGE_METHOD_RETURN:
            guard let handler = takeWaiting(message.pointer) else { return }
            let arguments: Result<[BusValue], BusError>
            do { arguments = .success(try message.readArguments()) } catch { arguments = .failure(error) }
            handler(arguments)
        case SD_BUS_MESSAGE_METHOD_ERROR:
            guard let handler = takeWaiting(message.pointer) else { return }
            let error = sd_bus_message_get_error(message.pointer)?.pointee
            handler(
                .failure(
                    .remote(
                        name: (error?.name).map { String(cString: $0) } ?? BusErrorName.failed,
                        message: (error?.message).map { String(cString: $0) } ?? "")))
        default: break  // Signals are not part of the protocol.
        }
    }

    private func takeWaiting(_ message: OpaquePointer) -> BusConnection.ReplyHandler? {
        var cookie: UInt64 = 0
        guard sd_bus_message_get_reply_cookie(message, &cookie) >= 0 else { return nil }
        return waiting.removeValue(forKey: cookie)
    }

    private func receive(_ message: borrowing BusMessage) {
        var cookie: UInt64 = 0
        sd_bus_message_get_cookie(message.pointer, &cookie)
        let member = BusMember(
            sd_bus_message_get_interface(message.pointer).map { String(cString: $0) } ?? "",
            sd_bus_message_get_member(message.pointer).map { String(cString: $0) } ?? "")
        if sd_bus_message_get_expect_reply(message.pointer) > 0 {
            // The same serial number twice would let one answer go to the wrong call.
            guard unanswered[cookie] == nil else { return }
            unanswered[cookie] = sd_bus_message_ref(message.pointer)
        }
        guard unanswered.count <= Self.maximumUnanswered else {
            let text = "More than \(Self.maximumUnanswered) calls wait for an answer."
            return answer(cookie, .failure(.remote(name: BusErrorName.limitsExceeded, message: text)))
        }
        do {
            let arguments = try message.readArguments()
            start.onCall(
                IncomingCall(member: member, arguments: arguments, cookie: cookie, mailbox: start.mailbox))
        } catch {
            answer(cookie, .failure(.remote(name: BusErrorName.invalidArguments, message: error.description)))
        }
    }

    func send(_ member: BusMember, _ arguments: [BusValue], reply: BusConnection.ReplyHandler?) {
        do {
            var created: OpaquePointer?
            try BusMessage.check(
                sd_bus_message_new_method_call(bus, &created, nil, Self.path, member.interface, member.member),
                "creating a call")
            guard let created else { throw BusError.system(operation: "creating a call", code: ENOMEM) }
            let message = BusMessage(adopting: created)
            try message.append(arguments)
            // Without a place for the serial number sd-bus marks the call as one without reply.
            guard let reply else {
                return try BusMessage.check(sd_bus_send(bus, message.pointer, nil), "sending a call")
            }
            var cookie: UInt64 = 0
            try BusMessage.check(sd_bus_send(bus, message.pointer, &cookie), "sending a call")
            waiting[cookie] = reply
        } catch let error as BusError {
            reply?(.failure(error.isLostConnection ? .disconnected : error))
        } catch {
            reply?(.failure(.malformed("\(error)")))
        }
    }

    func answer(_ cookie: UInt64, _ result: Result<[BusValue], BusError>) {
        guard let call = unanswered.removeValue(forKey: cookie) else { return }
        let original = BusMessage(adopting: call)
        do {
            try sendAnswer(to: original, result)
        } catch {
            // An answer that cannot be built (too large, say) must not leave the caller waiting.
            try? sendAnswer(
                to: original, .failure(.remote(name: BusErrorName.failed, message: error.description)))
        }
    }

    private func sendAnswer(
        to call: borrowing BusMessage, _ result: Result<[BusValue], BusError>
    ) throws(BusError) {
        var created: OpaquePointer?
        switch result {
        case .success:
            try BusMessage.check(sd_bus_message_new_method_return(call.pointer, &created), "creating an answer")
        case .failure(let failure):
            var name = BusErrorName.failed
            var text = failure.description
            if case .remote(let remoteName, let remoteText) = failure { (name, text) = (remoteName, remoteText) }
            var error = sd_bus_error()
            defer { sd_bus_error_free(&error) }
            _ = sd_bus_error_set(&error, name, text)
            try BusMessage.check(sd_bus_message_new_method_error(call.pointer, &created, &error), "creating an answer")
        }
        guard let created else { throw .system(operation: "creating an answer", code: ENOMEM) }
        let message = BusMessage(adopting: created)
        if case .success(let values) = result { try message.append(values) }
        try BusMessage.check(sd_bus_send(bus, message.pointer, nil), "sending an answer")
    }
}

extension BusError {
    fileprivate var isLostConnection: Bool {
        guard case .system(_, let code) = self else { return false }
        return [ENOTCONN, ECONNRESET, EPIPE].contains(code)
    }
}
