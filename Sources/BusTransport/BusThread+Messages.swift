// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// Incoming and outgoing calls and answers.
extension BusThread {
    /// The maximum number of unanswered calls from a peer. Further calls are rejected, so that a
    /// flood is bounded.
    private static let maximumUnanswered = 1024
    /// The maximum size, in bytes, of a call from an untrusted peer that expects no reply. No other
    /// limit covers such a call.
    private static let maximumUncounted = 64 << 10

    func handle(_ message: consuming BusMessage) {
        var type: UInt8 = 0
        sd_bus_message_get_type(message.pointer, &type)
        switch Int(type) {
        case SD_BUS_MESSAGE_METHOD_CALL: receive(message)
        case SD_BUS_MESSAGE_METHOD_RETURN:
            switch takeWaiting(message.pointer) {
            case .own(let handler):
                let arguments: Result<[BusValue], BusError>
                do { arguments = .success(try message.readArguments()) } catch { arguments = .failure(error) }
                handler(arguments)
            case .foreign(let handler):
                let values: Result<[ForeignValue], BusError>
                do { values = .success(try message.readForeign()) } catch { values = .failure(error) }
                handler(values)
            case nil: break
            }
        case SD_BUS_MESSAGE_METHOD_ERROR:
            guard let reply = takeWaiting(message.pointer) else { return }
            let error = sd_bus_message_get_error(message.pointer)?.pointee
            reply.fail(
                .remote(
                    name: (error?.name).map { String(cString: $0) } ?? BusErrorName.failed,
                    message: (error?.message).map { String(cString: $0) } ?? ""))
        default: receiveSignal(message)
        }
    }

    private func takeWaiting(_ message: OpaquePointer) -> Reply? {
        var cookie: UInt64 = 0
        guard sd_bus_message_get_reply_cookie(message, &cookie) >= 0, let call = waiting[cookie] else { return nil }
        // Any client of a message bus may send a reply to any call, so the sender must be checked.
        if let destination = call.destination, destination != Self.sender(of: message) { return nil }
        waiting[cookie] = nil
        return call.reply
    }

    private static func sender(of message: OpaquePointer) -> String? {
        sd_bus_message_get_sender(message).map { String(cString: $0) }
    }

    /// Passes on signals from the message bus itself and from followed programs. The protocol
    /// between two peers has no signals, but any client of a message bus may send some.
    private func receiveSignal(_ message: borrowing BusMessage) {
        guard let sender = Self.sender(of: message.pointer),
            let interface = sd_bus_message_get_interface(message.pointer),
            let name = sd_bus_message_get_member(message.pointer)
        else { return }
        let member = BusMember(String(cString: interface), String(cString: name))
        if sender == MessageBus.busName {
            guard let onSignal = start.onSignal, let arguments = try? message.readArguments() else { return }
            onSignal(member, arguments)
        } else if let listener = start.listener?(sender), let arguments = try? message.readForeign() {
            let path = sd_bus_message_get_path(message.pointer).map { String(cString: $0) } ?? ""
            listener(BusSignal(path: path, member: member, arguments: arguments))
        }
    }

    private func receive(_ message: borrowing BusMessage) {
        var cookie: UInt64 = 0
        sd_bus_message_get_cookie(message.pointer, &cookie)
        let member = BusMember(
            sd_bus_message_get_interface(message.pointer).map { String(cString: $0) } ?? "",
            sd_bus_message_get_member(message.pointer).map { String(cString: $0) } ?? "")
        let key = CallKey(sender: shares == nil ? nil : Self.sender(of: message.pointer), cookie: cookie)
        let arguments: Result<[BusValue], BusError>
        do { arguments = .success(try message.readArguments()) } catch { arguments = .failure(error) }
        let size = ((try? arguments.get()) ?? []).reduce(0) { $0 + $1.approximateBytes }
        let ticket = input?.takeRoom(of: cookie)
        let expectsReply = sd_bus_message_get_expect_reply(message.pointer) > 0
        if !expectsReply {
            let isTrusted = shares == nil && start.limits == nil
            guard isTrusted || size <= Self.maximumUncounted else { return }
        } else {
            // A duplicate serial number could direct an answer to the wrong call.
            guard unanswered[key] == nil else { return }
            unanswered[key] = UnansweredCall(message: answerable(message, size), size: size, ticket: ticket)
            unansweredBytes += size
            if ticket == nil { freeBytes += size }
            if let problem = shares?.take(size, of: key.sender ?? "") {
                return answer(key, .failure(.remote(name: BusErrorName.limitsExceeded, message: problem)))
            }
        }
        guard unanswered.count <= Self.maximumUnanswered else {
            let text = "More than \(Self.maximumUnanswered) calls are unanswered. Wait for an answer first."
            return answer(key, .failure(.remote(name: BusErrorName.limitsExceeded, message: text)))
        }
        switch arguments {
        case .success(let values):
            let path = sd_bus_message_get_path(message.pointer).map { String(cString: $0) } ?? ""
            start.onCall(
                IncomingCall(
                    member: member, path: path, arguments: values, key: key,
                    ticket: expectsReply ? ticket : nil, mailbox: start.mailbox))
        case .failure(let error):
            answer(key, .failure(.remote(name: BusErrorName.invalidArguments, message: error.description)))
        }
    }

