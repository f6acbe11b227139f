// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import Synchronization

/// A sender on the session bus. Its calls wait until the sender is identified.
final class BusSender: Sendable {
    private enum Phase {
        case new([IncomingCall])
        case known(ClientSession)
        case ended
    }
    private struct State {
        var phase = Phase.new([])
        /// Keeps the service running. Set by the sender's hello call.
        var token: ServiceActivity.Token?
    }
    private let state = Mutex(State())
    let name: String
    private let core: ServiceCore

    /// The maximum number of waiting calls. A client usually sends one call and waits for its
    /// reply.
    private static let maximumWaiting = 64

    init(name: String, core: ServiceCore) {
        self.name = name
        self.core = core
    }

    /// Processes a call; never blocks.
    func receive(_ call: IncomingCall) {
        let refusal: (name: String, message: String)? = state.withLock { state in
            if call.member == Hello.member, state.token == nil { state.token = core.activity.beginSender() }
            switch state.phase {
            case .new(var calls):
                guard calls.count < Self.maximumWaiting else {
                    return (
                        BusErrorName.limitsExceeded,
                        "\(calls.count) calls are waiting for the identification of this client."
                    )
                }
                calls.append(call)
                state.phase = .new(calls)
            // Called under the lock, so that the waiting calls are processed first.
            case .known(let session): session.receive(call)
            case .ended: return (ServiceErrorName.accessDenied, "The service has ended this session.")
            }
            return nil
        }
        if let refusal { call.refuse(name: refusal.name, message: refusal.message) }
    }

    /// Starts the session of the identified sender.
    ///
    /// - Returns: `false` if the sender has left the bus.
    func begin(_ session: ClientSession) -> Bool {
        state.withLock { state in
            guard case .new(let calls) = state.phase else { return false }
            state.phase = .known(session)
            for call in calls { session.receive(call) }
            return true
        }
    }

    /// Ends the conversation.
    ///
    /// - Returns: The session, if there was one.
    func end(name: String, message: String) -> ClientSession? {
        let (phase, token) = state.withLock { state in
            defer { state = State(phase: .ended, token: nil) }
            return (state.phase, state.token)
        }
        token?.end()
        switch phase {
        case .new(let calls):
            for call in calls { call.refuse(name: name, message: message) }
            return nil
        case .known(let session): return session
        case .ended: return nil
        }
    }
}
