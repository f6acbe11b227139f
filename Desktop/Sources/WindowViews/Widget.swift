// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import CDesktop

/// A GTK widget, with a reference to it. The window and its widgets exist until the program exits.
@MainActor
package struct Widget {
    /// The widget.
    package let pointer: UnsafeMutablePointer<GtkWidget>

    /// Takes over the new reference from a constructor. GTK's constructors never return a null
    /// pointer.
    package init(_ made: UnsafeMutablePointer<GtkWidget>?) {
        guard let made else { fatalError("A constructor of GTK returned no widget.") }
        pointer = made
        g_object_ref_sink(made)
    }

    /// The widget as a type whose fields are public in C.
    package func cast<Other>() -> UnsafeMutablePointer<Other> {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: Other.self)
    }

    /// The widget as a type whose fields are private in C.
    package func cast() -> OpaquePointer { OpaquePointer(pointer) }

    package var isVisible: Bool {
        get { gtk_widget_get_visible(pointer) != 0 }
        nonmutating set { gtk_widget_set_visible(pointer, newValue ? 1 : 0) }
    }

    // MARK: Construction

    static func box(_ orientation: GtkOrientation, spacing: Int32 = 0, _ children: [Widget] = []) -> Widget {
        let box = Widget(gtk_box_new(orientation, spacing))
        for child in children { gtk_box_append(box.cast(), child.pointer) }
        return box
    }

    /// Creates a label on one line, or one that wraps.
    static func label(_ text: String = "", classes: [String] = [], wraps: Bool = false) -> Widget {
        let label = Widget(gtk_label_new(text)).styled(classes)
        gtk_label_set_xalign(label.cast(), 0)
        if wraps {
            gtk_label_set_wrap(label.cast(), 1)
            gtk_label_set_wrap_mode(label.cast(), PANGO_WRAP_WORD_CHAR)
        } else {
            gtk_label_set_ellipsize(label.cast(), PANGO_ELLIPSIZE_END)
        }
        return label
    }

    static func scrolled(_ child: Widget, horizontally: Bool = false) -> Widget {
        let scrolled = Widget(gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(
            scrolled.cast(), horizontally ? GTK_POLICY_AUTOMATIC : GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_child(scrolled.cast(), child.pointer)
        return scrolled
    }

    @discardableResult
    func styled(_ classes: [String]) -> Widget {
        for name in classes { gtk_widget_add_css_class(pointer, name) }
        return self
    }

    @discardableResult
    func expanding(horizontally: Bool = true, vertically: Bool = true) -> Widget {
        gtk_widget_set_hexpand(pointer, horizontally ? 1 : 0)
        gtk_widget_set_vexpand(pointer, vertically ? 1 : 0)
        return self
    }

    @discardableResult
    func margins(horizontal: Int32, vertical: Int32) -> Widget {
        gtk_widget_set_margin_start(pointer, horizontal)
        gtk_widget_set_margin_end(pointer, horizontal)
        gtk_widget_set_margin_top(pointer, vertical)
        gtk_widget_set_margin_bottom(pointer, vertical)
        return self
    }
}