    /// Returns a message to which sd-bus can build an answer. A large call is replaced with a small
    /// one, so that its content can be freed before the answer.
    private func answerable(_ message: borrowing BusMessage, _ size: Int) -> OpaquePointer {
        guard size > ReceiveBudget.freeBytes else { return sd_bus_message_ref(message.pointer) }
        var cookie: UInt64 = 0
        var created: OpaquePointer?
        guard sd_bus_message_get_cookie(message.pointer, &cookie) >= 0,
            sd_bus_message_new_method_call(bus, &created, nil, "/", nil, "Answered") >= 0, let created
        else { return sd_bus_message_ref(message.pointer) }
        if let sender = sd_bus_message_get_sender(message.pointer), sd_bus_message_set_sender(created, sender) < 0 {
            sd_bus_message_unref(created)
            return sd_bus_message_ref(message.pointer)
        }
        guard sd_bus_message_seal(created, cookie, 0) >= 0 else {
            sd_bus_message_unref(created)
            return sd_bus_message_ref(message.pointer)
        }
        return created
    }

    func send(
        _ member: BusMember, _ arguments: [BusValue], to target: BusTarget, onSent: (@Sendable (UInt64) -> Void)? = nil,
        reply: Reply?
    ) {
        do {
            var created: OpaquePointer?
            try BusMessage.check(
                sd_bus_message_new_method_call(
                    bus, &created, target.destination, target.path, member.interface, member.member),
                "creating a call")
            guard let created else { throw BusError.system(operation: "creating a call", code: ENOMEM) }
            let message = BusMessage(adopting: created)
            try message.append(arguments)
            noteSent(arguments)
            // Without a pointer for the serial number, sd-bus marks the call as one that expects no
            // reply.
            guard let reply else {
                return try BusMessage.check(sd_bus_send(bus, message.pointer, nil), "sending a call")
            }
            var cookie: UInt64 = 0
            try BusMessage.check(sd_bus_send(bus, message.pointer, &cookie), "sending a call")
            waiting[cookie] = WaitingCall(destination: target.destination, reply: reply)
            onSent?(cookie)
        } catch let error as BusError {
            reply?.fail(error.isLostConnection ? .disconnected : error)
        } catch {
            reply?.fail(.malformed("\(error)"))
        }
    }

    func answer(_ key: CallKey, _ result: Result<[BusValue], BusError>) {
        guard let call = unanswered.removeValue(forKey: key) else { return }
        unansweredBytes -= call.size
        if call.ticket == nil { freeBytes -= call.size }
        call.ticket?.end()
        shares?.give(call.size, of: key.sender ?? "")
        let original = BusMessage(adopting: call.message)
        do {
            try sendAnswer(to: original, result)
        } catch {
            // If the answer cannot be built, for example because it is too large, the caller
            // receives an error.
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
            _ = sd_bus_error_set(&error, name, text.fitForBus)
            try BusMessage.check(sd_bus_message_new_method_error(call.pointer, &created, &error), "creating an answer")
        }
        guard let created else { throw .system(operation: "creating an answer", code: ENOMEM) }
        let message = BusMessage(adopting: created)
        if case .success(let values) = result { try message.append(values) }
        noteSent((try? result.get()) ?? [])
        try BusMessage.check(sd_bus_send(bus, message.pointer, nil), "sending an answer")
    }

    /// Records a message that is about to be sent, in case the peer does not read.
    private func noteSent(_ values: [BusValue]) {
        unsent?.append(values.reduce(Self.typicalHeader) { $0 + $1.approximateBytes })
    }

    /// The approximate memory that a message takes in sd-bus, without its arguments, in bytes.
    private static let typicalHeader = 512
}

extension BusError {
    fileprivate var isLostConnection: Bool {
        guard case .system(_, let code) = self else { return false }
        return [ENOTCONN, ECONNRESET, EPIPE].contains(code)
    }
}
