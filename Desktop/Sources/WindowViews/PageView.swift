// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import CDesktop

/// A view for HTML pages, which WebKit renders in its own processes. Scripts, storage and the
/// network are disabled. WebKit is started for the first page.
@MainActor
final class PageView {
    private enum State {
        case unused, missing
        case ready(Widget)
    }
    private var state = State.unused
    private let follow: @MainActor (String) -> Void
    /// `true` until the last page is complete.
    private(set) var isLoading = false

    /// Creates a view.
    ///
    /// - Parameter follow: Called with the URL of a link that the user clicked.
    init(follow: @escaping @MainActor (String) -> Void) { self.follow = follow }

    /// The widget; `nil` if WebKit is not installed.
    var widget: Widget? {
        if case .unused = state { state = make().map { .ready($0) } ?? .missing }
        guard case .ready(let widget) = state else { return nil }
        return widget
    }

    private func make() -> Widget? {
        let link: cdesktop_link = { address, data in
            guard let address, let data else { return }
            let text = String(cString: address)
            nonisolated(unsafe) let object = data
            MainActor.assumeIsolated { Unmanaged<PageView>.fromOpaque(object).takeUnretainedValue().follow(text) }
        }
        let loaded: @convention(c) (UnsafeMutableRawPointer) -> Void = { data in
            nonisolated(unsafe) let object = data
            MainActor.assumeIsolated { Unmanaged<PageView>.fromOpaque(object).takeUnretainedValue().isLoading = false }
        }
        // Like this object, the view exists until the program exits.
        let made = cdesktop_web_view_new(
            link, unsafeBitCast(loaded, to: GCallback.self), Unmanaged.passRetained(self).toOpaque())
        return made.map { Widget($0).expanding() }
    }

    /// Shows a page.
    func load(_ page: [UInt8]) {
        guard case .ready(let widget) = state else { return }
        var clear = GdkRGBA(red: 0, green: 0, blue: 0, alpha: 0)
        cdesktop_web_view_set_background(widget.pointer, &clear)
        isLoading = true
        page.withUnsafeBytes { cdesktop_web_view_load(widget.pointer, $0.baseAddress, $0.count) }
    }
}
