// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import CDesktop
import Previews
import WindowModel

/// The preview of the selected result.
@MainActor
final class PreviewView {
    let widget: Widget
    /// The text view. Control-C copies its selected text.
    let text = Widget(gtk_text_view_new())
    private let title = Widget.label(classes: ["title-3"], wraps: true)
    private let note = Widget.label(classes: ["caption", "dim-label"], wraps: true)
    private let stack = Widget(gtk_stack_new())
    private let status = Widget(adw_status_page_new())
    private let picture = Widget(gtk_picture_new())
    private let page: PageView
    private var shown = WindowState.PreviewPane.empty

    private static let pictureSide: Int32 = 1600

    /// Creates the pane.
    ///
    /// - Parameter follow: Called with the URL of a link that the user clicked.
    init(follow: @escaping @MainActor (String) -> Void) {
        page = PageView(follow: follow)
        gtk_text_view_set_editable(text.cast(), 0)
        gtk_text_view_set_cursor_visible(text.cast(), 0)
        gtk_text_view_set_wrap_mode(text.cast(), GTK_WRAP_WORD_CHAR)
        for set in [gtk_text_view_set_left_margin, gtk_text_view_set_right_margin] { set(text.cast(), 18) }
        for set in [gtk_text_view_set_top_margin, gtk_text_view_set_bottom_margin] { set(text.cast(), 12) }
        cdesktop_buffer_create_tags(gtk_text_view_get_buffer(text.cast()))
        gtk_label_set_lines(title.cast(), 2)
        gtk_label_set_ellipsize(title.cast(), PANGO_ELLIPSIZE_END)
        gtk_label_set_lines(note.cast(), 3)
        gtk_label_set_ellipsize(note.cast(), PANGO_ELLIPSIZE_END)
        let head = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 4, [title, note]).margins(horizontal: 18, vertical: 12)
        adw_status_page_set_icon_name(status.cast(), "view-reveal-symbolic")
        for (name, child) in [("status", status), ("text", Widget.scrolled(text)), ("picture", picture)] {
            gtk_stack_add_named(stack.cast(), child.pointer, name)
        }
        stack.expanding()
        widget = Widget.box(GTK_ORIENTATION_VERTICAL, [head, stack]).expanding().styled(["view"])
        show(status: "Nothing Selected", "Choose a result to preview it. Drag it out of the list to use it elsewhere.")
    }

    /// `true` until the displayed page is complete.
    var isLoading: Bool { page.isLoading }

    func show(_ pane: WindowState.PreviewPane) {
        guard pane != shown else { return }
        shown = pane
        switch pane {
        case .empty:
            show(
                status: "Nothing Selected",
                "Choose a result to preview it. Drag it out of the list to use it elsewhere.")
        case .problem(let message): show(status: "No Preview", message)
        case .shown(let preview): show(preview)
        }
    }

    private func show(_ preview: ShownPreview) {
        gtk_label_set_text(title.cast(), preview.title)
        title.isVisible = true
        gtk_label_set_text(note.cast(), preview.note ?? "")
        gtk_widget_set_tooltip_text(note.pointer, preview.note)
        note.isVisible = preview.note != nil
        switch preview.content {
        case .text(let pieces): show(pieces)
        case .page(let bytes, let words):
            guard let view = page.widget else { return show(words) }
            if gtk_widget_get_parent(view.pointer) == nil { gtk_stack_add_named(stack.cast(), view.pointer, "page") }
            // The page with the attributes already begins with the title.
            title.isVisible = false
            page.load(bytes)
            gtk_stack_set_visible_child_name(stack.cast(), "page")
        case .picture(let bytes): show(picture: bytes, of: shown)
        }
    }

    private func show(_ pieces: [TextPiece]) {
        let buffer = gtk_text_view_get_buffer(text.cast())
        gtk_text_buffer_set_text(buffer, "", 0)
        for piece in pieces {
            var copy = piece.text
            copy.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    cdesktop_buffer_append(buffer, characters.baseAddress, Int32(characters.count), piece.style.tag)
                }
            }
        }
        gtk_stack_set_visible_child_name(stack.cast(), "text")
        gtk_adjustment_set_value(gtk_scrollable_get_vadjustment(text.cast()), 0)
    }

    private func show(picture bytes: [UInt8], of pane: WindowState.PreviewPane) {
        Task.detached {
            let decoded = await Picture.decode(bytes, side: Self.pictureSide)
            MainLoop.post { [weak self] in
                guard let self, self.shown == pane else { return }
                guard let decoded else { return self.show(status: "No Preview", "The picture cannot be shown.") }
                gtk_picture_set_paintable(self.picture.cast(), decoded.texture)
                gtk_stack_set_visible_child_name(self.stack.cast(), "picture")
            }
        }
    }

    private func show(status text: String, _ detail: String) {
        title.isVisible = false
        note.isVisible = false
        adw_status_page_set_title(status.cast(), text)
        adw_status_page_set_description(status.cast(), Markup.escaped(detail))
        gtk_stack_set_visible_child_name(stack.cast(), "status")
    }
}

extension TextPiece.Style {
    /// The name of the tag in a text buffer; see `cdesktop_buffer_create_tags`.
    fileprivate var tag: String? {
        switch self {
        case .plain: nil
        case .found: "found"
        case .strong: "strong"
        case .faint: "faint"
        case .emphasis: "emphasis"
        case .code: "code"
        case .link: "link"
        }
    }
}
