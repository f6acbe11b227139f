// SPDX-License-Identifier: Apache-2.0
import Synchronization

@testable import CoreSpotlight

/// Records the calls of a query's handlers.
final class HandlerLog: Sendable {
    enum Call: Equatable, Sendable {
        case items([String], count: Int)
        case suggestions([String], count: Int)
        case end(CSSearchQueryError.Code?)
    }

    private struct State {
        var calls: [Call] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isOver = false
        var isInside = false
        var overlapped = false
    }

    private let state = Mutex(State())

    /// Sets the handlers of a query.
    ///
    /// - Parameter during: An action inside a call with items, by its number from 1.
    init(_ query: CSSearchQuery, during: @escaping @Sendable (Int) -> Void = { _ in }) {
        let number = Mutex(0)
        query.foundItemsHandler = { [unowned query] items in
            self.enter()
            self.add(.items(items.map(\.uniqueIdentifier), count: query.foundItemCount))
            during(
                number.withLock {
                    $0 += 1
                    return $0
                })
            self.leave()
        }
        if let query = query as? CSUserQuery {
            query.foundSuggestionsHandler = { [unowned query] suggestions in
                self.enter()
                self.add(.suggestions(suggestions.map(\.text), count: query.foundSuggestionCount))
                self.leave()
            }
        }
        query.completionHandler = { error in self.end(error.map { ($0 as? CSSearchQueryError)?.code ?? .unknown }) }
    }

    /// Waits for the end of the query and returns all calls.
    var calls: [Call] {
        get async {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.isOver { state.waiting.append(continuation) }
                    return state.isOver
                }
                if isOver { continuation.resume() }
            }
            return state.withLock { $0.calls }
        }
    }

    var overlapped: Bool { state.withLock { $0.overlapped } }

    private func enter() {
        state.withLock {
            $0.overlapped = $0.overlapped || $0.isInside
            $0.isInside = true
        }
    }

    private func leave() { state.withLock { $0.isInside = false } }

    private func add(_ call: Call) { state.withLock { $0.calls.append(call) } }

    private func end(_ code: CSSearchQueryError.Code?) {
        let waiting = state.withLock { state in
            state.calls.append(.end(code))
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
