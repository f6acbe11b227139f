// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import Foundation
import Previews
import SearchIndex
import WindowModel

/// The line of suggestions below the search field.
@MainActor
final class SuggestionBar {
    let widget: Widget
    private let line = Widget.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6).margins(horizontal: 12, vertical: 6)
    private var buttons: [Widget] = []
    private var shown: [Suggestion] = []

    private static let maximumLength = 48

    /// Creates the line.
    ///
    /// - Parameter choose: Called when the user clicks a suggestion.
    init(choose: @escaping @MainActor (Int) -> Void) {
        widget = Widget(gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(widget.cast(), GTK_POLICY_EXTERNAL, GTK_POLICY_NEVER)
        gtk_scrolled_window_set_child(widget.cast(), line.pointer)
        for index in 0..<Suggestion.maximumCount {
            let button = Widget(gtk_button_new()).styled(["suggestion"])
            gtk_widget_set_focusable(button.pointer, 0)
            button.on("clicked") { choose(index) }
            button.isVisible = false
            gtk_box_append(line.cast(), button.pointer)
            buttons.append(button)
        }
        widget.isVisible = false
    }

    func show(_ suggestions: [Suggestion], selected: Int?) {
        if suggestions != shown {
            shown = suggestions
            for (button, suggestion) in zip(buttons, suggestions) {
                gtk_button_set_label(button.cast(), Self.label(of: suggestion))
            }
            for (index, button) in buttons.enumerated() { button.isVisible = index < suggestions.count }
            widget.isVisible = !suggestions.isEmpty
        }
        for (index, button) in buttons.enumerated() {
            if index == selected {
                gtk_widget_add_css_class(button.pointer, "suggested-action")
            } else {
                gtk_widget_remove_css_class(button.pointer, "suggested-action")
            }
        }
    }

    private static func label(of suggestion: Suggestion) -> String {
        let text = DisplayText.line(suggestion.text, limit: maximumLength)
        guard let total = suggestion.total else { return text }
        return "\(text)  \(total.count.formatted())\(total.isExact ? "" : "+")"
    }
}
