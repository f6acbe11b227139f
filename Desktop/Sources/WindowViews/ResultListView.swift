// SPDX-License-Identifier: Apache-2.0
import CAdwaita
import WindowModel

/// The list of results.
@MainActor
final class ResultListView {
    let widget: Widget
    let list = Widget(gtk_list_box_new())
    private let scrolled: Widget
    private var views: [ResultLineView] = []
    private var shown = ResultLines.empty
    /// The decoded thumbnails by item.
    private var pictures: [Int64: Picture] = [:]
    private var isShowing = false

    /// One for each of the results that the list can show.
    private static let maximumPictures = 1000

    /// Creates the list.
    ///
    /// - Parameters:
    ///   - select: Called when the user selects a row.
    ///   - activate: Called when the user double-clicks a row.
    ///   - reachEnd: Called when the user scrolls to the last rows.
    init(
        select: @escaping @MainActor (Int) -> Void, activate: @escaping @MainActor (Int) -> Void,
        reachEnd: @escaping @MainActor () -> Void
    ) {
        scrolled = Widget.scrolled(list).expanding()
        widget = scrolled
        gtk_list_box_set_activate_on_single_click(list.cast(), 0)
        list.styled(["navigation-sidebar"])
        list.on("row-selected") { [unowned self] in
            if !isShowing, let index = selectedIndex { select(index) }
        }
        list.on("row-activated") { [unowned self] in
            if let index = selectedIndex { activate(index) }
        }
        SignalHandler.connect(UnsafeMutableRawPointer(adjustment), "value-changed") { [unowned self] in
            let page = gtk_adjustment_get_page_size(adjustment)
            let rest = gtk_adjustment_get_upper(adjustment) - gtk_adjustment_get_value(adjustment) - page
            if !isShowing, rest < page { reachEnd() }
        }
    }

    private var adjustment: UnsafeMutablePointer<GtkAdjustment> {
        guard let adjustment = gtk_scrolled_window_get_vadjustment(scrolled.cast()) else {
            fatalError("A scrolled window of GTK has no adjustment.")
        }
        return adjustment
    }

    /// Returns the result below a point in the list.
    func result(atHeight y: Double) -> (result: ResultRow, row: Widget)? {
        guard let row = gtk_list_box_get_row_at_y(list.cast(), Int32(clamping: Int(y))) else { return nil }
        return views.first { $0.row.cast() == row }.flatMap { view in view.shown.map { ($0, view.row) } }
    }

    private var selectedIndex: Int? {
        guard let row = gtk_list_box_get_selected_row(list.cast()) else { return nil }
        let id = views.first { $0.row.cast() == row }?.shown?.id
        return shown.rows.firstIndex { $0.id == id }
    }

    func show(_ lines: ResultLines, selected: Int?) {
        isShowing = true
        defer { isShowing = false }
        // Another page of results does not move the list.
        let isContinued = lines != shown && lines.pages > 1
        if lines != shown { replace(lines, isContinued: isContinued) }
        guard let selected, let line = shown.lines.firstIndex(of: .row(selected)) else {
            return gtk_list_box_unselect_all(list.cast())
        }
        let row = views[line].row
        gtk_list_box_select_row(list.cast(), row.cast())
        if !isContinued { scroll(to: row, isFirst: selected == 0) }
    }

    private func replace(_ lines: ResultLines, isContinued: Bool) {
        let kept = isContinued ? shown.lines.count : 0
        shown = lines
        while views.count < lines.lines.count {
            let view = ResultLineView()
            views.append(view)
            gtk_list_box_append(list.cast(), view.row.pointer)
        }
        for (line, view) in zip(lines.lines, views).dropFirst(kept) {
            switch line {
            case .heading(let text): view.show(heading: text)
            case .row(let index): view.show(lines.rows[index], picture: pictures[lines.rows[index].id])
            }
        }
        for view in views.dropFirst(lines.lines.count) { view.row.isVisible = false }
        if !isContinued { gtk_adjustment_set_value(adjustment, 0) }
    }

    /// The items whose thumbnails have not been loaded.
    var itemsWithoutPicture: [Int64] {
        shown.rows.filter { $0.hasThumbnail && pictures[$0.id] == nil }.map(\.id)
    }

    /// Shows an item's thumbnail if the item is still in the list.
    func show(_ picture: Picture, of item: Int64) {
        if pictures.count >= Self.maximumPictures { pictures.removeAll() }
        pictures[item] = picture
        views.first { $0.shown?.id == item }?.show(picture)
    }

    private func scroll(to row: Widget, isFirst: Bool) {
        // For the first row, its heading is shown too.
        guard !isFirst else { return gtk_adjustment_set_value(adjustment, 0) }
        var (x, y) = (0.0, 0.0)
        guard gtk_widget_translate_coordinates(row.pointer, list.pointer, 0, 0, &x, &y) != 0 else { return }
        gtk_adjustment_clamp_page(adjustment, y, y + Double(gtk_widget_get_height(row.pointer)))
    }
}
