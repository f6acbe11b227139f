// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

/// Looks for items of the app by their attributes, in all its indexes.
///
/// A query runs once: cancel it and make another one to search for something else. What it finds is read in one of two
/// ways, never both: reading ``results`` starts the query, and so does ``start()``, which then calls the handlers.
///
/// Handlers are called one after the other. A closure that was made on the main actor, or on another one, is called there, so that it
/// may use what belongs to that actor; all others are called on a queue of the library, never on the main thread:
///
/// ```swift
/// @MainActor func show(_ query: CSSearchQuery, in list: ResultList) {
///     query.foundItemsHandler = { items in list.rows += items.map(\.uniqueIdentifier) }
///     query.start()
/// }
/// ```
///
/// A main thread that waits for a query by a semaphore therefore waits without end if its handlers were made on the main actor; it
/// reads ``results`` instead. A query that was started stays alive until it ends. All members may be used from any thread. Every error is a ``CSSearchQueryError``.
open class CSSearchQuery: NSObject, @unchecked Sendable {
    // Sendable: what can change is read and written under the lock only.

    let run: QueryRun
    private let lock = NSLock()
    private var itemsHandler: (@isolated(any) (sending [CSSearchableItem]) -> Void)?
    private var endHandler: (@isolated(any) ((any Error)?) -> Void)?
    private var classes: [FileProtectionType] = [.completeUntilFirstUserAuthentication]

    /// A query in the query language, such as `title == "*oslo*"cd`. What cannot be read as one is reported when the query
    /// runs, as ``CSSearchQueryError/Code/invalidQuery``.
    public init(queryString: String, queryContext: CSSearchQueryContext?) {
        run = QueryRun(ResultPagePlan(query: queryString, queryContext ?? CSSearchQueryContext()), Self.transport())
    }

    /// A query in the query language, whose results carry these attributes.
    public convenience init(queryString: String, attributes: [String]?) {
        let context = CSSearchQueryContext()
        context.fetchAttributes = attributes ?? []
        self.init(queryString: queryString, queryContext: context)
    }

    init(_ plan: ResultPagePlan) { run = QueryRun(plan, Self.transport()) }

    private static func transport() -> Result<any QueryTransport, CSSearchQueryError> {
        do throws(CSSearchQueryError) { return .success(try ProcessTransports.query()) } catch {
            return .failure(error)
        }
    }

    /// Given the items that were found, a part at a time: each is new, and the better come first. Set it before the start.
    open var foundItemsHandler: (@isolated(any) (sending [CSSearchableItem]) -> Void)? {
        get { lock.withLock { itemsHandler } }
        set { lock.withLock { itemsHandler = newValue } }
    }

    /// Called once at the end of a query that was started: with `nil` when all was found, with
    /// ``CSSearchQueryError/Code/cancelled`` when it was cancelled. Set it before the start. The query has let go of its handlers
    /// by then, which often hold the query.
    open var completionHandler: (@isolated(any) ((any Error)?) -> Void)? {
        get { lock.withLock { endHandler } }
        set { lock.withLock { endHandler = newValue } }
    }

    /// How many items were found so far: given to ``foundItemsHandler``, the call under way included, or fetched for one of the
    /// sequences, which are up to a page ahead of their loop.
    open var foundItemCount: Int { run.itemCount }

    /// Whether the query was cancelled before its end.
    open var isCancelled: Bool { run.isCancelled }

    /// In which indexes to look, by their protection.
    ///
    /// - Note: Unused on Linux: there are no protection classes, and all indexes of the app are looked in.
    open var protectionClasses: [FileProtectionType] {
        get { lock.withLock { classes } }
        set { lock.withLock { classes = newValue } }
    }

    /// Starts the query, which calls the handlers. Does nothing for a query that was started, or whose sequences are read:
    /// it runs once.
    open func start() {
        guard run.begin(.handlers, suggests: wantsSuggestions) else { return }
        // The task keeps the query, as callers often do not.
        Task.detached(executorPreference: HandlerExecutor("searchlight.query.handlers")) { await self.serveHandlers() }
    }

    /// Ends the query. No handler is given items after this; a call that is under way goes on. Then comes the completion
    /// handler, with ``CSSearchQueryError/Code/cancelled``. Loops over the sequences of the query throw that error. Nothing
    /// happens if the query is over.
    open func cancel() { run.cancel() }

    // MARK: Handlers

    /// Whether somebody is to be given suggestions.
    var wantsSuggestions: Bool { false }

    /// Gives suggestions to whoever wants them.
    func deliver(_ suggestions: [CSSuggestion]) async {}

    /// Lets go of all handlers.
    func releaseHandlers() {
        let released = lock.withLock {
            defer { (itemsHandler, endHandler) = (nil, nil) }
            return (itemsHandler, endHandler)
        }
        // Freed outside of the lock: what they hold may use the query.
        _ = released
    }

    private func serveHandlers() async {
        var failure: CSSearchQueryError?
        do throws(CSSearchQueryError) {
            if wantsSuggestions { await deliver(try await run.suggestions.all()) }
            while let items = try await run.items.next() {
                await give(items, to: foundItemsHandler, items: items.count)
            }
        } catch {
            failure = error
        }
        let outcome = run.finish(.handlers) ? CSSearchQueryError.cancelledQuery : failure
        let handler = completionHandler
        releaseHandlers()
        if let handler { await perform(HandlerCall(handler: handler, value: outcome), on: handler.isolation) }
    }

    /// Calls a handler where it was made, or else on the handlers' queue, and waits for it: whoever is slow to take items is given
    /// them slowly. One that is there is not called once the query was cancelled.
    func give<Value>(
        _ value: Value, to handler: (@isolated(any) (sending Value) -> Void)?, items: Int = 0, suggestions: Int = 0
    ) async {
        guard let handler else { return run.count(items: items, suggestions: suggestions) }
        var call = HandlerCall(handler: handler, value: value)
        (call.items, call.suggestions, call.endsWithQuery) = (items, suggestions, true)
        await perform(call, on: handler.isolation)
    }

    /// Nobody can cancel between the question and the call who is on the same actor.
    private func perform<Value>(_ call: HandlerCall<Value>, on place: isolated (any Actor)?) async {
        if call.endsWithQuery, run.isCancelled { return }
        run.count(items: call.items, suggestions: call.suggestions)
        nonisolated(unsafe) let value = call.value
        await call.handler(value)
    }
}

/// A handler and what it is given. Sendable: carried to where the handler belongs, and used there only.
private struct HandlerCall<Value>: @unchecked Sendable {
    let handler: @isolated(any) (sending Value) -> Void
    let value: Value
    /// How much of what was found this is.
    var items = 0
    var suggestions = 0
    /// Whether there is no call when the query was cancelled.
    var endsWithQuery = false
}
