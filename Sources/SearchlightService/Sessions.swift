// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchlightEngine
import ServiceMessages
import Synchronization
import SystemSupport

/// A service's sessions, each from the client's connection until it ends.
final class Sessions: Sendable {
    private struct State {
        var last: UInt64 = 0
        var sessions: [UInt64: ClientSession] = [:]
        var turnedAway = 0
    }
    private let state = Mutex(State())
    private let core: ServiceCore

    /// The maximum number of clients beyond the limit that receive an error. The connections of
    /// further clients are just closed.
    private static let maximumTurnedAway = 16

    init(_ core: ServiceCore) { self.core = core }

    /// The number of sessions.
    var count: Int { state.withLock { $0.sessions.count } }

    private enum Place {
        case taken(ServiceActivity.Token)
        case turnedAway
        case none
    }

    /// Starts a session for a connected socket.
    func accept(_ socket: OwnedDescriptor, _ identity: ClientIdentity) {
        guard identity.user == core.user else {
            let denial = AccessDenial.otherUser(identity.user)
            return core.log.write(.warning, core.strangers, "Closed a connection. \(denial.description)")
        }
        let place = self.place()
        let token: ServiceActivity.Token?
        switch place {
        case .taken(let taken): token = taken
        case .turnedAway: token = nil
        case .none:
            return core.log.write(.warning, core.strangers, "Closed a connection: there are too many.")
        }
        let session = ClientSession(
            number: number(), identity: identity, core: core, isTurnedAway: token == nil)
        do throws(BusError) {
            try session.attach { () throws(BusError) in
                // Recorded before its first call can arrive.
                state.withLock { $0.sessions[session.number] = session }
                return try BusConnection(
                    adopting: socket, side: .server, name: "client-\(session.number)", limits: BusLimits(),
                    gate: { session.mayReadLarge(onOpen: $0) },
                    onCall: { if !Introspection.answer($0) { session.receive($0) } },
                    onDisconnect: { end in
                        session.noteEnd(end)
                        self.end(session, token)
                    })
            }
        } catch {
            core.log.write(.error, core.strangers, "A connection could not be opened. \(error.description)")
            end(session, token)
        }
    }

    /// Starts a session for a sender on the session bus. Such sessions do not count as connections.
    func begin(_ identity: ClientIdentity, isDirect: Bool) -> ClientSession {
        let session = ClientSession(number: number(), identity: identity, core: core, isDirect: isDirect)
        state.withLock { $0.sessions[session.number] = session }
        return session
    }

    func end(_ session: ClientSession) {
        Task {
            await session.end()
            state.withLock { $0.sessions[session.number] = nil }
        }
    }

    private func place() -> Place {
        if let token = core.activity.beginConnection(limit: core.limits.connections) { return .taken(token) }
        return state.withLock { state in
            guard state.turnedAway < Self.maximumTurnedAway else { return .none }
            state.turnedAway += 1
            return .turnedAway
        }
    }

    private func number() -> UInt64 {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    private func end(_ session: ClientSession, _ token: ServiceActivity.Token?) {
        Task {
            await session.end()
            state.withLock { state in
                state.sessions[session.number] = nil
                if token == nil { state.turnedAway -= 1 }
            }
            token?.end()
        }
    }

    /// Registers all sessions again with an engine that was opened again.
    func rejoin(_ engine: SearchlightEngine) {
        for session in all { session.rejoin(engine) }
    }

    /// Drops all registrations with an engine that is about to be closed.
    func part() {
        for session in all { session.part() }
    }

    /// Ends all connections; returns when everything is released.
    func closeAll() async {
        for session in all { await session.end() }
    }

    private var all: [ClientSession] { state.withLock { Array($0.sessions.values) } }
}
