// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import Synchronization
import SystemSupport

/// The current senders on the session bus. Each sender is added with its first call and removed
/// when it leaves the bus.
final class BusSenders: Sendable {
    private struct State {
        var bus: MessageBus?
        var senders: [String: BusSender] = [:]
        var isClosed = false
    }
    private let state = Mutex(State())
    private let core: ServiceCore
    private let sessions: Sessions

    init(_ core: ServiceCore, _ sessions: Sessions) {
        self.core = core
        self.sessions = sessions
    }

    /// The number of senders.
    var count: Int { state.withLock { $0.senders.count } }

    func attach(_ bus: MessageBus) { state.withLock { $0.bus = bus } }

    /// Processes a call from any sender. Called on the bus thread; never blocks.
    func receive(_ call: IncomingCall) {
        guard let name = call.sender else {
            return call.refuse(
                name: ServiceErrorName.accessDenied, message: "The bus does not name the sender of the call.")
        }
        if Introspection.answer(call) { return }
        let (sender, bus, isNew) = state.withLock { state -> (BusSender?, MessageBus?, Bool) in
            if let known = state.senders[name] { return (known, state.bus, false) }
            guard let bus = state.bus, !state.isClosed, state.senders.count < core.limits.busClients else {
                return (nil, state.bus, false)
            }
            let sender = BusSender(name: name, core: core)
            state.senders[name] = sender
            return (sender, bus, true)
        }
        guard let sender, let bus else {
            return call.refuse(
                name: BusErrorName.limitsExceeded,
                message:
                    "The service already has \(core.limits.busClients) clients on the bus. Try again later.")
        }
        sender.receive(call)
        if isNew { begin(sender, bus) }
    }

    /// Identifies a sender.
    private func begin(_ sender: BusSender, _ bus: MessageBus) {
        let token = core.activity.beginRequest()
        Task {
            defer { token.end() }
            do {
                // The watch is set up before the queries, so that the sender's end is always
                // detected.
                try await bus.watch(sender.name) { [weak self, weak sender] in
                    if let sender { self?.end(sender, "The client has disconnected.") }
                }
                let identity = ClientIdentity(try await bus.identity(of: sender.name))
                let session = sessions.begin(identity, isDirect: true)
                session.attach {
                    SenderLink(bus: bus, sender: sender.name) { [weak self, weak sender] in
                        if let sender { self?.end(sender, "The session has ended.") }
                    }
                }
                if !sender.begin(session) { sessions.end(session) }
            } catch {
                let reason = (error as? PeerIdentityError)?.description ?? "\(error)"
                core.log.write(.warning, core.strangers, "Refused a client on the bus. \(reason)")
                end(sender, "The client cannot be identified: \(reason)")
            }
        }
    }

    /// Releases all of a sender's resources, once.
    private func end(_ sender: BusSender, _ reason: String) {
        let bus = state.withLock { state -> MessageBus? in
            guard state.senders[sender.name] === sender else { return nil }
            state.senders[sender.name] = nil
            return state.bus
        }
        bus?.unwatch(sender.name)
        if let session = sender.end(name: ServiceErrorName.accessDenied, message: reason) { sessions.end(session) }
    }

    /// Ends all senders, because the bus connection has ended or is about to end.
    func endAll() {
        let all = state.withLock { state in
            state.isClosed = true
            return Array(state.senders.values)
        }
        for sender in all { end(sender, "The service has left the bus.") }
    }
}
