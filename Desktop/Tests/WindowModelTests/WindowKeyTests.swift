// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import Testing

@testable import WindowModel

@Suite("The keys of the window")
struct WindowKeyTests {
    private let hits = (1...20).map { Sample.hit(Int64($0)) }
    private func showing() -> WindowState { .showing(hits) }

    private func suggesting() -> WindowState {
        var state = showing()
        let texts = ["notes", "notebook"]
        _ = state.take(.suggested(search: state.search, texts.map { Suggestion(.completion, $0, total: nil) }))
        return state
    }

    @Test("Arrows and pages move among the results and stop at the ends")
    func moving() {
        var state = showing()
        let steps: [(WindowKey.Code, Int)] = [
            (.down, 1), (.down, 2), (.up, 1), (.pageDown, 9), (.pageDown, 17), (.pageDown, 19), (.down, 19),
            (.pageUp, 11),
            (.home, 0), (.end, 19),
        ]
        for (code, row) in steps {
            _ = state.press(WindowKey(code))
            #expect(state.selection == .row(row), "\(code)")
        }
    }

    @Test("Enter opens the selected result")
    func opening() {
        var state = showing()
        _ = state.press(WindowKey(.down))
        #expect(state.press(WindowKey(.enter)) == [.open(item: 2, text: "note")])
    }

    @Test("The space bar belongs to the text until an arrow key was pressed, and then shows the preview")
    func space() {
        var state = showing()
        #expect(state.press(WindowKey(.space)) == nil)
        _ = state.press(WindowKey(.down))
        #expect(state.press(WindowKey(.space)) == [] && state.isPreviewLarge)
        // The arrow keys show the previews of other results.
        #expect(state.press(WindowKey(.down))?.isEmpty == false && state.isPreviewLarge)
        #expect(state.press(WindowKey(.space)) == [] && !state.isPreviewLarge)
        _ = state.take(.typed("note x"))
        #expect(state.press(WindowKey(.space)) == nil)
    }

    @Test("Escape leaves the large preview, then clears the text, then closes the window")
    func escape() {
        var state = showing()
        _ = state.press(WindowKey(.down))
        _ = state.press(WindowKey(.space))
        #expect(state.press(WindowKey(.escape)) == [] && !state.isPreviewLarge)
        #expect(state.press(WindowKey(.escape)) == [.setField(""), .cancelSearch, .listApps])
        #expect(state.text.isEmpty && state.page == .start)
        #expect(state.press(WindowKey(.escape)) == [.close])
    }

    @Test("Tab takes a suggestion; Up reaches the suggestions, and Enter takes the selected one")
    func suggestions() {
        var state = suggesting()
        #expect(state.press(WindowKey(.tab))?.first == .setField("notes"))
        #expect(state.text == "notes")
        state = suggesting()
        _ = state.press(WindowKey(.up))
        #expect(state.selection == .suggestion(0))
        _ = state.press(WindowKey(.right))
        _ = state.press(WindowKey(.right))
        #expect(state.selection == .suggestion(1))
        #expect(state.press(WindowKey(.enter))?.first == .setField("notebook"))
        state = suggesting()
        _ = state.press(WindowKey(.up))
        _ = state.press(WindowKey(.down))
        #expect(state.selection == .row(0))
        // Otherwise the cursor keys belong to the search field.
        #expect(state.press(WindowKey(.left)) == nil)
        state = showing()
        #expect(state.press(WindowKey(.tab)) == nil)
    }

    @Test("Control-C copies the item unless a text is selected; the clipboard gets what the service says")
    func copying() {
        var state = showing()
        #expect(state.press(WindowKey(.letter("c"), isControl: true, hasSelectedText: true)) == nil)
        #expect(state.press(WindowKey(.letter("c"), isControl: true)) == [.findCopy(item: 1)])
        #expect(state.take(.copies(.value("/tmp/a"))) == [.copy("/tmp/a"), .notify("Copied “/tmp/a”.")])
        #expect(state.press(WindowKey(.letter("c"))) == nil)
    }

    @Test(
        "The usual shortcuts work",
        arguments: [("f", WindowEffect.focusField), ("l", .focusField), ("q", .quit), ("w", .close)]
            as [(Character, WindowEffect)])
    func shortcuts(_ key: Character, _ effect: WindowEffect) {
        var state = showing()
        #expect(state.press(WindowKey(.letter(key), isControl: true)) == [effect])
        #expect(state.press(WindowKey(.letter(key))) == nil)
    }

    @Test("Keys do nothing in an empty window, except to close it")
    func empty() {
        var state = WindowState()
        for code: WindowKey.Code in [.down, .pageDown, .end, .enter, .home] {
            let effects = state.press(WindowKey(code)) ?? []
            #expect(effects.isEmpty && state.selection == .none, "\(code)")
        }
    }
}
