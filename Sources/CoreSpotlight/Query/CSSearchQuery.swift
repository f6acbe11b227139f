// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

/// Looks for items of the app by their attributes, in all its indexes.
///
/// A query runs once: cancel it and make another one to search for something else. What it finds is read in one of two
/// ways, never both: reading ``results`` starts the query, and so does ``start()``, which then calls the handlers.
///
/// Handlers are called one after the other, on a queue of the library, never on the main thread. A query that was started
/// stays alive until it ends. All members may be used from any thread. Every error is a ``CSSearchQueryError``.
open class CSSearchQuery: NSObject, @unchecked Sendable {
    // Sendable: what can change is read and written under the lock only.

    let run: QueryRun
    private let lock = NSLock()
    private let queue = HandlerQueue.serial("searchlight.query.handlers")
    private var itemsHandler: (([CSSearchableItem]) -> Void)?
    private var endHandler: (((any Error)?) -> Void)?
    private var itemCount = 0
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
    open var foundItemsHandler: (([CSSearchableItem]) -> Void)? {
        get { lock.withLock { itemsHandler } }
        set { lock.withLock { itemsHandler = newValue } }
    }

    /// Called once at the end of a query that was started: with `nil` when all was found, with
    /// ``CSSearchQueryError/Code/cancelled`` when it was cancelled. Set it before the start. Afterwards the query lets go of
    /// its handlers, which often hold the query.
    open var completionHandler: (((any Error)?) -> Void)? {
        get { lock.withLock { endHandler } }
        set { lock.withLock { endHandler = newValue } }
    }

    /// How many items the handlers were given, the call under way included; without ``foundItemsHandler``, how many were
    /// found. The sequences do not count.
    open var foundItemCount: Int { lock.withLock { itemCount } }

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
        Task.detached { await self.serveHandlers() }
    }

    /// Ends the query. No handler is given items after this; a call that is under way goes on. Then comes the completion
    /// handler, with ``CSSearchQueryError/Code/cancelled``. Loops over the sequences of the query throw that error. Nothing
    /// happens if the query is over.
    open func cancel() { run.cancel() }

    // MARK: Handlers

    /// Whether somebody is to be given suggestions.
    var wantsSuggestions: Bool { false }

    /// Gives suggestions to whoever wants them, on the handlers' queue.
    func deliver(_ suggestions: [CSSuggestion]) {}

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
            if wantsSuggestions {
                let suggestions = try await run.suggestions.all()
                await perform { self.deliver(suggestions) }
            }
            while let items = try await run.items.next() { await perform { self.deliver(items) } }
        } catch {
            failure = error
        }
        let outcome = failure
        await perform(always: true) {
            let isCancelled = self.run.finish(.handlers)
            self.completionHandler?(isCancelled ? CSSearchQueryError.cancelledQuery : outcome)
            self.releaseHandlers()
        }
    }

    private func deliver(_ items: [CSSearchableItem]) {
        let handler = lock.withLock {
            itemCount += items.count
            return itemsHandler
        }
        handler?(items)
    }

    /// Runs something on the handlers' queue, and waits for it: whoever is slow to take items is given them slowly.
    ///
    /// - Parameter always: whether to run it for a cancelled query too.
    private func perform(always: Bool = false, _ body: @escaping () -> Void) async {
        /// Sendable: run once, while the only one who knows it waits.
        struct Job: @unchecked Sendable { let body: () -> Void }
        let job = Job(body: body)
        await withCheckedContinuation { continuation in
            queue.async { [run] in
                if always || !run.isCancelled { job.body() }
                continuation.resume()
            }
        }
    }
}
