// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import Glibc
import WindowModel

/// A line in the result list, which shows a heading or a result. Lines are reused for other
/// results.
@MainActor
final class ResultLineView {
    let row = Widget(gtk_list_box_row_new())
    private let heading = Widget.label(classes: ["heading", "dim-label"])
    private let icon = Widget(gtk_image_new())
    private let title = Widget.label()
    private let detail = Widget.label(classes: ["caption", "dim-label"])
    private let day = Widget.label(classes: ["caption", "dim-label"])
    private let result: Widget
    /// The displayed result; `nil` for a heading.
    private(set) var shown: ResultRow?

    private static let iconSide: Int32 = 36

    init() {
        gtk_image_set_pixel_size(icon.cast(), Self.iconSide)
        gtk_widget_set_size_request(icon.pointer, Self.iconSide, Self.iconSide)
        let texts = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 2, [title, detail]).expanding(vertically: false)
        gtk_widget_set_valign(texts.pointer, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(day.pointer, GTK_ALIGN_START)
        gtk_label_set_ellipsize(day.cast(), PANGO_ELLIPSIZE_NONE)
        result = Widget.box(GTK_ORIENTATION_HORIZONTAL, spacing: 10, [icon, texts, day]).margins(
            horizontal: 4, vertical: 5)
        heading.margins(horizontal: 6, vertical: 4)
        gtk_widget_set_margin_top(heading.pointer, 10)
        gtk_list_box_row_set_child(row.cast(), Widget.box(GTK_ORIENTATION_VERTICAL, [heading, result]).pointer)
    }

    func show(heading text: String) {
        shown = nil
        setKind(isResult: false)
        gtk_label_set_text(heading.cast(), text)
    }

    /// Shows a result, with its thumbnail instead of the icon for its kind.
    func show(_ result: ResultRow, picture: Picture?) {
        setKind(isResult: true)
        if shown != result {
            gtk_label_set_markup(title.cast(), Markup.text(result.title))
            gtk_widget_set_tooltip_text(title.pointer, result.plainTitle)
            let facts = [result.app, result.kind].filter { !$0.isEmpty }.map(Markup.escaped)
            gtk_label_set_markup(
                detail.cast(), result.snippet.isEmpty ? facts.joined(separator: " · ") : Markup.text(result.snippet))
            gtk_label_set_text(day.cast(), result.day)
        }
        shown = result
        if let picture { show(picture) } else { showIcon(result) }
    }

    func show(_ picture: Picture) { gtk_image_set_from_paintable(icon.cast(), picture.texture) }

    private func showIcon(_ result: ResultRow) {
        var names = result.icon.names.map { strdup($0) }
        defer { names.forEach { free($0) } }
        let icon = names.withUnsafeMutableBufferPointer {
            g_themed_icon_new_from_names($0.baseAddress, Int32($0.count))
        }
        gtk_image_set_from_gicon(self.icon.cast(), icon)
        if let icon { g_object_unref(UnsafeMutableRawPointer(icon)) }
    }

    private func setKind(isResult: Bool) {
        heading.isVisible = !isResult
        result.isVisible = isResult
        row.isVisible = true
        gtk_list_box_row_set_selectable(row.cast(), isResult ? 1 : 0)
        gtk_list_box_row_set_activatable(row.cast(), isResult ? 1 : 0)
    }
}
