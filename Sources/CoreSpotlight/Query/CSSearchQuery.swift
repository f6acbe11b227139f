// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

/// A query that finds the app's items by their attributes, in all of the app's indexes.
///
/// A query runs once. To search again, cancel it and create another one. Read the results in only
/// one of two ways: with ``results``, which starts the query, or with ``start()``, which calls the
/// handlers.
///
/// Handlers are called one after another. A closure that was created on an actor, such as the main
/// actor, is called there and can use the actor's state. All other handlers are called on one of
/// the library's queues, never on the main thread:
///
/// ```swift
/// @MainActor func show(_ query: CSSearchQuery, in list: ResultList) {
///     query.foundItemsHandler = { items in list.rows += items.map(\.uniqueIdentifier) }
///     query.start()
/// }
/// ```
///
/// If the handlers were created on the main actor, do not block the main thread until the query
/// ends, because the wait would never end. Read ``results`` instead. A started query stays alive
/// until it ends. All members can be used from any thread. Every error is a ``CSSearchQueryError``.
open class CSSearchQuery: NSObject, @unchecked Sendable {
    // Sendable: mutable state is read and written only under the lock.

    let run: QueryRun
    private let lock = NSLock()
    private var itemsHandler: (@isolated(any) (sending [CSSearchableItem]) -> Void)?
    private var endHandler: (@isolated(any) ((any Error)?) -> Void)?

    /// Creates a query in the query language, such as `title == "*oslo*"cd`. An invalid query fails
    /// when it runs, with ``CSSearchQueryError/Code/invalidQuery``.
    public init(queryString: String, queryContext: CSSearchQueryContext?) {
        run = QueryRun(ResultPagePlan(query: queryString, queryContext ?? CSSearchQueryContext()), Self.transport())
    }

    /// Creates a query in the query language whose results contain these attributes.
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

    /// The handler for found items. It receives new items in several calls, better items first. Set
    /// it before starting the query.
    open var foundItemsHandler: (@isolated(any) (sending [CSSearchableItem]) -> Void)? {
        get { lock.withLock { itemsHandler } }
        set { lock.withLock { itemsHandler = newValue } }
    }

    /// The handler that is called once when a started query ends: with `nil` after all results, or
    /// with ``CSSearchQueryError/Code/cancelled`` after a cancellation.
    ///
    /// Set it before starting the query. The query releases its handlers before this call, because
    /// they often retain the query.
    open var completionHandler: (@isolated(any) ((any Error)?) -> Void)? {
        get { lock.withLock { endHandler } }
        set { lock.withLock { endHandler = newValue } }
    }

    /// The number of items found so far: items that were passed to ``foundItemsHandler``, including
    /// the current call, or fetched for a sequence.
    ///
    /// A sequence fetches up to one page ahead of its loop.
    open var foundItemCount: Int { run.itemCount }

    /// A Boolean value that indicates whether the query was cancelled before it ended.
    open var isCancelled: Bool { run.isCancelled }

    /// The protection classes of the indexes to search, by default
    /// `completeUntilFirstUserAuthentication`. Name `complete` or `completeUnlessOpen` to find the
    /// items of indexes with these classes, too. Locked indexes are skipped. Set it before the
    /// start.
    ///
    /// - Note: Differs on Linux: `none` and `completeUntilFirstUserAuthentication` are one class,
    ///   and suggestions consider all indexes that are not locked.
    open var protectionClasses: [FileProtectionType] {
        get { run.items.classes.map { FileProtectionType(rawValue: $0) } }
        set { run.items.classes = newValue.map(\.rawValue) }
    }

    /// Starts the query with its handlers. Has no effect if the query was already started or its
    /// sequences are being read.
    open func start() {
        guard run.begin(.handlers, suggests: wantsSuggestions) else { return }
        // The task retains the query, because callers often do not.
        Task.detached(executorPreference: HandlerExecutor("searchlight.query.handlers")) { await self.serveHandlers() }
    }

    /// Cancels the query, unless it has ended.
    ///
    /// The handlers receive no more items; a call in progress continues. Then the completion
    /// handler is called with ``CSSearchQueryError/Code/cancelled``. Loops over the sequences throw
    /// the same error.
    open func cancel() { run.cancel() }

    // MARK: Handlers

    /// `true` if a handler needs suggestions.
    var wantsSuggestions: Bool { false }

    /// Passes suggestions to the handler, if there is one.
    func deliver(_ suggestions: [CSSuggestion]) async {}

    /// Releases all handlers.
    func releaseHandlers() {
        let released = lock.withLock {
            defer { (itemsHandler, endHandler) = (nil, nil) }
            return (itemsHandler, endHandler)
        }
        // Released outside the lock, because captured objects may use the query.
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

    /// Calls a handler on its actor, or else on the handlers' queue, and waits for it. A slow
    /// handler thus slows down the query. Does not call a cancelled query's handlers.
    func give<Value>(
        _ value: Value, to handler: (@isolated(any) (sending Value) -> Void)?, items: Int = 0, suggestions: Int = 0
    ) async {
        guard let handler else { return run.count(items: items, suggestions: suggestions) }
        var call = HandlerCall(handler: handler, value: value)
        (call.items, call.suggestions, call.endsWithQuery) = (items, suggestions, true)
        guard let actor = handler.isolation else { return await perform(call, on: nil) }
        // A task that prefers an executor is enqueued again for each call of an isolated function,
        // even on the same actor. The query could then be cancelled between the check and the call.
        // This task has no preference.
        await Task { [call] in await perform(call, on: actor) }.value
    }

    /// Calls a handler on an actor; `nil` for the handlers' queue. A cancellation on the same actor
    /// cannot occur between the check and the call.
    private func perform<Value>(_ call: HandlerCall<Value>, on place: isolated (any Actor)?) async {
        if call.endsWithQuery, run.isCancelled { return }
        run.count(items: call.items, suggestions: call.suggestions)
        nonisolated(unsafe) let value = call.value
        await call.handler(value)
    }
}

/// A handler and its argument. Sendable: it is passed to the handler's actor or queue, and only
/// used there.
private struct HandlerCall<Value>: @unchecked Sendable {
    let handler: @isolated(any) (sending Value) -> Void
    let value: Value
    /// The number of items in `value`.
    var items = 0
    var suggestions = 0
    /// `true` if the handler is not called after a cancellation of the query.
    var endsWithQuery = false
}
