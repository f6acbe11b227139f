// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import ItemRecord
import ServiceMessages
import Synchronization

@testable import CoreSpotlight

/// A service with indexes in memory. It executes each step, and drops its connection, only when the
/// test requests it.
final class ScriptedService: ServiceOpener {
    struct Index: Equatable {
        var items: Set<String> = []
        var state: [UInt8]?
    }
    struct Call: Sendable {
        let member: BusMember
        let arguments: [BusValue]
        let reply: BusConnection.ReplyHandler
    }
    struct State {
        var indexes: [String?: Index] = [:]
        /// The requests received over each connection, without greetings and client state queries.
        var received: [[IndexRequest]] = []
        var otherCalls: [BusMember] = []
        var posted: [BusMember] = []
        /// Executed calls whose answers have not been sent.
        var carriedOut: [(reply: BusConnection.ReplyHandler, result: Result<[BusValue], BusError>)] = []
        var arrived: [Call] = []
        var onDisconnect: (@Sendable () -> Void)?
        var onCall: BusConnection.CallHandler?
        var link = 0
        var isUp = true
        var refusal: BusError?
        var greetingRefusal: BusError?
        var answersGreetings = true
        var openings = 0
    }
    let state = Mutex(State())

    final class Link: ServiceLink {
        let service: ScriptedService
        let number: Int

        init(_ service: ScriptedService, _ number: Int) {
            self.service = service
            self.number = number
        }

        func call(_ member: BusMember, _ arguments: [BusValue], reply: @escaping BusConnection.ReplyHandler) {
            service.arrive(Call(member: member, arguments: arguments, reply: reply), number)
        }

        func post(_ member: BusMember, _ arguments: [BusValue]) {
            service.state.withLock { $0.posted.append(member) }
        }

        func close() { service.cut(number) }
    }

    func open(
        onCall: @escaping BusConnection.CallHandler, onDisconnect: @escaping @Sendable () -> Void
    ) throws(BusError) -> any ServiceLink {
        let result: Result<Int, BusError> = state.withLock { state in
            state.openings += 1
            if let refusal = state.refusal { return .failure(refusal) }
            state.link += 1
            state.isUp = true
            state.onCall = onCall
            state.onDisconnect = onDisconnect
            state.received.append([])
            return .success(state.link)
        }
        return Link(self, try result.get())
    }

    private func arrive(_ call: Call, _ link: Int) {
        let isUp = state.withLock { state in
            guard state.isUp, link == state.link else { return false }
            state.arrived.append(call)
            if let request = call.indexRequest, request.member.member != "ClientState" {
                state.received[state.received.count - 1].append(request)
            } else {
                state.otherCalls.append(call.member)
            }
            return true
        }
        if !isUp { call.reply(.failure(.disconnected)) }
    }

    /// Executes the next received call. Returns `false` if there is none.
    func carryOut() -> Bool {
        state.withLock { state in
            guard !state.arrived.isEmpty else { return false }
            let call = state.arrived.removeFirst()
            if call.member == Hello.member {
                if !state.answersGreetings { return true }
                let welcome = Welcome(serviceVersion: "1", bundle: "b", processIdentifier: 1)
                let result = state.greetingRefusal.map { .failure($0) } ?? Result.success(welcome.arguments)
                state.carriedOut.append((call.reply, result))
            } else if let request = call.indexRequest {
                state.carriedOut.append(
                    (call.reply, state.indexes[request.index, default: Index()].apply(request.action)))
            } else {
                state.carriedOut.append((call.reply, .success([])))
            }
            return true
        }
    }

    /// Sends the next answer. Returns `false` if there is none.
    func answer() -> Bool {
        guard let next = state.withLock({ $0.carriedOut.isEmpty ? nil : $0.carriedOut.removeFirst() }) else {
            return false
        }
        next.reply(next.result)
        return true
    }

    /// Drops the connection: remaining calls are never executed, and nothing more is answered.
    func cut(_ link: Int? = nil) {
        let (replies, onDisconnect) = state.withLock { state in
            guard state.isUp, link == nil || link == state.link else {
                return ([] as [BusConnection.ReplyHandler], nil as (@Sendable () -> Void)?)
            }
            state.isUp = false
            let replies = state.carriedOut.map(\.reply) + state.arrived.map(\.reply)
            state.carriedOut = []
            state.arrived = []
            defer { state.onDisconnect = nil }
            return (replies, state.onDisconnect)
        }
        for reply in replies { reply(.failure(.disconnected)) }
        onDisconnect?()
    }
}

extension ScriptedService.Call {
    var indexRequest: IndexRequest? {
        // The received message is encoded. It is decoded here in the same way as in the service.
        guard member.interface == IndexRequest.interface else { return nil }
        var arguments = BusArguments(arguments, of: member.member)
        return try? IndexRequest(member: member, &arguments)
    }
}

extension IndexRequest {
    fileprivate init(member: BusMember, _ arguments: inout BusArguments) throws(BusError) {
        let name = try arguments.string()
        let index = name.isEmpty ? nil : name
        switch member.member {
        case "ClientState": self = .clientState(index: index)
        case "Commit":
            let bytes = try arguments.bytes()
            let state = try ClientStateReply(&arguments).state
            let isExpected = try arguments.boolean()
            let isState = try arguments.boolean()
            let expected = try arguments.bytes()
            guard let changes = try? ChangeList(decoding: bytes) else { throw .malformed(member.member) }
            self = .commit(
                IndexBatch(
                    scope: IndexScope(bundle: "", index: index), changes: changes, clientState: state,
                    expecting: isExpected ? .exactly(isState ? expected : nil) : .any))
        default: throw .malformed(member.member)
        }
    }
}

extension ScriptedService.Index {
    /// Executes the request. Items are the bytes that represent them.
    mutating func apply(_ action: IndexRequest.Action) -> Result<[BusValue], BusError> {
        switch action {
        case .clientState: return .success(ClientStateReply(state: state).arguments)
        case .record: return .success(RecordReply(record: nil).arguments)
        case .identifiers: return .success([.strings([])])
        case .commit(let batch):
            if case .exactly(let expected) = batch.expectation, expected != state {
                return .failure(.remote(name: ServiceErrorName.mismatchedClientState, message: "another state"))
            }
            for change in batch.changes.all {
                switch change {
                case .put(let bytes): items.insert(String(decoding: bytes, as: UTF8.self))
                case .deleteItems(let names), .deleteDomains(let names): items.subtract(names)
                case .deleteAll: self = Self()
                case .renameItems(let renames):
                    let moved = renames.filter { items.remove($0.identifier) != nil }
                    items.formUnion(moved.map(\.newIdentifier))
                }
            }
            if let new = batch.clientState { state = new }
        }
        return .success([])
    }
}
