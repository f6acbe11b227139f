// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchlightEngine
import ServiceMessages
import Synchronization

/// One client, from its first call to its end. Which calls it may make is decided once, by ``ClientRights``; everything
/// it holds is given back at the end, however that comes.
final class ClientSession: Sendable {
    /// What a client with rights converses with.
    protocol Conversation: Sendable {
        /// Takes a call that the client may make; never blocks.
        func receive(_ request: any ClientRequest, _ call: IncomingCall)
        /// Decides whether a large call may be read now; see ``BusConnection/LargeCallGate``. Never blocks.
        func mayReadLarge(onOpen: @escaping @Sendable (Bool) -> Void) -> Bool
        /// Begins again with an engine that was opened again.
        func rejoin(_ engine: SearchlightEngine)
        /// Forgets what it has with an engine that is being closed.
        func part()
        /// Cancels what is under way and gives everything back; returns when that is done.
        func end() async
    }

    /// A number that no other session of this service has.
    let number: UInt64
    let identity: ClientIdentity
    private let core: ServiceCore
    private let allowance: LogAllowance
    /// Whether a launcher need not say who it is, as tools of the session bus never do.
    private let isDirect: Bool
    /// The thread of a connection may be faster than whoever makes it, hence a lock that is held meanwhile.
    private let link = Mutex<(any ClientLink)?>(nil)

    private enum Phase {
        /// It has not said who it is.
        case new
        /// There are too many clients; it is told so.
        case turnedAway
        /// It said who it is and gets nothing.
        case refused(AccessDenial)
        case ready(any Conversation, ClientRights)
        case ended
    }
    private struct State {
        var phase = Phase.new
        var program = ""
        var deadline: Task<Void, Never>?
    }
    private let state: Mutex<State>

    /// How long a client that is turned away may take to hear it.
    private static let timeToHear = Duration.seconds(1)

    init(
        number: UInt64, identity: ClientIdentity, core: ServiceCore, isTurnedAway: Bool = false, isDirect: Bool = false
    ) {
        self.isDirect = isDirect
        state = Mutex(State(phase: isTurnedAway ? .turnedAway : .new))
        self.number = number
        self.identity = identity
        self.core = core
        allowance = core.log.allowance()
    }

    /// Gives the session its way back to the client, and the client a time to say who it is.
    func attach<Failure: Error>(_ make: () throws(Failure) -> any ClientLink) throws(Failure) {
        let result: Result<Void, Failure> = link.withLock { link in
            Result { () throws(Failure) in link = try make() }
        }
        try result.get()
        state.withLock { state in
            let (limit, reason): (Duration, String)
            switch state.phase {
            case .new: (limit, reason) = (core.limits.helloTime, "it did not say who it is")
            case .turnedAway: (limit, reason) = (Self.timeToHear, "there are too many clients")
            case .refused, .ready, .ended: return
            }
            state.deadline = core.clock.timer(after: limit) { [weak self] in self?.giveUp(reason) }
        }
    }

    /// What it is called in the log.
    var name: String {
        state.withLock { state in
            let program = state.program.isEmpty ? "a client" : state.program.prefix(64).debugDescription
            let bundle = if case .ready(_, let rights) = state.phase { rights.bundle } else { nil as String? }
            return "\(program) (process \(identity.process)\(bundle.map { ", \($0)" } ?? ""))"
        }
    }

    /// Takes a call. Called on the connection's thread, for one after the other; never blocks.
    func receive(_ call: IncomingCall) {
        switch state.withLock({ $0.phase }) {
        case .ready where call.member == Hello.member:
            deny(call, "who this client is was said before and holds for the connection")
        case .ready(let conversation, let rights): pass(call, to: conversation, with: rights)
        case .new where call.member == Hello.member: welcome(call)
        case .new where isDirect && ClientInterface.kind(of: call.member)?.isOpenToBus ?? false: beginLauncher(call)
        case .new: deny(call, "the first call of a connection is \(Hello.member.interface).\(Hello.member.member)")
        case .turnedAway:
            call.refuse(
                name: BusErrorName.limitsExceeded,
                message: "\(core.limits.connections) clients are connected, the most there may be. Try again later.")
        case .refused(let denial):
            call.refuse(name: ServiceErrorName.accessDenied, message: denial.description)
        case .ended: call.refuse(name: ExtensionStatus.unavailable.errorName, message: "It is being ended.")
        }
    }

