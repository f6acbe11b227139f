// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A running query: its results, its readers and its cancellation.
final class QueryRun: Sendable {
    /// A reader of results. Each part of the results has one reader.
    enum Reader: Sendable { case handlers, results, responses, suggestions }

    private struct State {
        var itemsReader: Reader?
        var suggestionsReader: Reader?
        var iterated: Set<Reader> = []
        var finished: Set<Reader> = []
        var isCancelled = false
        var itemCount = 0
        var suggestionCount = 0

        /// `true` if at least one part has a reader, and all readers have read their parts to the
        /// end.
        var isOver: Bool {
            let readers = [itemsReader, suggestionsReader].compactMap(\.self)
            return !readers.isEmpty && readers.allSatisfy(finished.contains)
        }
    }

    let items: ResultPages
    let suggestions: FoundSuggestions
    private let plan: ResultPagePlan
    private let transport: Result<any QueryTransport, CSSearchQueryError>
    private let state = Mutex(State())

    init(_ plan: ResultPagePlan, _ transport: Result<any QueryTransport, CSSearchQueryError>) {
        (self.plan, self.transport) = (plan, transport)
        items = ResultPages(plan, transport)
        suggestions = FoundSuggestions(plan, transport)
    }

    /// Starts the search for a reader's parts.
    ///
    /// - Returns: `false` if this or another reader has already started it.
    @discardableResult
    func begin(_ reader: Reader, suggests: Bool = true) -> Bool {
        let (wantsItems, wantsSuggestions) = (reader != .suggestions, reader != .results)
        let isFirst = state.withLock { state in
            if wantsItems, state.itemsReader != nil { return false }
            if wantsSuggestions, state.suggestionsReader != nil { return false }
            if wantsItems { state.itemsReader = reader }
            if wantsSuggestions { state.suggestionsReader = reader }
            return true
        }
        guard isFirst else { return false }
        if wantsItems { items.begin() }
        if wantsSuggestions, suggests { suggestions.begin() }
        return true
    }

    /// Starts the iteration of a sequence, once.
    ///
    /// - Throws: ``CSSearchQueryError/Code/unknown`` if it was already iterated, or if another
    ///   reader reads its results.
    func iterate(_ reader: Reader) throws(CSSearchQueryError) {
        try state.withLock { state throws(CSSearchQueryError) in
            let isItems = reader == .suggestions || state.itemsReader == reader
            let isSuggestions = reader == .results || state.suggestionsReader == reader
            guard isItems, isSuggestions, state.iterated.insert(reader).inserted else {
                throw CSSearchQueryError(
                    .unknown,
                    "The results of this query already have a reader: its handlers, another sequence or an "
                        + "earlier loop. A query runs once. Create another one.")
            }
        }
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// The number of items that the reader has received.
    var itemCount: Int { state.withLock { $0.itemCount } }
    var suggestionCount: Int { state.withLock { $0.suggestionCount } }

    func count(items: Int = 0, suggestions: Int = 0) {
        state.withLock { state in
            state.itemCount += items
            state.suggestionCount += suggestions
        }
    }

    /// Cancels the query, unless it has ended.
    func cancel() {
        let cancels = state.withLock { state in
            guard !state.isOver, !state.isCancelled else { return false }
            state.isCancelled = true
            return true
        }
        guard cancels else { return }
        items.cancel()
        suggestions.cancel()
    }

    /// Records that a reader has read everything, or failed. Once all readers have finished, the
    /// query can no longer be cancelled.
    ///
    /// - Returns: `true` if the query had already been cancelled.
    @discardableResult
    func finish(_ reader: Reader) -> Bool {
        state.withLock { state in
            state.finished.insert(reader)
            return state.isCancelled
        }
    }

    /// Reports the user's interaction with an item to the service, if the query is for a typed
    /// text.
    func engaged(item: String, kind: String) {
        guard plan.kind != .query, case .success(let transport) = transport else { return }
        let text = String(plan.text.prefix(Self.maximumEngagedCharacters))
        transport.engaged(item: item, after: text, kind: kind, number: ProcessTransports.nextNumber())
    }

    /// The maximum number of characters of the typed text that are reported to the service.
    private static let maximumEngagedCharacters = 1000
}
