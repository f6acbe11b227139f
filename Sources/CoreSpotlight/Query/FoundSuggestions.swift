// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The completions of the typed text, for one reader.
final class FoundSuggestions: Sendable {
    private struct State {
        var call: Result<QueryCall<[String]>, CSSearchQueryError>?
        var isCancelled = false
    }

    private let plan: ResultPagePlan
    private let transport: Result<any QueryTransport, CSSearchQueryError>
    private let state = Mutex(State())

    init(_ plan: ResultPagePlan, _ transport: Result<any QueryTransport, CSSearchQueryError>) {
        self.plan = plan
        self.transport = transport
    }

    /// Requests the suggestions, unless they have already been requested.
    func begin() {
        guard plan.suggestionCount > 0 else { return }
        state.withLock { state in
            guard state.call == nil, !state.isCancelled else { return }
            state.call = transport.map { transport in
                QueryCall(transport) { [plan] transport, number async throws(CSSearchQueryError) in
                    try await transport.suggestions(for: plan.text, limit: plan.suggestionCount, number: number)
                }
            }
        }
    }

    /// Returns all suggestions, best first.
    func all() async throws(CSSearchQueryError) -> [CSSuggestion] {
        begin()
        let call = try state.withLock { state throws(CSSearchQueryError) in
            if state.isCancelled { throw .cancelledQuery }
            return try state.call?.get()
        }
        guard let call else { return [] }
        let texts = try await call.value
        if state.withLock({ $0.isCancelled }) { throw .cancelledQuery }
        return texts.prefix(plan.suggestionCount).enumerated().map { place, text in
            CSSuggestion(completing: plan.text, to: text, place: place)
        }
    }

    /// Cancels the request. A waiting reader receives the error at once.
    func cancel() {
        let call = state.withLock { state in
            state.isCancelled = true
            return try? state.call?.get()
        }
        call?.cancel()
    }
}
