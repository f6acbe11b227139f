// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchlightEngine
import ServiceMessages
import Synchronization

/// The session of one client, from its first call until it ends. ``ClientRights`` determines once
/// which calls the client may make. All of the session's resources are released when it ends,
/// regardless of the reason.
final class ClientSession: Sendable {
    /// The part of a session that depends on the client's rights.
    protocol Conversation: Sendable {
        /// Processes a permitted call; never blocks.
        func receive(_ request: any ClientRequest, _ call: IncomingCall)
        /// Determines whether a large call may be read now; see ``BusConnection/LargeCallGate``.
        /// Never blocks.
        func mayReadLarge(onOpen: @escaping @Sendable (Bool) -> Void) -> Bool
        /// Registers again with an engine that was opened again.
        func rejoin(_ engine: SearchlightEngine)
        /// Drops the registrations with an engine that is being closed.
        func part()
        /// Cancels the requests in progress and releases everything; returns when that is done.
        func end() async
    }

    /// The session's number, unique within the service.
    let number: UInt64
    let identity: ClientIdentity
    private let core: ServiceCore
    private let allowance: LogAllowance
    /// `true` if a launcher may skip the first call, like generic session bus tools do.
    private let isDirect: Bool
    /// The channel to the client. Its lock is held while the channel is created, since a call may
    /// arrive on the connection's thread during that time.
    private let link = Mutex<(any ClientLink)?>(nil)

    private enum Phase {
        /// The client has not identified itself yet.
        case new
        /// There are too many clients; each call receives that error.
        case turnedAway
        /// The client identified itself and was rejected.
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

    /// The delay before a connection beyond the client limit is closed, so that the client can read
    /// the error.
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

    /// Sets the channel to the client, and starts the time limit for the first call.
    func attach<Failure: Error>(_ make: () throws(Failure) -> any ClientLink) throws(Failure) {
        let result: Result<Void, Failure> = link.withLock { link in
            Result { () throws(Failure) in link = try make() }
        }
        try result.get()
        state.withLock { state in
            let (limit, reason): (Duration, String)
            switch state.phase {
            case .new: (limit, reason) = (core.limits.helloTime, "it did not identify itself")
            case .turnedAway: (limit, reason) = (Self.timeToHear, "there are too many clients")
            case .refused, .ready, .ended: return
            }
            state.deadline = core.clock.timer(after: limit) { [weak self] in self?.giveUp(reason) }
        }
    }

    /// The client's name in the log.
    var name: String {
        state.withLock { state in
            let program = state.program.isEmpty ? "a client" : state.program.prefix(64).debugDescription
            let bundle = if case .ready(_, let rights) = state.phase { rights.bundle } else { nil as String? }
            return "\(program) (process \(identity.process)\(bundle.map { ", \($0)" } ?? ""))"
        }
    }

    /// Processes a call. Called on the connection's thread, one call at a time; never blocks.
    func receive(_ call: IncomingCall) {
        switch state.withLock({ $0.phase }) {
        case .ready where call.member == Hello.member:
            deny(call, "the client has already identified itself")
        case .ready(let conversation, let rights): pass(call, to: conversation, with: rights)
        case .new where call.member == Hello.member: welcome(call)
        case .new where isDirect && ClientInterface.kind(of: call.member)?.isOpenToBus ?? false: beginLauncher(call)
        case .new: deny(call, "the first call of a connection must be \(Hello.member.interface).\(Hello.member.member)")
        case .turnedAway:
            call.refuse(
                name: BusErrorName.limitsExceeded,
                message: "\(core.limits.connections) clients are connected, which is the limit. Try again later.")
        case .refused(let denial):
            call.refuse(name: ServiceErrorName.accessDenied, message: denial.description)
        case .ended: call.refuse(name: ExtensionStatus.unavailable.errorName, message: "The connection is ending.")
        }
    }

    /// Passes on a call if the client has the rights that its type declares.
    private func pass(_ call: IncomingCall, to conversation: any Conversation, with rights: ClientRights) {
        guard let kind = ClientInterface.kind(of: call.member) else { return call.refuse(.unknownMethod(call.member)) }
        if let denial = rights.denial(of: kind) {
            return call.refuse(name: ServiceErrorName.accessDenied, message: denial.description)
        }
        do throws(BusError) { conversation.receive(try kind.init(call), call) } catch { call.refuse(error) }
    }

    /// Determines whether a large call may be read now. Called on the connection's thread; never
    /// blocks.
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

    /// Processes a launcher's first call. The launcher gets a shell's rights or is rejected.
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
        core.log.write(
            .info, allowance, "Connected: \(name)\(rights == .shell ? ", with access to the whole index" : "").")
    }

    private func refuse(_ call: IncomingCall, _ denial: AccessDenial) {
        state.withLock { $0.phase = .refused(denial) }
        core.log.write(.warning, allowance, "Refused \(name). \(denial.description)")
        call.refuse(name: ServiceErrorName.accessDenied, message: denial.description)
    }

    private func makeConversation(_ rights: ClientRights) -> any Conversation {
        // `attach(_:)` holds the lock until the channel is set, so the channel is available here.
        let link = link.withLock { $0 }
        switch rights {
        case .app(let bundle, _): return AppConversation(bundle: bundle, link: link, core: core)
        case .shell: return AdminSession(link: link, core: core)
        }
    }

    /// Replies immediately and without the engine, so that a repair or a busy store does not delay
    /// the client.
    private func answer(_ call: IncomingCall, _ rights: ClientRights) {
        let welcome = Welcome(
            serviceVersion: core.version, bundle: rights.bundle, processIdentifier: core.process)
        call.reply(welcome.arguments)
    }

    /// Closes the connection and logs the reason.
    func giveUp(_ reason: String) {
        core.log.write(.warning, allowance, "Ended the connection of \(name): \(reason).")
        link.withLock { $0 }?.close()
    }

    /// Logs the reason why the connection ended.
    func noteEnd(_ end: BusEnd) {
        switch end {
        case .closed, .peerClosed: break
        case .violated, .malformed, .system:
            core.log.write(.warning, allowance, "Lost \(name). \(end.description)")
        }
    }

    /// Registers again with an engine that was opened again.
    func rejoin(_ engine: SearchlightEngine) { conversation?.rejoin(engine) }

    /// Drops the registrations with an engine that is about to be closed.
    func part() { conversation?.part() }

    private var conversation: (any Conversation)? {
        state.withLock { state in
            if case .ready(let conversation, _) = state.phase { conversation } else { nil }
        }
    }

    /// Releases all of the client's resources. Called when its connection has ended; returns when
    /// that is done.
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