    /// Has a call carried out if the client has the right to it, which the kind of request declares.
    private func pass(_ call: IncomingCall, to conversation: any Conversation, with rights: ClientRights) {
        guard let kind = ClientInterface.kind(of: call.member) else { return call.refuse(.unknownMethod(call.member)) }
        if let denial = rights.denial(of: kind) {
            return call.refuse(name: ServiceErrorName.accessDenied, message: denial.description)
        }
        do throws(BusError) { conversation.receive(try kind.init(call), call) } catch { call.refuse(error) }
    }

    /// Decides whether a large call may be read now. Called on the connection's thread; never blocks.
    func mayReadLarge(onOpen: @escaping @Sendable (Bool) -> Void) -> Bool {
        conversation?.mayReadLarge(onOpen: onOpen) ?? true
    }

    private func deny(_ call: IncomingCall, _ reason: String) {
        core.log.write(.warning, allowance, "Refused \(call.member.member) of \(name): \(reason).")
        call.refuse(name: ServiceErrorName.accessDenied, message: "The call is refused: \(reason).")
    }

    private func welcome(_ call: IncomingCall) {
        let hello: Hello
        do throws(BusError) { hello = try Hello(call) } catch {
            core.log.write(.warning, allowance, "Refused the first call of \(name): \(error.description)")
            return call.refuse(error)
        }
        state.withLock { $0.program = hello.program }
        do throws(AccessDenial) {
            let rights = try ClientRights(identity, user: core.user, hello: hello)
            begin(rights)
            answer(call, rights)
        } catch {
            refuse(call, error)
        }
    }

    /// A launcher's first call: it has the rights of a shell, or none.
    private func beginLauncher(_ call: IncomingCall) {
        do throws(AccessDenial) {
            let hello = Hello(role: .shell, bundle: nil, program: "")
            begin(try ClientRights(identity, user: core.user, hello: hello))
            receive(call)
        } catch {
            refuse(call, error)
        }
    }

    private func begin(_ rights: ClientRights) {
        let conversation = makeConversation(rights)
        let deadline = state.withLock { state -> Task<Void, Never>? in
            state.phase = .ready(conversation, rights)
            return state.deadline
        }
        deadline?.cancel()
        core.log.write(.info, allowance, "Connected: \(name)\(rights == .shell ? ", sees all" : "").")
    }

    private func refuse(_ call: IncomingCall, _ denial: AccessDenial) {
        state.withLock { $0.phase = .refused(denial) }
        core.log.write(.warning, allowance, "Refused \(name). \(denial.description)")
        call.refuse(name: ServiceErrorName.accessDenied, message: denial.description)
    }

    private func makeConversation(_ rights: ClientRights) -> any Conversation {
        // It is there by now, since the thread waits for it.
        let link = link.withLock { $0 }
        switch rights {
        case .app(let bundle, _): return AppConversation(bundle: bundle, link: link, core: core)
        case .shell: return AdminSession(link: link, core: core)
        }
    }

    /// Answers at once and without the engine: who connects is not kept waiting by a store that is repaired or busy.
    private func answer(_ call: IncomingCall, _ rights: ClientRights) {
        let welcome = Welcome(
            serviceVersion: core.version, bundle: rights.bundle, processIdentifier: core.process)
        call.reply(welcome.arguments)
    }

    /// Ends the connection, with a reason in the log.
    func giveUp(_ reason: String) {
        core.log.write(.warning, allowance, "Ended the connection of \(name): \(reason).")
        link.withLock { $0 }?.close()
    }

    /// Writes down why the connection has ended.
    func noteEnd(_ end: BusEnd) {
        switch end {
        case .closed, .peerClosed: break
        case .violated, .malformed, .system:
            core.log.write(.warning, allowance, "Lost \(name). \(end.description)")
        }
    }

    /// The engine was opened again.
    func rejoin(_ engine: SearchlightEngine) { conversation?.rejoin(engine) }

    /// The engine is about to be closed.
    func part() { conversation?.part() }

    private var conversation: (any Conversation)? {
        state.withLock { state in
            if case .ready(let conversation, _) = state.phase { conversation } else { nil }
        }
    }

    /// Gives back everything the client had. Called when its connection is gone; returns when nothing is left.
    func end() async {
        let (conversation, deadline) = state.withLock { state -> ((any Conversation)?, Task<Void, Never>?) in
            defer { state.phase = .ended }
            if case .ready(let conversation, _) = state.phase { return (conversation, state.deadline) }
            return (nil, state.deadline)
        }
        deadline?.cancel()
        let link = link.withLock { link in
            defer { link = nil }
            return link
        }
        link?.close()
        await conversation?.end()
    }
}

extension ClientSession.Conversation {
    func mayReadLarge(onOpen: @escaping @Sendable (Bool) -> Void) -> Bool { true }
}
