// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchIndex
import SearchlightEngine
import ServiceMessages
import Synchronization

/// One client's requests to the engine. Their number is bounded, and all of them are cancelled when
/// the session ends.
final class ClientRequests: Sendable {
    private struct State {
        var isClosed = false
        var last: UInt64 = 0
        var tasks: [UInt64: Task<Void, Never>] = [:]
    }
    private let state = Mutex(State())
    private let engine: SharedEngine
    private let patience: ReadPatience
    private let maximum: Int
    private let link: (any ClientLink)?

    /// Creates a client's request queue.
    ///
    /// - Parameters:
    ///   - patience: The maximum time for which reads wait for pending donations.
    ///   - maximum: The maximum number of concurrent requests.
    ///   - link: Closed when the service shuts down, so that the client sends unanswered requests
    ///     again to the next service.
    init(_ engine: SharedEngine, _ patience: ReadPatience, maximum: Int, link: (any ClientLink)? = nil) {
        (self.engine, self.patience, self.maximum, self.link) = (engine, patience, maximum, link)
    }

    /// Runs a request on the engine and replies to its call or rejects it. Never blocks.
    ///
    /// - Parameters:
    ///   - number: The client's number for the request, used to cancel it.
    ///   - isInteractive: `true` if a user is waiting for the reply.
    func answer(
        _ call: IncomingCall, number: UInt64? = nil, isInteractive: Bool = false,
        _ body: @escaping @Sendable (SearchlightEngine) async throws(QueryRefusal) -> [BusValue]
    ) {
        let refusal: QueryRefusal? = state.withLock { state in
            guard !state.isClosed else { return .cancelled }
            guard number.map({ state.tasks[$0] == nil }) ?? true else {
                return QueryRefusal(
                    name: BusErrorName.invalidArguments,
                    message: "The query \(number ?? 0) is already in progress. Use a new number for each query.")
            }
            guard state.tasks.count < maximum else {
                return QueryRefusal(
                    name: BusErrorName.limitsExceeded,
                    message: "\(maximum) requests of this client are in progress. Wait until one ends.")
            }
            if number == nil { state.last += 1 }
            let number = number ?? state.last
            state.tasks[number] = Task { await run(call, number, isInteractive, body) }
            return nil
        }
        if let refusal { call.refuse(name: refusal.name, message: refusal.message) }
    }

    private func run(
        _ call: IncomingCall, _ number: UInt64, _ isInteractive: Bool,
        _ body: @Sendable (SearchlightEngine) async throws(QueryRefusal) -> [BusValue]
    ) async {
        let result: Result<[BusValue], QueryRefusal>
        do throws(QueryRefusal) {
            let refusal = { (absence: EngineUnavailable) in
                if case .stopped = absence { self.link?.close() }
                return QueryRefusal(absence)
            }
            result = .success(try await engine.use(patience, isInteractive: isInteractive, refusal, body))
        } catch {
            result = .failure(error)
        }
        // Removed before the reply, so that the client may use the same number again.
        state.withLock { $0.tasks[number] = nil }
        switch result {
        case .success(let answer): call.reply(answer)
        case .failure(let refusal): call.refuse(name: refusal.name, message: refusal.message)
        }
    }

    /// Cancels the request with a number, if there is one.
    func cancel(_ number: UInt64) { state.withLock { $0.tasks[number] }?.cancel() }

    /// Cancels all requests and accepts no more.
    func cancelAll() {
        let tasks = state.withLock { state in
            state.isClosed = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }
}

extension QueryRefusal {
    init(_ absence: EngineUnavailable) {
        if case .cancelled = absence {
            self = .cancelled
        } else {
            self.init(name: ExtensionStatus.unavailable.errorName, message: absence.description)
        }
    }
}
