// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import CDesktop
import Foundation
import Promises
import SearchlightEngine
import WindowModel

/// The search window: displays a ``WindowState``, and sends it the user's actions.
@MainActor
package final class SearchWindow {
    private let window: Widget
    private let entry = Widget(gtk_search_entry_new())
    private let spinner = Widget(gtk_spinner_new())
    private let stack = Widget(gtk_stack_new())
    private let status = Widget(adw_status_page_new())
    private let correction = Widget(gtk_button_new()).styled(["flat", "caption"])
    private let total = Widget.label(classes: ["caption", "dim-label"])
    private let dragStatus = Widget.label(classes: ["caption"])
    private let toasts = Widget(adw_toast_overlay_new())
    private let suggestions: SuggestionBar
    private let list: ResultListView
    private let preview: PreviewView
    private let left: Widget
    private let client: WindowClient
    private let drags: @Sendable (ResultRow, _ onProgress: @escaping @Sendable (Int?) -> Void) -> (any DragContent)?
    private var state = WindowState()

    private static let (width, height, leftWidth): (Int32, Int32, Int32) = (1000, 640, 430)
    /// The time, in milliseconds, after which the spinner shows that a search takes long.
    private static let patience: UInt32 = 300

    /// Creates a window.
    ///
    /// - Parameters:
    ///   - application: The application that owns the window.
    ///   - client: Executes the effects that concern the store.
    ///   - drags: Creates the content of a drag.
    package init(
        _ application: UnsafeMutablePointer<GtkApplication>, _ client: WindowClient,
        drags: @escaping @Sendable (ResultRow, _ onProgress: @escaping @Sendable (Int?) -> Void) -> (any DragContent)?
    ) {
        (self.client, self.drags) = (client, drags)
        window = Widget(adw_application_window_new(application))
        let link = Link()
        suggestions = SuggestionBar { link.send(.chose(suggestion: $0)) }
        list = ResultListView(
            select: { link.send(.selected($0)) }, activate: { link.send(.activated($0)) },
            reachEnd: { link.send(.reachedEnd) })
        preview = PreviewView { link.follow($0) }
        left = Widget.box(GTK_ORIENTATION_VERTICAL)
        build()
        link.window = self
        KeyController.add(to: window) { [unowned self] key in press(key) }
        entry.on("changed") { [unowned self] in send(.typed(text)) }
        correction.on("clicked") { [unowned self] in send(.wantedAsTyped) }
        DragOrigin.add(to: list.list) { [unowned self] _, y in drag(atHeight: y) }
        show(replacing: nil)
    }

    /// A reference back to the window for views that are created before it.
    @MainActor
    private final class Link {
        weak var window: SearchWindow?
        func send(_ event: WindowEvent) { window?.send(event) }
        func follow(_ address: String) { window?.follow(address) }
    }

    private func build() {
        gtk_window_set_title(window.cast(), "Searchlight")
        gtk_window_set_default_size(window.cast(), Self.width, Self.height)
        gtk_window_set_icon_name(window.cast(), "com.searchlight.Searchlight")
        addStyles()
        let header = Widget(adw_header_bar_new())
        let clamp = Widget(adw_clamp_new())
        adw_clamp_set_maximum_size(clamp.cast(), 560)
        adw_clamp_set_child(clamp.cast(), entry.expanding(vertically: false).pointer)
        adw_header_bar_set_title_widget(header.cast(), clamp.expanding(vertically: false).pointer)
        adw_header_bar_set_centering_policy(header.cast(), ADW_CENTERING_POLICY_STRICT)
        adw_header_bar_pack_end(header.cast(), spinner.pointer)
        cdesktop_set_text(entry.pointer, "placeholder-text", "Search")
        gtk_search_entry_set_key_capture_widget(entry.cast(), window.pointer)

        correction.margins(horizontal: 12, vertical: 4)
        dragStatus.margins(horizontal: 12, vertical: 6)
        total.margins(horizontal: 18, vertical: 6)
        for child in [correction, list.widget, total] { gtk_box_append(left.cast(), child.pointer) }
        gtk_widget_set_size_request(left.pointer, 280, -1)
        gtk_widget_set_size_request(preview.widget.pointer, 260, -1)
        let paned = Widget(gtk_paned_new(GTK_ORIENTATION_HORIZONTAL)).expanding()
        gtk_paned_set_start_child(paned.cast(), left.pointer)
        gtk_paned_set_end_child(paned.cast(), preview.widget.pointer)
        gtk_paned_set_position(paned.cast(), Self.leftWidth)
        gtk_paned_set_shrink_start_child(paned.cast(), 0)
        gtk_paned_set_shrink_end_child(paned.cast(), 0)
        gtk_stack_add_named(stack.cast(), status.expanding().pointer, "status")
        gtk_stack_add_named(stack.cast(), paned.pointer, "results")

        let content = Widget.box(GTK_ORIENTATION_VERTICAL, [header, suggestions.widget, stack.expanding(), dragStatus])
        adw_toast_overlay_set_child(toasts.cast(), content.pointer)
        adw_application_window_set_content(window.cast(), toasts.pointer)
    }

    private func addStyles() {
        let styles = gtk_css_provider_new()
        let text = ".suggestion { padding: 2px 12px; min-height: 24px; border-radius: 16px; font-weight: normal; }"
        gtk_css_provider_load_from_data(styles, text, -1)
        gtk_style_context_add_provider_for_display(
            gtk_widget_get_display(window.pointer), OpaquePointer(styles),
            UInt32(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
    }

    private var text: String { gtk_editable_get_text(entry.cast()).map { String(cString: $0) } ?? "" }

    // MARK: Events

    /// Shows the window with a search text; `nil` keeps the current text.
    package func present(text: String?) {
        gtk_window_present(window.cast())
        send(.appeared(text: text))
    }

    /// Processes a user event or an answer.
    package func send(_ event: WindowEvent) {
        let before = state
        let effects = state.take(event)
        show(replacing: before)
        perform(effects)
    }

    private func press(_ key: WindowKey) -> Bool {
        var key = key
        key.hasSelectedText =
            gtk_editable_get_selection_bounds(entry.cast(), nil, nil) != 0
            || gtk_text_buffer_get_has_selection(gtk_text_view_get_buffer(preview.text.cast())) != 0
        let before = state
        guard let effects = state.press(key) else { return false }
        show(replacing: before)
        perform(effects)
        return true
    }

    private func perform(_ effects: [WindowEffect]) {
        for effect in effects {
            switch effect {
            case .setField(let text):
                gtk_editable_set_text(entry.cast(), text)
                gtk_editable_set_position(entry.cast(), -1)
            case .focusField: gtk_widget_grab_focus(entry.pointer)
            case .copy(let text): gdk_clipboard_set_text(gtk_widget_get_clipboard(window.pointer), text)
            case .notify(let message): notify(message)
            case .close, .quit: gtk_window_close(window.cast())
            default: client.perform(effect)
            }
        }
    }

    private func notify(_ message: String) {
        guard let toast = adw_toast_new(Markup.escaped(message)) else { return }
        adw_toast_overlay_add_toast(toasts.cast(), toast)
    }

    /// Opens a link in a preview with the app for its URL.
    private func follow(_ address: String) {
        guard ["https://", "http://", "mailto:"].contains(where: { address.lowercased().hasPrefix($0) }) else { return }
        gtk_show_uri(window.cast(), address, UInt32(GDK_CURRENT_TIME))
    }

    // MARK: Drags

    private func drag(atHeight y: Double) -> DragOrigin.Start? {
        guard let (result, row) = list.result(atHeight: y) else { return nil }
        let title = result.plainTitle
        let onProgress: @Sendable (Int?) -> Void = { percentage in
            guard let percentage else { return }
            MainLoop.post { [weak self] in
                if let self, self.state.dragStatus != nil {
                    self.send(.dropping(title: title, percentage: percentage))
                }
            }
        }
        let text = state.text
        return drags(result, onProgress).map { content in
            DragOrigin.Start(content, icon: row) { [weak self, client] event in
                switch event {
                case .preparing(let percentage): self?.send(.dropping(title: title, percentage: percentage))
                case .failed(let failure): self?.send(.dropped(title: title, .problem(failure.message)))
                case .ended: self?.send(.dropped(title: title, .value("")))
                case .dropped:
                    self?.send(.dropped(title: title, .value("")))
                    Task.detached { await client.count(.drag, of: result.id, text: text) }
                }
            }
        }
    }

    // MARK: Display

    private func show(replacing before: WindowState?) {
        if before?.suggestions != state.suggestions || before?.selection != state.selection {
            let selected: Int? = if case .suggestion(let index) = state.selection { index } else { nil }
            suggestions.show(state.suggestions, selected: selected)
        }
        if before?.results != state.results || before?.selection != state.selection {
            let selected: Int? = if case .row(let index) = state.selection { index } else { nil }
            list.show(state.results, selected: selected)
        }
        if before?.results != state.results { readThumbnails() }
        if before?.preview != state.preview { preview.show(state.preview) }
        if before == nil || before?.page != state.page || before?.apps != state.apps { showPage() }
        left.isVisible = !state.isPreviewLarge
        if before?.total != state.total || before?.results.pages != state.results.pages { showTotal() }
        correction.isVisible = state.correction != nil
        if let text = state.correction, text != before?.correction {
            gtk_button_set_label(correction.cast(), "Showing results for “\(text)”. Search as typed")
        }
        dragStatus.isVisible = state.dragStatus != nil
        gtk_label_set_text(dragStatus.cast(), state.dragStatus ?? "")
        if state.isSearching != (before?.isSearching ?? false) { showSpinner() }
    }

    private func showPage() {
        let (icon, title, detail): (String, String, String)
        switch state.page {
        case .results: return gtk_stack_set_visible_child_name(stack.cast(), "results")
        case .start:
            (icon, title, detail) = (
                "system-search-symbolic", state.apps?.title ?? "Search Your Apps", state.apps?.description ?? ""
            )
        case .nothing where state.apps?.hasItems == false:
            (icon, title, detail) = (
                "system-search-symbolic", state.apps?.title ?? "", state.apps?.description ?? ""
            )
        case .nothing(let text):
            (icon, title, detail) = (
                "edit-find-symbolic", "No Results", "Nothing is found for “\(text)”. Try fewer or other words."
            )
        case .problem(let message): (icon, title, detail) = ("dialog-error-symbolic", "Cannot Search", message)
        }
        adw_status_page_set_icon_name(status.cast(), icon)
        adw_status_page_set_title(status.cast(), Markup.escaped(title))
        adw_status_page_set_description(status.cast(), Markup.escaped(detail))
        gtk_stack_set_visible_child_name(stack.cast(), "status")
    }

    private func showTotal() {
        total.isVisible = state.total != nil
        guard let found = state.total else { return }
        let shown = state.results.rows.count
        let count = found.count.formatted() + (found.isExact ? "" : "+")
        let text =
            shown < found.count
            ? "The best \(shown) of \(count) results" : "\(count) \(found.count == 1 ? "result" : "results")"
        gtk_label_set_text(total.cast(), text)
    }

    private func showSpinner() {
        guard state.isSearching else {
            gtk_spinner_stop(spinner.cast())
            return
        }
        let search = state.text
        MainLoop.post(after: Self.patience) { [weak self] in
            guard let self, self.state.isSearching, self.state.text == search else { return }
            gtk_spinner_start(self.spinner.cast())
        }
    }

    private func readThumbnails() {
        let items = list.itemsWithoutPicture
        guard !items.isEmpty else { return }
        client.readThumbnails(of: items) { [weak self] item, thumbnail in
            guard let picture = await Picture.decode(thumbnail.bytes, side: 96) else { return }
            MainLoop.post { [weak self] in self?.list.show(picture, of: item) }
        }
    }
}

extension SearchWindow {
    /// The time, in milliseconds, that WebKit may need to paint a complete page.
    private static var paintingTime: UInt32 { 1500 }

    /// Saves a picture of the window when it is complete, and then closes the window.
    package func savePicture(
        to path: String, attempts: Int = 300, _ done: @escaping @MainActor @Sendable (Bool) -> Void
    ) {
        let isComplete = state.isSettled && !preview.isLoading
        MainLoop.post(after: isComplete ? Self.paintingTime : 100) { [weak self] in
            guard let self else { return }
            guard isComplete && self.state.isSettled || attempts == 0 else {
                return self.savePicture(to: path, attempts: attempts - 1, done)
            }
            let result = cdesktop_save_picture(self.window.pointer, path)
            // On a busy machine the window may not be drawn yet.
            if result == 0, attempts > 0 { return self.savePicture(to: path, attempts: attempts - 1, done) }
            done(result > 0)
            gtk_window_close(self.window.cast())
        }
    }
}
