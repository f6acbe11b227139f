// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A query as it runs: what it finds, who reads it, and whether it was cancelled.
final class QueryRun: Sendable {
    /// Who reads what was found: each part of it is read by one only.
    enum Reader: Sendable { case handlers, results, responses, suggestions }

    private struct State {
        var itemsReader: Reader?
        var suggestionsReader: Reader?
        var iterated: Set<Reader> = []
        var finished: Set<Reader> = []
        var isCancelled = false
        var itemCount = 0
        var suggestionCount = 0

        /// Whether something was read, and all of it to the end.
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

    /// Begins to look for what this reader reads.
    ///
    /// - Returns: `false` if that was begun before, by this reader or another.
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

    /// Lets a sequence be iterated, once.
    ///
    /// - Throws: ``CSSearchQueryError/Code/unknown`` if it was before, or if somebody else reads what it holds.
    func iterate(_ reader: Reader) throws(CSSearchQueryError) {
        try state.withLock { state throws(CSSearchQueryError) in
            let isItems = reader == .suggestions || state.itemsReader == reader
            let isSuggestions = reader == .results || state.suggestionsReader == reader
            guard isItems, isSuggestions, state.iterated.insert(reader).inserted else {
                throw CSSearchQueryError(
                    .unknown,
                    "The results of this query are read elsewhere: by handlers, by another of its sequences, or by an "
                        + "earlier loop. A query runs once; make another one.")
            }
        }
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// How much the one who reads it was given.
    var itemCount: Int { state.withLock { $0.itemCount } }
    var suggestionCount: Int { state.withLock { $0.suggestionCount } }

    func count(items: Int = 0, suggestions: Int = 0) {
        state.withLock { state in
            state.itemCount += items
            state.suggestionCount += suggestions
        }
    }

    /// Cancels, unless it is over.
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

    /// A reader has read everything, or failed. When all have, nothing can be cancelled any more.
    ///
    /// - Returns: whether it was cancelled before.
    @discardableResult
    func finish(_ reader: Reader) -> Bool {
        state.withLock { state in
            state.finished.insert(reader)
            return state.isCancelled
        }
    }

    /// Tells the service what the user did with an item, if the query is for what the user typed.
    func engaged(item: String, kind: String) {
        guard plan.kind == .userText, case .success(let transport) = transport else { return }
        let text = String(plan.text.prefix(Self.maximumEngagedCharacters))
        transport.engaged(item: item, after: text, kind: kind, number: ProcessTransports.nextNumber())
    }

    /// More of what was typed is not counted by the service.
    private static let maximumEngagedCharacters = 1000
}
