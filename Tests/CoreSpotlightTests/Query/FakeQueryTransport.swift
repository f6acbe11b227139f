// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Synchronization

@testable import CoreSpotlight

/// A service that answers queries from a script, and records the requests.
final class FakeQueryTransport: QueryTransport {
    enum Step: Sendable {
        /// A page of items with these titles. Another page follows, unless it is the last step.
        case items([String])
        case fails(CSSearchQueryError)
        /// Never answers, not even a cancellation.
        case silence
        case raw(ResultPage)
    }

    private struct State {
        var pages: [ResultPageRequest] = []
        var suggestionRequests: [String] = []
        var engagements: [String] = []
        var cancelled: Set<UInt64> = []
        var numbers: [UInt64] = []
        var arrivals: [CheckedContinuation<Void, Never>] = []
    }

    private let steps: [Step]
    private let completions: Result<[String], CSSearchQueryError>
    private let state = Mutex(State())

    init(_ steps: [Step], completions: Result<[String], CSSearchQueryError> = .success([])) {
        self.steps = steps
        self.completions = completions
    }

    var pages: [ResultPageRequest] { state.withLock { $0.pages } }
    var suggestionRequests: [String] { state.withLock { $0.suggestionRequests } }
    /// The engagements of the user, as `kind item after text`.
    var engagements: [String] { state.withLock { $0.engagements } }
    /// The numbers of calls, in the order in which they came.
    var numbers: [UInt64] { state.withLock { $0.numbers } }
    var cancelled: Set<UInt64> { state.withLock { $0.cancelled } }

    /// Waits for the first request for a page.
    func firstPageAsked() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.pages.isEmpty { state.arrivals.append(continuation) }
                return !state.pages.isEmpty
            }
            if isThere { continuation.resume() }
        }
    }

    func page(_ request: ResultPageRequest, number: UInt64) async throws(CSSearchQueryError) -> ResultPage {
        let arrivals = state.withLock { state in
            state.pages.append(request)
            state.numbers.append(number)
            defer { state.arrivals = [] }
            return state.arrivals
        }
        for arrival in arrivals { arrival.resume() }
        let step = Int(request.cursor.first ?? 0)
        guard step < steps.count else { return ResultPage(records: [], next: nil) }
        switch steps[step] {
        case .items(let titles):
            let records = titles.prefix(request.limit).map { Self.record($0) }
            return ResultPage(records: records, next: step + 1 < steps.count ? [UInt8(step + 1)] : nil)
        case .fails(let error): throw error
        case .raw(let reply): return reply
        case .silence:
            try? await Task.sleep(for: .seconds(86_400))
            throw .cancelledQuery
        }
    }

    func engaged(item: String, after text: String, kind: String, number: UInt64) {
        state.withLock { $0.engagements.append("\(kind) \(item) after \(text)") }
    }

    func suggestions(for text: String, limit: Int, number: UInt64) async throws(CSSearchQueryError) -> [String] {
        state.withLock { state in
            state.suggestionRequests.append("\(text) \(limit)")
            state.numbers.append(number)
        }
        return try completions.get()
    }

    func prepare(number: UInt64) {}

    func cancel(number: UInt64) { state.withLock { _ = $0.cancelled.insert(number) } }

    /// The record of an item that the service sends. It has more attributes than were requested, to
    /// check that only the requested ones are passed on.
    static func record(_ title: String) -> [UInt8] {
        let record = ItemRecord(
            uniqueIdentifier: "id-\(title)", domainIdentifier: "d",
            attributes: ["title": .string(title), "comment": .string("unasked")])
        return (try? record.encoded()) ?? []
    }

    /// Runs a closure that makes queries, with this instead of the service.
    func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        try await ProcessTransports.$replacement.withValue(.init(query: self), operation: body)
    }

    func make<Value>(_ body: () -> Value) -> Value {
        ProcessTransports.$replacement.withValue(.init(query: self), operation: body)
    }
}
