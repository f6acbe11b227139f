// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import CDesktop
import Promises
import WindowModel

/// Starts drags from a widget. GTK asks for the content when a receiver requests it, which may be
/// before the drop.
@MainActor
package final class DragOrigin {
    /// Events in a drag that the user should see.
    package enum Event: Sendable {
        /// A receiver is waiting for the content. The percentage is `nil` if it is unknown.
        case preparing(percentage: Int?)
        /// A receiver did not get the content that it requested.
        case failed(DragFailure)
        /// A receiver got content, and the drag has ended.
        case dropped
        /// The drag has ended without a drop.
        case ended
    }

    /// A drag that begins at a point: its content, and the widget that follows the pointer.
    package struct Start {
        package var content: any DragContent
        package var icon: Widget
        /// Called for each event of the drag.
        package var onEvent: @MainActor @Sendable (Event) -> Void

        package init(
            _ content: any DragContent, icon: Widget, onEvent: @escaping @MainActor @Sendable (Event) -> Void
        ) {
            (self.content, self.icon, self.onEvent) = (content, icon, onEvent)
        }
    }

    private let source: OpaquePointer
    private let begin: (_ x: Double, _ y: Double) -> Start?
    private var current: (start: Start, drag: Drag)?

    /// Lets the user drag from a widget. The origin exists until the program exits.
    ///
    /// - Parameter begin: Returns the drag that begins at a point in the widget; `nil` for none.
    package static func add(to widget: Widget, begin: @escaping (_ x: Double, _ y: Double) -> Start?) {
        let origin = DragOrigin(begin)
        origin.connect()
        gtk_widget_add_controller(widget.pointer, origin.source)
    }

    private init(_ begin: @escaping (_ x: Double, _ y: Double) -> Start?) {
        source = gtk_drag_source_new()
        self.begin = begin
        // With any other action, a receiver could move the original, which would remove it from its
        // app.
        gtk_drag_source_set_actions(source, GDK_ACTION_COPY)
    }

    private func connect() {
        let prepare:
            @convention(c) (OpaquePointer, Double, Double, UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = {
                _, x, y, data in
                nonisolated(unsafe) let data = data
                let provider = MainActor.assumeIsolated {
                    UInt(bitPattern: Unmanaged<DragOrigin>.fromOpaque(data).takeUnretainedValue().prepare(x, y))
                }
                return UnsafeMutableRawPointer(bitPattern: provider)
            }
        let cancel:
            @convention(c) (OpaquePointer, OpaquePointer, GdkDragCancelReason, UnsafeMutableRawPointer)
                -> gboolean = { _, _, _, data in
                    nonisolated(unsafe) let data = data
                    MainActor.assumeIsolated {
                        Unmanaged<DragOrigin>.fromOpaque(data).takeUnretainedValue().end(isDrop: false)
                    }
                    return 0
                }
        let object = UnsafeMutableRawPointer(source)
        let data = Unmanaged.passRetained(self).toOpaque()
        g_signal_connect_data(
            object, "prepare", unsafeBitCast(prepare, to: GCallback.self), data, nil, GConnectFlags(rawValue: 0))
        g_signal_connect_data(
            object, "drag-cancel", unsafeBitCast(cancel, to: GCallback.self), data, nil, GConnectFlags(rawValue: 0))
        SignalHandler.connect(object, "drag-begin") { [unowned self] in
            guard let current else { return }
            let icon = gtk_widget_paintable_new(current.start.icon.pointer)
            gtk_drag_source_set_icon(source, icon, 0, 0)
            if let icon { g_object_unref(UnsafeMutableRawPointer(icon)) }
            Task.detached { [content = current.start.content] in await content.prewarm() }
        }
        SignalHandler.connect(object, "drag-end") { [unowned self] in end(isDrop: true) }
    }

    private func prepare(_ x: Double, _ y: Double) -> UnsafeMutableRawPointer? {
        guard let start = begin(x, y), !start.content.mediaTypes.isEmpty else { return nil }
        let drag = Drag(start.content, start.onEvent)
        current = (start, drag)
        return drag.makeProvider()
    }

    private func end(isDrop: Bool) {
        guard let (start, drag) = current else { return }
        current = nil
        drag.isOver = true
        if isDrop && drag.hasSucceeded { return start.onEvent(.dropped) }
        start.onEvent(.ended)
        // Some receivers request content only after the drop.
        if !isDrop { Task.detached { await start.content.discard() } }
    }
}
