// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

/// Looks for items of the app by what a person typed, and completes it.
///
/// Results come best first. As with every query, they are read through ``responses``, ``suggestions`` or
/// ``CSSearchQuery/results``, or given to handlers; what one of them reads the others cannot.
open class CSUserQuery: CSSearchQuery, @unchecked Sendable {
    // Sendable: what can change is read and written under the lock only.

    private let lock = NSLock()
    private var suggestionsHandler: (@isolated(any) (sending [CSSuggestion]) -> Void)?

    /// A query for what was typed, which need not follow any rules. An empty text, or `nil`, finds no items; suggestions
    /// there may be.
    public init(userQueryString: String?, userQueryContext: CSUserQueryContext?) {
        super.init(ResultPagePlan(typed: userQueryString, userQueryContext ?? CSUserQueryContext()))
    }

    /// A query in the query language, as ``CSSearchQuery`` has them; it has no suggestions.
    public override init(queryString: String, queryContext: CSSearchQueryContext?) {
        super.init(queryString: queryString, queryContext: queryContext)
    }

    /// Connects to the index, so that the first query is answered sooner. Call it when the search field is shown; more often
    /// does no harm. Whether it succeeds, the query will say.
    open class func prepare() {
        HandlerQueue.shared.async { _ = try? ProcessTransports.query() }
    }

    /// Connects to the index, as ``prepare()`` does.
    ///
    /// - Note: Differs on Linux: the classes do not matter, for there are no protection classes.
    open class func prepareProtectionClasses(_ protectionClasses: [FileProtectionType]) { prepare() }

    /// Given all suggestions there are, the likeliest first. Without it none are looked for. Set it before the start.
    open var foundSuggestionsHandler: (@isolated(any) (sending [CSSuggestion]) -> Void)? {
        get { lock.withLock { suggestionsHandler } }
        set { lock.withLock { suggestionsHandler = newValue } }
    }

    /// How many suggestions the handler was given, the call under way included, or were fetched for one of the sequences.
    open var foundSuggestionCount: Int { run.suggestionCount }

    /// Starts the query, which calls the handlers; see ``CSSearchQuery/start()``.
    open override func start() { super.start() }

    /// Ends the query; see ``CSSearchQuery/cancel()``.
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

    /// What a person did with a result or a suggestion.
    public enum UserInteractionKind: Int, Hashable, Sendable {
        /// Opened it.
        case select = 0
        /// Looked at it.
        case focus = 1

        /// ``select``
        public static var `default`: UserInteractionKind { .select }
    }

    /// Reports the user's choice of a result, so that later searches rank the result higher. The count is kept in the user's own store on
    /// this machine. The user can list, erase and switch off these counts with `searchlight history`. Callable from any thread; returns
    /// at once.
    ///
    /// ```swift
    /// query.userEngaged(item, visibleItems: shownItems, interaction: .select)
    /// ```
    ///
    /// - Parameters:
    ///   - item: A result of this query.
    ///   - visibleItems: The results that were shown. They have no effect: only the chosen result is counted.
    ///   - interaction: What the user did; ``UserInteractionKind/focus`` counts a quarter.
    /// - Note: Differs on Linux: an app's reports change the ranking of the app's own searches. In other searches they change only the
    ///   order of the app's own results among themselves.
    open func userEngaged(
        _ item: CSUserQuery.Item, visibleItems: [CSUserQuery.Item], interaction: CSUserQuery.UserInteractionKind
    ) { run.engaged(item: item.id, kind: interaction == .focus ? "focus" : "select") }

    /// Reports the user's choice of a suggestion.
    ///
    /// - Note: Unused on Linux: the index counts the result that the user chooses afterwards, together with the suggested text.
    open func userEngaged(
        _ suggestion: CSUserQuery.Suggestion, visibleSuggestions: [CSUserQuery.Suggestion],
        interaction: CSUserQuery.UserInteractionKind
    ) {}
}
