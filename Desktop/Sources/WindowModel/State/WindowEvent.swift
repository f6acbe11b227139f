// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SearchlightEngine

/// An input for ``WindowState``: an action by the user, or an answer to an effect.
package enum WindowEvent: Sendable {
    /// The window appears, possibly again, with a search text; `nil` keeps the current text.
    case appeared(text: String?)
    /// The text of the search field has changed.
    case typed(String)
    /// The user requested a search without correction.
    case wantedAsTyped
    /// A row was clicked.
    case selected(Int)
    /// A row was double-clicked.
    case activated(Int)
    /// A suggestion was clicked.
    case chose(suggestion: Int)
    /// A search has finished.
    case found(search: UInt64, Answer<FoundItems>)
    /// The last results in the list came into view.
    case reachedEnd
    /// The next page of a search's results arrived.
    case foundMore(search: UInt64, Answer<FoundItems>)
    /// Suggestions arrived.
    case suggested(search: UInt64, [Suggestion])
    /// A preview is ready.
    case previewed(number: UInt64, Answer<ShownPreview>)
    /// The installed apps are known.
    case knows(Answer<InstalledApps>)
    /// The text for the clipboard is known; or a message explains why not.
    case copies(Answer<String>)
    /// An item was opened; the text names the app.
    case opened(Answer<String>)
    /// A drag ended with a drop on a receiver.
    case dropped(title: String, Answer<String>)
    /// A dragged item's content is being prepared.
    case dropping(title: String, percentage: Int?)

    /// A result, or a message for the user.
    package enum Answer<Value: Sendable>: Sendable {
        case value(Value)
        case problem(String)
    }
}

/// An action that ``WindowState`` requests.
package enum WindowEffect: Hashable, Sendable {
    /// Search, replacing an earlier search. The answer is ``WindowEvent/found(search:_:)``.
    case search(number: UInt64, text: String, correctsSpelling: Bool)
    /// Find the next page of a search's results. The answer is
    /// ``WindowEvent/foundMore(search:_:)``.
    case findMore(number: UInt64, text: String, correctsSpelling: Bool, cursor: SearchCursor)
    /// Suggest texts, replacing earlier requests.
    case suggest(number: UInt64, text: String)
    /// Cancel the search, the suggestions and the previews in progress.
    case cancelSearch
    /// Render a preview, replacing an earlier one.
    case preview(number: UInt64, item: Int64, text: String)
    /// Open an item that the user found with a text.
    case open(item: Int64, text: String)
    /// Determine the text that represents an item on the clipboard.
    case findCopy(item: Int64)
    /// Determine the installed apps.
    case listApps
    /// Set the text of the search field.
    case setField(String)
    /// Focus the search field and select its text.
    case focusField
    /// Put a text on the clipboard.
    case copy(String)
    /// Show a short message.
    case notify(String)
    /// Close the window.
    case close
    /// Exit the program.
    case quit
}
