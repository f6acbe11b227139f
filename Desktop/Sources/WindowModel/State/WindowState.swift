// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import Previews
import SearchIndex
import SearchlightEngine

/// The state of the search window. A value without a clock or effects: it processes an event and
/// returns the effects to execute. The views display the state and send events.
///
/// ```swift
/// var state = WindowState()
/// let effects = state.take(.typed("notes"))    // .search and .suggest
/// ```
package struct WindowState: Sendable {
    /// The selected element.
    package enum Selection: Hashable, Sendable {
        case none
        case suggestion(Int)
        case row(Int)
    }

    /// The content of the window below the search field.
    package enum Page: Hashable, Sendable {
        /// No search.
        case start
        /// Results.
        case results
        /// The search for this text found no results.
        case nothing(String)
        /// The search failed.
        case problem(String)
    }

    /// The state of the preview pane.
    package enum PreviewPane: Hashable, Sendable {
        case empty
        case shown(ShownPreview)
        case problem(String)
    }

    /// The typed text.
    package internal(set) var text = ""
    /// The content below the search field.
    package internal(set) var page = Page.start
    /// The installed apps; `nil` until they are known.
    package internal(set) var apps: InstalledApps?
    /// The suggestions for the text.
    package internal(set) var suggestions: [Suggestion] = []
    /// The results.
    package internal(set) var results = ResultLines.empty
    /// The total number of results; `nil` if unknown.
    package internal(set) var total: SearchTotal?
    /// The text that was searched for instead of a misspelled text.
    package internal(set) var correction: String?
    /// The selected suggestion or row.
    package internal(set) var selection = Selection.none
    /// The preview of the selected row.
    package internal(set) var preview = PreviewPane.empty
    /// `true` if the preview fills the whole window.
    package internal(set) var isPreviewLarge = false
    /// `true` after an arrow key until the user types. In this state, the space bar shows the
    /// preview.
    package internal(set) var isBrowsing = false
    /// `true` until the answer for the current text arrives.
    package internal(set) var isSearching = false
    /// The message about a drag in progress.
    package internal(set) var dragStatus: String?

    /// `true` if no answer is pending, so that the window does not change until the next action.
    package var isSettled: Bool { !isSearching && !awaitsPreview && !isFindingMore }

    /// The end of the displayed results, if there are more.
    var next: SearchCursor?
    /// `true` until the next page of results arrives.
    var isFindingMore = false
    /// `true` if misspelled words were corrected in the current search.
    var correctsSpelling = true
    /// The number of the current search. Answers with other numbers are ignored.
    var search: UInt64 = 0
    /// The number of the current preview.
    var shownPreview: UInt64 = 0
    /// `true` until the preview of the selected row arrives.
    var awaitsPreview = false
    /// `true` if the Enter key was pressed before the answer for the current text arrived.
    var opensFirst = false

    package init() {}

    /// The selected row.
    package var selectedRow: ResultRow? {
        guard case .row(let index) = selection, results.rows.indices.contains(index) else { return nil }
        return results.rows[index]
    }

    /// Processes an event.
    ///
    /// - Returns: The effects, to be executed in order.
    package mutating func take(_ event: WindowEvent) -> [WindowEffect] {
        switch event {
        case .appeared(nil): return text.isEmpty ? [.focusField, .listApps] : [.focusField]
        case .appeared(let text?): return [.setField(text)] + take(.typed(text)) + [.focusField]
        case .typed(let typed): return typed == text ? [] : type(typed)
        case .wantedAsTyped: return begin(correctsSpelling: false)
        case .selected(let index): return select(index)
        case .activated(let index): return select(index) + open()
        case .chose(let index): return choose(index)
        case .found(let number, let answer): return number == search ? found(answer) : []
        case .reachedEnd: return findMore()
        case .foundMore(let number, let answer): return number == search && isFindingMore ? foundMore(answer) : []
        case .suggested(let number, let suggested):
            guard number == search else { return [] }
            suggestions = suggested
            guard case .suggestion = selection else { return [] }
            selection = .none
            return select(0)
        case .previewed(let number, let answer):
            guard number == shownPreview else { return [] }
            awaitsPreview = false
            switch answer {
            case .value(let shown): preview = .shown(shown)
            case .problem(let message): preview = .problem(message)
            }
            return []
        case .knows(.value(let apps)):
            self.apps = apps
            return []
        case .knows(.problem(let message)):
            if page == .start { page = .problem(message) }
            return []
        case .copies(.value(let copied)): return [.copy(copied), .notify("Copied “\(Self.short(copied))”.")]
        case .opened(.value(let message)): return [.notify(message)]
        case .copies(.problem(let message)), .opened(.problem(let message)): return [.notify(message)]
        case .dropping(let title, let percentage):
            dragStatus = "Preparing “\(Self.short(title))”\(percentage.map { " · \($0) %" } ?? "…")"
            return []
        case .dropped(_, .value):
            dragStatus = nil
            return []
        case .dropped(let title, .problem(let message)):
            dragStatus = nil
            return [.notify("“\(Self.short(title))” was not dropped: \(message)")]
        }
    }

    private mutating func type(_ typed: String) -> [WindowEffect] {
        text = typed
        (isBrowsing, isPreviewLarge) = (false, false)
        return begin(correctsSpelling: true)
    }

    /// Starts a search for the text. The previous results are kept until the answer arrives.
    private mutating func begin(correctsSpelling: Bool) -> [WindowEffect] {
        search += 1
        (opensFirst, next, isFindingMore) = (false, nil, false)
        self.correctsSpelling = correctsSpelling
        guard text.contains(where: { !$0.isWhitespace }) else { return clear(.start) + [.listApps] }
        guard text.utf8.count <= UserQuery.maximumBytes else {
            return clear(
                .problem("A search has at most \(UserQuery.maximumBytes.formatted()) bytes. Shorten the text."))
        }
        isSearching = true
        return [
            .search(number: search, text: text, correctsSpelling: correctsSpelling),
            .suggest(number: search, text: text),
        ]
    }

    private mutating func clear(_ page: Page) -> [WindowEffect] {
        self.page = page
        (results, suggestions, total, correction) = (.empty, [], nil, nil)
        (selection, preview, isSearching, isPreviewLarge) = (.none, .empty, false, false)
        (next, isFindingMore) = (nil, false)
        dropPreview()
        return [.cancelSearch]
    }

    private mutating func found(_ answer: WindowEvent.Answer<FoundItems>) -> [WindowEffect] {
        isSearching = false
        let items: FoundItems
        switch answer {
        case .value(let value): items = value
        case .problem(let message):
            let kept = suggestions
            let effects = clear(.problem(message))
            suggestions = kept
            return effects
        }
        let highlighter = Highlighter(query: items.correction?.text ?? text)
        let browsed = isBrowsing ? selectedRow?.id : nil
        results = ResultLines(items.hits.map { ResultRow($0, highlighter) })
        (total, next) = (items.total, items.next)
        correction = items.correction.map { DisplayText.line($0.text, limit: Self.shownTextLength) }
        guard !results.rows.isEmpty else {
            page = .nothing(DisplayText.line(text, limit: Self.shownTextLength))
            (selection, preview, opensFirst) = (.none, .empty, false)
            dropPreview()
            // The empty page may be out of date.
            return apps?.hasItems == false ? [.listApps] : []
        }
        page = .results
        selection = .row(results.rows.firstIndex { $0.id == browsed } ?? 0)
        let opening = opensFirst ? open() : []
        opensFirst = false
        return showPreview() + opening
    }

    /// Requests the next page of results.
    private mutating func findMore() -> [WindowEffect] {
        guard let next, !isSearching, !isFindingMore else { return [] }
        isFindingMore = true
        return [.findMore(number: search, text: text, correctsSpelling: correctsSpelling, cursor: next)]
    }

    private mutating func foundMore(_ answer: WindowEvent.Answer<FoundItems>) -> [WindowEffect] {
        isFindingMore = false
        switch answer {
        case .value(let items):
            let highlighter = Highlighter(query: correction ?? text)
            let room = max(0, WindowRequest.counted - results.rows.count)
            results = results.appending(items.hits.prefix(room).map { ResultRow($0, highlighter) })
            next = results.rows.count < WindowRequest.counted ? items.next : nil
            return []
        case .problem(let message):
            next = nil
            return [.notify("The other results cannot be shown: \(message)")]
        }
    }

    // MARK: Actions

    mutating func select(_ index: Int) -> [WindowEffect] {
        guard results.rows.indices.contains(index), selection != .row(index) else { return [] }
        selection = .row(index)
        let isNearEnd = index >= results.rows.count - Self.pageLength
        return showPreview() + (isNearEnd ? findMore() : [])
    }

    /// Requests the preview of the selected row. The previous preview is kept until it arrives.
    private mutating func showPreview() -> [WindowEffect] {
        guard let row = selectedRow else { return [] }
        shownPreview += 1
        awaitsPreview = true
        return [.preview(number: shownPreview, item: row.id, text: correction ?? text)]
    }

    /// Ignores the preview in progress.
    private mutating func dropPreview() {
        shownPreview += 1
        awaitsPreview = false
    }

    /// Opens the selected row, but never a row that belongs to an earlier text.
    mutating func open() -> [WindowEffect] {
        guard !isSearching else {
            opensFirst = true
            return []
        }
        return selectedRow.map { [.open(item: $0.id, text: text)] } ?? []
    }

    mutating func choose(_ index: Int) -> [WindowEffect] {
        guard suggestions.indices.contains(index) else { return [] }
        let chosen = suggestions[index].text
        selection = .none
        return [.setField(chosen)] + take(.typed(chosen))
    }

    private static let shownTextLength = 80

    private static func short(_ text: String) -> String { DisplayText.line(text, limit: shownTextLength) }
}
