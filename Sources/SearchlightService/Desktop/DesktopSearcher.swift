// SPDX-License-Identifier: Apache-2.0
import BusTransport
import DesktopSearch
import Dispatch
import ItemRecord
import Previews
import SearchIndex
import SearchlightEngine
import ServiceMessages
import Synchronization
import UserSearch

/// The searches from one desktop program, and the actions on their results. The handlers for both
/// desktops share it (``ShellSearchHandler``, ``RunnerHandler``).
///
/// A search cancels the previous ones beyond its limit. Items of apps that the user switched off
/// are excluded, even if an app is switched off between a search and an action.
final class DesktopSearcher: Sendable {
    private let requests: ClientRequests
    private let opening: LauncherOpening
    private let session = Mutex(SearchSession())

    init(_ core: ServiceCore) {
        requests = ClientRequests(core.engine, .moment, maximum: core.limits.queries)
        opening = LauncherOpening(core.activities)
    }

    /// The text of the last search; empty before the first one.
    var text: String { session.withLock { $0.answer?.text ?? "" } }

    // MARK: Searching

    /// Replies to a search request.
    ///
    /// - Parameters:
    ///   - previous: The results that the desktop reports as its current results, if the text
    ///     continues the last one.
    ///   - snippetLength: The length of snippets in characters; `nil` for none.
    ///   - maximum: The maximum number of searches in progress. The oldest ones are cancelled.
    ///   - body: Returns the reply for the hits. It is not called if the search was cancelled.
    func search(
        _ text: String, previous: [String]? = nil, snippetLength: Int? = nil, maximum: Int = 1, _ call: IncomingCall,
        _ body: @escaping @Sendable ([FoundItem]) -> [BusValue]
    ) {
        let (turn, replaced) = session.withLock { $0.begin(maximum: maximum) }
        for number in replaced { requests.cancel(number) }
        // Otherwise the call would keep the desktop's terms and results in memory until its reply.
        call.releaseArguments()
        requests.answer(call, number: turn) { [self] (engine) throws(QueryRefusal) in
            defer { session.withLock { $0.fail(turn) } }
            let found = try await Self.find(text, snippetLength, engine)
            let hits = session.withLock { session -> [FoundItem]? in
                var identifiers = found.hits.map(\.identifier)
                if let previous { identifiers = session.narrowed(identifiers, text: text, previous: previous) }
                let answer = SearchSession.Answer(
                    text: text, identifiers: identifiers, isComplete: found.next == nil)
                guard session.finish(turn, answer) else { return nil }
                let shown = Set(identifiers)
                return found.hits.filter { shown.contains($0.identifier) }
            }
            guard let hits else { throw .cancelled }
            return body(hits)
        }
    }

    private static func find(
        _ text: String, _ snippetLength: Int?, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) -> FoundItems {
        let visibility = engine.desktopVisibility
        guard visibility.isKnown, !text.isEmpty else { return .nothing }
        var search = ItemSearch(text)
        search.excludedBundles = visibility.hiddenBundles
        search.limit = SearchSession.maximumResults
        search.snippetLength = snippetLength
        search.attributes = ["url"]
        // The search runs after each keystroke, so it does not wait for pending donations.
        search.includesPending = false
        do throws(EngineError) { return try await engine.find(search) } catch { throw QueryRefusal(error) }
    }

    /// Cancels the searches in progress and forgets the last answer.
    func endSearches() {
        for number in session.withLock({ $0.end() }) { requests.cancel(number) }
    }

    func cancelAll() { requests.cancelAll() }

    // MARK: Results

    /// Replies to a request that is not a search.
    func answer(
        _ call: IncomingCall, _ body: @escaping @Sendable (SearchlightEngine) async throws(QueryRefusal) -> [BusValue]
    ) {
        requests.answer(call, number: session.withLock { $0.reserve() }, body)
    }

    /// Returns the item for a result.
    ///
    /// - Throws: ``QueryRefusal`` if the identifier does not belong to a result, or if the item no
    ///   longer exists or is switched off.
    static func item(
        _ identifier: String, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) -> StoredItem {
        guard let identifier = ResultIdentifier(identifier), let item = try await item(identifier, engine) else {
            throw QueryRefusal(
                name: ExtensionStatus.notFound.errorName, message: "The result no longer exists. Search again.")
        }
        return item
    }

    /// Returns the item for a result; `nil` if it no longer exists or is switched off.
    static func item(
        _ identifier: ResultIdentifier, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) -> StoredItem? {
        do throws(EngineError) {
            let item = try await engine.item(number: identifier.item)
            return engine.desktopVisibility.shows(item.scope.bundle) ? item : nil
        } catch .itemNotFound {
            return nil
        } catch {
            throw QueryRefusal(error)
        }
    }

    /// Opens a result in its app. If there is no app for it, the search window or the Quick Look
    /// page shows it.
    ///
    /// - Parameter text: The typed text for which the use of the item is counted.
    func open(
        _ identifier: String, text: String, timestamp: UInt32, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) {
        let item = try await Self.item(identifier, engine)
        var options = Self.options(timestamp)
        options.query = text
        do throws(QueryRefusal) { _ = try await opening.open(item, options, engine) } catch {
            guard error.name == ExtensionStatus.unsupported.errorName else { throw error }
            // Other users of the machine can read a process's arguments, so the title is not passed
            // as one unless nothing was typed.
            let text = text.isEmpty ? DesktopQuery.text(of: item.displayTitle) : text
            try await opening.showResults(text, options, engine)
        }
    }

    /// Performs an action on an item in the action's default app.
    func carryOut(
        _ action: QuickAction, on item: StoredItem, text: String, _ engine: SearchlightEngine
    ) async throws(QueryRefusal) {
        var options = Self.options(0)
        (options.query, options.action) = (text, action.rawValue)
        _ = try await opening.open(item, options, engine)
    }

    /// Shows all results for a text in the window, or on the Quick Look page.
    func showResults(_ text: String, timestamp: UInt32, _ engine: SearchlightEngine) async throws(QueryRefusal) {
        try await opening.showResults(text, Self.options(timestamp), engine)
    }

    /// Returns the startup notification for the X server time at which the user acted; 0 for none.
    private static func options(_ timestamp: UInt32) -> OpenOptions {
        var options = OpenOptions()
        if timestamp != 0 { options.environment["DESKTOP_STARTUP_ID"] = "searchlight_TIME\(timestamp)" }
        return options
    }
}

extension FoundItem {
    fileprivate var identifier: ResultIdentifier { ResultIdentifier(item: item.number) }

    /// The hit as the desktop shows it.
    var desktopResult: DesktopResult {
        DesktopResult(
            item: item.number, title: title, app: bundleName, detail: snippet?.text, kind: kindName,
            place: path ?? item.record.text("url"), contentType: contentType, fit: fit, isFile: path != nil,
            quickActions: actions.compactMap { ResultAction(rawValue: $0.rawValue) })
    }
}
