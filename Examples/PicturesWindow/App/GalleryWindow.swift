// SPDX-License-Identifier: Apache-2.0
import CGTK
import CoreSpotlight
import PictureGallery

/// The window: a search field, the opened picture, and the found pictures, which can be dragged.
@MainActor
final class GalleryWindow {
    private let window: Element
    private let field: Element
    private let opened: Element
    private let tiles: Element
    private var query: CSUserQuery?

    init?(_ application: UnsafeMutablePointer<GtkApplication>) {
        guard let window = Element(gtk_application_window_new(application)),
            let column = Element(gtk_box_new(GTK_ORIENTATION_VERTICAL, 6)),
            let field = Element(gtk_search_entry_new()), let opened = Element(gtk_picture_new()),
            let scrolled = Element(gtk_scrolled_window_new()), let tiles = Element(gtk_flow_box_new())
        else { return nil }
        (self.window, self.field, self.opened, self.tiles) = (window, field, opened, tiles)
        gtk_window_set_title(window.cast(), "Pictures")
        gtk_window_set_default_size(window.cast(), 480, 480)
        gtk_window_set_child(window.cast(), column.pointer)
        gtk_box_append(column.cast(), field.pointer)
        gtk_box_append(column.cast(), opened.pointer)
        gtk_box_append(column.cast(), scrolled.pointer)
        gtk_widget_set_vexpand(scrolled.pointer, 1)
        gtk_scrolled_window_set_child(scrolled.cast(), tiles.pointer)
        gtk_flow_box_set_selection_mode(tiles.cast(), GTK_SELECTION_NONE)
        CSUserQuery.prepare()
        field.on("search-changed") { [unowned self] in find() }
        showAll()
    }

    func present() { gtk_window_present(window.cast()) }

    /// Shows a picture in its size, and its title in the title of the window.
    func show(_ picture: PixelArt) {
        gtk_window_set_title(window.cast(), "\(picture.title) — Pictures")
        guard let texture = texture(of: picture) else { return }
        gtk_picture_set_paintable(opened.cast(), texture)
        g_object_unref(UnsafeMutableRawPointer(texture))
    }

    /// Searches for a text, as if the user typed it.
    func search(_ text: String) { gtk_editable_set_text(field.cast(), text) }

    // MARK: Searching

    private func find() {
        query?.cancel()
        let text = gtk_editable_get_text(field.cast()).map { String(cString: $0) } ?? ""
        guard !text.isEmpty else { return showAll() }
        let context = CSUserQueryContext()
        context.maxResultCount = 100
        let query = CSUserQuery(userQueryString: text, userQueryContext: context)
        self.query = query
        Task.detached {
            var ids: [String] = []
            do { for try await result in query.results { ids.append(result.id) } } catch { return }
            let pictures = ids.compactMap(Gallery.picture)
            onMainLoop { [weak self] in self?.show(pictures, of: query, text) }
        }
    }

    private func show(_ pictures: [PixelArt], of query: CSUserQuery, _ text: String) {
        // The answer of an earlier query is late.
        guard query === self.query else { return }
        gtk_window_set_title(window.cast(), "\(pictures.count) for “\(text)” — Pictures")
        show(pictures)
    }

    private func showAll() {
        query = nil
        show(((try? Gallery.file.read())?.pictures.keys.sorted() ?? []).prefix(100).compactMap(Gallery.picture))
    }

    // MARK: Tiles

    private func show(_ pictures: [PixelArt]) {
        while let child = gtk_widget_get_first_child(tiles.pointer) { gtk_flow_box_remove(tiles.cast(), child) }
        for picture in pictures { if let tile = tile(of: picture) { gtk_flow_box_append(tiles.cast(), tile.pointer) } }
    }

    private func tile(of picture: PixelArt) -> Element? {
        guard let tile = Element(gtk_box_new(GTK_ORIENTATION_VERTICAL, 2)), let texture = texture(of: picture),
            let view = Element(gtk_picture_new_for_paintable(texture)),
            let label = Element(gtk_label_new(picture.title)),
            let source = gtk_drag_source_new(), let content = content(of: picture)
        else { return nil }
        g_object_unref(UnsafeMutableRawPointer(texture))
        gtk_widget_set_size_request(view.pointer, 96, 96)
        gtk_box_append(tile.cast(), view.pointer)
        gtk_box_append(tile.cast(), label.pointer)
        // The same forms as for a dragged search result: the original, and a copy as a PNG.
        gtk_drag_source_set_content(source, content)
        g_object_unref(UnsafeMutableRawPointer(content))
        gtk_widget_add_controller(tile.pointer, source)
        return tile
    }

    private func content(of picture: PixelArt) -> UnsafeMutablePointer<GdkContentProvider>? {
        let address = Gallery.url(of: picture.id).absoluteString + "\r\n"
        var providers = [("text/uri-list", Data(address.utf8)), ("image/png", picture.png)].map { type, data in
            let bytes = bytes(of: data)
            defer { g_bytes_unref(bytes) }
            return gdk_content_provider_new_for_bytes(type, bytes)
        }
        return gdk_content_provider_new_union(&providers, gsize(providers.count))
    }

    private func texture(of picture: PixelArt) -> OpaquePointer? {
        let bytes = bytes(of: picture.png)
        defer { g_bytes_unref(bytes) }
        return gdk_texture_new_from_bytes(bytes, nil)
    }

    private func bytes(of data: Data) -> OpaquePointer? {
        data.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
    }
}
