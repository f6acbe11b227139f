// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SearchlightEngine

/// An input of ``WindowState``: an action of the user, or an answer to an effect.
package enum WindowEvent: Sendable {
    /// The window appears, perhaps again, with a text to search for; `nil` keeps its text.
    case appeared(text: String?)
    /// The text of the search field has changed.
    case typed(String)
    /// The user asked for a search without correction.
    case wantedAsTyped
    /// A row was clicked.
    case selected(Int)
    /// A row was double-clicked.
    case activated(Int)
    /// A suggestion was clicked.
    case chose(suggestion: Int)
    /// A search ended.
    case found(search: UInt64, Answer<FoundItems>)
    /// Suggestions arrived.
    case suggested(search: UInt64, [Suggestion])
    /// A preview is ready.
    case previewed(number: UInt64, Answer<ShownPreview>)
    /// The installed apps are known.
    case knows(Answer<InstalledApps>)
    /// The text for the clipboard is known, or a message why not.
    case copies(Answer<String>)
    /// An item was opened; the text says by which app.
    case opened(Answer<String>)
    /// A drag ended in a receiver.
    case dropped(title: String, Answer<String>)
    /// A dragged item is being prepared.
    case dropping(title: String, percentage: Int?)

    /// A result, or a message for the user.
    package enum Answer<Value: Sendable>: Sendable {
        case value(Value)
        case problem(String)
    }
}

/// An action that ``WindowState`` asks for.
package enum WindowEffect: Hashable, Sendable {
    /// Search, in place of an earlier search. The answer is ``WindowEvent/found(search:_:)``.
    case search(number: UInt64, text: String, correctsSpelling: Bool)
    /// Suggest texts, in place of earlier requests.
    case suggest(number: UInt64, text: String)
    /// End the search, the suggestions and the previews in progress.
    case cancelSearch
    /// Render a preview, in place of an earlier one.
    case preview(number: UInt64, item: Int64, text: String)
    /// Open an item, which the user found with a text.
    case open(item: Int64, text: String)
    /// Find out the text of an item for the clipboard.
    case findCopy(item: Int64)
    /// Find out the installed apps.
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
    /// End the program.
    case quit
}
