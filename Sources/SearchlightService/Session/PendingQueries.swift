// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchIndex
import ServiceMessages
import Synchronization

/// The queries of one app under way, by the numbers that it gave them.
final class PendingQueries: Sendable {
    private struct State {
        var isClosed = false
        var tasks: [UInt64: Task<Void, Never>] = [:]
    }
    private let state = Mutex(State())
    private let bundle: String
    private let link: (any ClientLink)?
    private let core: ServiceCore

    init(bundle: String, link: (any ClientLink)?, core: ServiceCore) {
        self.bundle = bundle
        self.link = link
        self.core = core
    }

    /// Begins a request, or cancels one.
    func take(_ request: QueryRequest, _ call: IncomingCall) {
        switch request {
        case .query(let number, let page):
            begin(number, call) { (queries) throws(QueryRefusal) in try await queries.query(page).arguments }
        case .search(let number, let page):
            begin(number, call) { (queries) throws(QueryRefusal) in try await queries.search(page).arguments }
        case .suggest(let number, let text, let limit):
            begin(number, call) { (queries) throws(QueryRefusal) in
                [.strings(try await queries.suggestions(text, limit: limit))]
            }
        case .cancel(let number):
            state.withLock { $0.tasks[number] }?.cancel()
            call.reply()
        }
    }

    private func begin(
        _ number: UInt64, _ call: IncomingCall,
        _ body: @escaping @Sendable (AppQueries) async throws(QueryRefusal) -> [BusValue]
    ) {
        let refusal: QueryRefusal? = state.withLock { state in
            guard !state.isClosed else { return .cancelled }
            guard state.tasks[number] == nil else {
                return QueryRefusal(
                    name: BusErrorName.invalidArguments, message: "The query \(number) is under way already.")
            }
            guard state.tasks.count < core.limits.queries else {
                return QueryRefusal(
                    name: BusErrorName.limitsExceeded,
                    message: "\(state.tasks.count) queries are under way, the most of one connection. Wait for one.")
            }
            state.tasks[number] = Task { await run(call, number, body) }
            return nil
        }
        if let refusal { call.refuse(name: refusal.name, message: refusal.message) }
    }

    private func run(
        _ call: IncomingCall, _ number: UInt64,
        _ body: @Sendable (AppQueries) async throws(QueryRefusal) -> [BusValue]
    ) async {
        let token = core.activity.beginRequest()
        defer { token.end() }
        let result: Result<[BusValue], QueryRefusal>
        do throws(QueryRefusal) {
            let answer = try await core.holder.use({ absence in
                // What is not answered is asked again, of the service that comes after this one.
                if case .stopped = absence { link?.close() }
                return QueryRefusal(absence)
            }) { (engine) throws(QueryRefusal) in
                // An app finds what it donated, and waits for nobody else's donations.
                try await ReadPatience.own(bundle).during { () throws(QueryRefusal) in
                    try await body(AppQueries(engine: engine, bundle: bundle, limits: core.limits))
                }
            }
            result = .success(answer)
        } catch {
            result = .failure(error)
        }
        // Before the answer, so that who has it may ask again under the same number.
        state.withLock { $0.tasks[number] = nil }
        switch result {
        case .success(let answer): call.reply(answer)
        case .failure(let refusal): call.refuse(name: refusal.name, message: refusal.message)
        }
    }

    /// Cancels all, and begins none any more.
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
