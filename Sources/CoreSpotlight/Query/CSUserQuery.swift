// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

/// A query that finds the app's items by the user's search text, and completes the text.
///
/// Results are returned best first. Read them with ``responses``, ``suggestions`` or
/// ``CSSearchQuery/results``, or with handlers. Each part of the results can be read in only one of
/// these ways.
open class CSUserQuery: CSSearchQuery, @unchecked Sendable {
    // Sendable: mutable state is read and written only under the lock.

    private let lock = NSLock()
    private var suggestionsHandler: (@isolated(any) (sending [CSSuggestion]) -> Void)?

    /// Creates a query for a search text, which does not have to follow any syntax. If the text is
    /// empty or `nil`, no items are found, but there may be suggestions.
    public init(userQueryString: String?, userQueryContext: CSUserQueryContext?) {
        super.init(ResultPagePlan(typed: userQueryString, userQueryContext ?? CSUserQueryContext()))
    }

    /// Creates a query in the query language, like ``CSSearchQuery``. It has no suggestions.
    public override init(queryString: String, queryContext: CSSearchQueryContext?) {
        super.init(queryString: queryString, queryContext: queryContext)
    }

    /// Connects to the index and loads the embedding model, if one is installed, so that the first
    /// query is faster. Call this method when the search field appears; further calls are harmless.
    /// If it fails, the query reports the error.
    open class func prepare() {
        HandlerQueue.shared.async {
            try? ProcessTransports.query().prepare(number: ProcessTransports.nextNumber())
        }
    }

    /// Connects to the index, like ``prepare()``.
    ///
    /// - Note: Differs on Linux: the argument has no effect, since the whole service is prepared.
    open class func prepareProtectionClasses(_ protectionClasses: [FileProtectionType]) { prepare() }

    /// The handler for suggestions. It receives all suggestions, best first. If it is not set, the
    /// query has no suggestions. Set it before starting the query.
    open var foundSuggestionsHandler: (@isolated(any) (sending [CSSuggestion]) -> Void)? {
        get { lock.withLock { suggestionsHandler } }
        set { lock.withLock { suggestionsHandler = newValue } }
    }

    /// The number of suggestions that the handler received, including the current call, or that
    /// were fetched for a sequence.
    open var foundSuggestionCount: Int { run.suggestionCount }

    /// Starts the query with its handlers; see ``CSSearchQuery/start()``.
    open override func start() { super.start() }

    /// Cancels the query; see ``CSSearchQuery/cancel()``.
    open override func cancel() { super.cancel() }

    override var wantsSuggestions: Bool { foundSuggestionsHandler != nil }

    override func deliver(_ suggestions: [CSSuggestion]) async {
        await give(suggestions, to: foundSuggestionsHandler, suggestions: suggestions.count)
    }

    override func releaseHandlers() {
        super.releaseHandlers()
        let released = lock.withLock {
            defer { suggestionsHandler = nil }
            return suggestionsHandler
        }
        _ = released
    }

    // MARK: Engagement

    /// The user's interaction with a result or a suggestion.
    public enum UserInteractionKind: Int, Hashable, Sendable {
        /// The user opened the result or chose the suggestion.
        case select = 0
        /// The user viewed it.
        case focus = 1

        /// ``select``
        public static var `default`: UserInteractionKind { .select }
    }

    /// Reports the user's choice of a result, so that later searches rank the result higher.
    ///
    /// The count is kept in the user's own store on this machine. With `searchlight history`, the
    /// user can list, erase and disable these counts. Callable from any thread; returns at once.
    ///
    /// ```swift
    /// query.userEngaged(item, visibleItems: shownItems, interaction: .select)
    /// ```
    ///
    /// - Parameters:
    ///   - item: A result of this query.
    ///   - visibleItems: The visible results. They have no effect: only the chosen result is
    ///     counted.
    ///   - interaction: The user's interaction; ``UserInteractionKind/focus`` counts as a quarter.
    /// - Note: Differs on Linux: an app's reports change the ranking in the app's own searches. In
    ///   other searches they only change the order of the app's own results among themselves.
    open func userEngaged(
        _ item: CSUserQuery.Item, visibleItems: [CSUserQuery.Item], interaction: CSUserQuery.UserInteractionKind
    ) { run.engaged(item: item.id, kind: interaction == .focus ? "focus" : "select") }

    /// Reports the user's choice of a suggestion.
    ///
    /// - Note: Unused on Linux: the index counts the result that the user chooses afterwards,
    ///   together with the suggested text.
    open func userEngaged(
        _ suggestion: CSUserQuery.Suggestion, visibleSuggestions: [CSUserQuery.Suggestion],
        interaction: CSUserQuery.UserInteractionKind
    ) {}
}
