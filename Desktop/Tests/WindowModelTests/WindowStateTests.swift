// SPDX-License-Identifier: Apache-2.0
import SearchIndex
import SearchlightEngine
import TestSupport
import Testing

@testable import WindowModel

@Suite("The state of the window")
struct WindowStateTests {
    private let hits = [Sample.hit(1), Sample.hit(2), Sample.hit(3)]

    @Test("Each change of the text starts a search and suggestions with a new number")
    func typing() {
        var state = WindowState()
        #expect(
            state.take(.typed("n")) == [
                .search(number: 1, text: "n", correctsSpelling: true), .suggest(number: 1, text: "n"),
            ])
        #expect(
            state.take(.typed("no")) == [
                .search(number: 2, text: "no", correctsSpelling: true), .suggest(number: 2, text: "no"),
            ])
        #expect(state.take(.typed("no")) == [])
    }

    @Test("An answer to an earlier text changes nothing")
    func stale() {
        var state = WindowState()
        _ = state.take(.typed("n"))
        _ = state.take(.typed("no"))
        #expect(state.take(.found(search: 1, Sample.found(hits))) == [])
        #expect(state.take(.suggested(search: 1, [Suggestion(.completion, "note", total: nil)])) == [])
        #expect(state.results.rows.isEmpty && state.suggestions.isEmpty && state.isSearching)
    }

    @Test("A search that finds nothing in an empty index reads again which apps have items")
    func emptyIndex() {
        var state = WindowState()
        _ = state.take(.knows(.value(InstalledApps([.init(name: "Mail", items: 0)]))))
        _ = state.take(.typed("note"))
        #expect(state.take(.found(search: 1, Sample.found([]))) == [.listApps])
        _ = state.take(.knows(.value(InstalledApps([.init(name: "Mail", items: 1)]))))
        _ = state.take(.typed("notes"))
        #expect(state.take(.found(search: 2, Sample.found([]))) == [])
        #expect(state.page == .nothing("notes"))
    }

    @Test("The answer selects the best result and asks for its preview")
    func answer() {
        var state = WindowState()
        _ = state.take(.typed("note"))
        let effects = state.take(.found(search: 1, Sample.found(hits)))
        #expect(effects == [.preview(number: 1, item: 1, text: "note")])
        #expect(state.page == .results && state.selectedRow?.id == 1 && !state.isSearching)
    }

    @Test("A preview of a row that is no longer selected is not shown")
    func stalePreview() {
        var state = WindowState.showing(hits)
        #expect(state.take(.selected(1)) == [.preview(number: 2, item: 2, text: "note")])
        let preview = ShownPreview(title: "1", content: .text([]))
        _ = state.take(.previewed(number: 1, .value(preview)))
        #expect(state.preview == .empty && !state.isSettled)
        _ = state.take(.previewed(number: 2, .value(preview)))
        #expect(state.preview == .shown(preview) && state.isSettled)
    }

    @Test("Rows of the last text stay until the answer, and Enter then opens the best row of the new text")
    func enterBeforeTheAnswer() {
        var state = WindowState.showing(hits)
        _ = state.take(.typed("notes"))
        #expect(state.results.rows.count == 3)
        #expect(state.press(WindowKey(.enter)) == [])
        let effects = state.take(.found(search: 2, Sample.found([Sample.hit(9)])))
        #expect(effects.contains(.open(item: 9, text: "notes")))
        #expect(!effects.contains { if case .open(let item, _) = $0 { item != 9 } else { false } })
    }

    @Test("Enter before an answer without results opens nothing later")
    func enterWithoutResults() {
        var state = WindowState()
        _ = state.take(.typed("x"))
        _ = state.press(WindowKey(.enter))
        #expect(state.take(.found(search: 1, Sample.found([]))) == [])
        #expect(state.page == .nothing("x"))
        _ = state.take(.typed("xy"))
        #expect(
            !state.take(.found(search: 2, Sample.found(hits))).contains { if case .open = $0 { true } else { false } })
    }

    @Test("A row that the user has chosen stays selected while the results change")
    func browsedRow() {
        var state = WindowState.showing(hits)
        _ = state.press(WindowKey(.down))
        #expect(state.selectedRow?.id == 2)
        _ = state.take(.wantedAsTyped)
        _ = state.take(.found(search: 2, Sample.found([Sample.hit(3), Sample.hit(1), Sample.hit(2)])))
        #expect(state.selectedRow?.id == 2)
    }

    @Test("An empty text clears the window and cancels the work")
    func clearing() {
        var state = WindowState.showing(hits)
        #expect(state.take(.typed("  ")) == [.cancelSearch, .listApps])
        #expect(state.page == .start && state.results.rows.isEmpty && state.total == nil && state.selection == .none)
        // The answer to the cancelled search arrives late.
        #expect(state.take(.found(search: 1, Sample.found(hits))) == [])
    }

    @Test("A text above the limit is not searched for")
    func longText() {
        var state = WindowState()
        #expect(state.take(.typed(String(repeating: "x", count: 5000))) == [.cancelSearch])
        guard case .problem = state.page else { return #expect(Bool(false), "\(state.page)") }
    }

    @Test("A failed search shows its message, and the next text searches again")
    func failure() {
        var state = WindowState()
        _ = state.take(.typed("a"))
        _ = state.take(.found(search: 1, .problem("The index is damaged.")))
        #expect(state.page == .problem("The index is damaged."))
        #expect(state.take(.typed("ab")).first == .search(number: 2, text: "ab", correctsSpelling: true))
    }

    @Test("The next page is found once when the last rows come into view, and follows the first")
    func pages() {
        var state = WindowState()
        _ = state.take(.typed("note"))
        #expect(state.take(.reachedEnd) == [])
        _ = state.take(.found(search: 1, Sample.found(hits, next: Sample.cursor(3))))
        let more = WindowEffect.findMore(
            number: 1, text: "note", correctsSpelling: true, cursor: Sample.cursor(3))
        #expect(state.take(.reachedEnd) == [more])
        #expect(state.take(.reachedEnd) == [])
        #expect(!state.isSettled)
        #expect(state.press(WindowKey(.down)) == [.preview(number: 2, item: 2, text: "note")])
        _ = state.take(.foundMore(search: 1, Sample.found([Sample.hit(4)], next: Sample.cursor(4))))
        #expect(state.results.rows.map(\.id) == [1, 2, 3, 4] && state.selectedRow?.id == 2)
        // A key that moves near the end asks for more too.
        #expect(
            state.press(WindowKey(.pageDown)) == [
                .preview(number: 3, item: 4, text: "note"),
                .findMore(number: 1, text: "note", correctsSpelling: true, cursor: Sample.cursor(4)),
            ])
        _ = state.take(.foundMore(search: 1, Sample.found([Sample.hit(5)])))
        #expect(state.take(.reachedEnd) == [])
        #expect(state.results.rows.count == 5)
    }

    @Test("A page of an earlier text is dropped, and one that fails is reported once")
    func otherPages() {
        var state = WindowState()
        _ = state.take(.typed("note"))
        _ = state.take(.found(search: 1, Sample.found(hits, next: Sample.cursor(3))))
        _ = state.take(.reachedEnd)
        _ = state.take(.typed("notes"))
        #expect(state.take(.reachedEnd) == [])
        #expect(state.take(.foundMore(search: 1, Sample.found([Sample.hit(4)]))) == [])
        #expect(state.results.rows.count == 3)
        _ = state.take(.found(search: 2, Sample.found(hits, next: Sample.cursor(3))))
        #expect(state.take(.foundMore(search: 2, Sample.found([Sample.hit(4)]))) == [])
        _ = state.take(.reachedEnd)
        #expect(
            state.take(.foundMore(search: 2, .problem("The service ended."))) == [
                .notify("The other results cannot be shown: The service ended.")
            ])
        #expect(state.take(.reachedEnd) == [])
        #expect(state.page == .results)
    }

    @Test("The number of displayed results is limited")
    func manyPages() {
        var state = WindowState()
        _ = state.take(.typed("note"))
        _ = state.take(.found(search: 1, Sample.found([Sample.hit(1)], next: Sample.cursor(1))))
        var item: Int64 = 1
        while state.take(.reachedEnd) != [] {
            let hits = (1...60).map { Sample.hit(item + $0) }
            item += 60
            _ = state.take(.foundMore(search: 1, Sample.found(hits, next: Sample.cursor(item))))
            guard item < 2000 else { break }
        }
        #expect(state.results.rows.count == 1000)
    }

    @Test("A corrected search is named, and the text as typed can be searched for")
    func correction() {
        var state = WindowState()
        _ = state.take(.typed("notse"))
        var found = FoundItems.nothing
        found.hits = hits
        found.correction = SearchCorrection(text: "notes", ranges: [0..<5])
        let effects = state.take(.found(search: 1, .value(found)))
        #expect(state.correction == "notes")
        // The preview highlights the words that were searched for.
        #expect(effects == [.preview(number: 1, item: 1, text: "notes")])
        #expect(
            state.take(.wantedAsTyped) == [
                .search(number: 2, text: "notse", correctsSpelling: false), .suggest(number: 2, text: "notse"),
            ])
    }

    @Test("A second start of the program with a text searches for it")
    func appearing() {
        var state = WindowState()
        #expect(state.take(.appeared(text: nil)) == [.focusField, .listApps])
        #expect(
            state.take(.appeared(text: "tea")) == [
                .setField("tea"), .search(number: 1, text: "tea", correctsSpelling: true),
                .suggest(number: 1, text: "tea"), .focusField,
            ])
        #expect(state.take(.appeared(text: nil)) == [.focusField])
    }

    @Test("A failed drop is reported with its reason, and a drag in progress is shown until its end")
    func drops() {
        var state = WindowState()
        _ = state.take(.dropping(title: "Report", percentage: nil))
        #expect(state.dragStatus == "Preparing “Report”…")
        _ = state.take(.dropping(title: "Report", percentage: 40))
        #expect(state.dragStatus == "Preparing “Report” · 40 %")
        let effects = state.take(.dropped(title: "Report", .problem("The app denied it.")))
        #expect(effects == [.notify("“Report” was not dropped: The app denied it.")] && state.dragStatus == nil)
    }

    @Test(
        "Random events keep the selection valid, and never open a row of another text",
        arguments: 0..<40 as Range<UInt64>)
    func randomEvents(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var state = WindowState()
        // The text of each answered search, keyed by the item that only this search finds.
        var texts: [Int64: String] = [:]
        var pending: [(number: UInt64, text: String)] = []
        var pages: [(number: UInt64, text: String)] = []
        for step in 0..<400 {
            var effects: [WindowEffect] = []
            switch random.below(12) {
            case 0...2: effects = state.take(.typed(random.pick(["", "a", "ab", "abc", "b"])))
            case 3...5:
                guard let search = pending.indices.randomElement(using: &random) else { continue }
                let (number, text) = pending.remove(at: search)
                let items = (0..<random.below(4)).map { Int64(step * 10 + $0 + 1) }
                for item in items { texts[item] = text }
                let next = random.below(2) == 0 ? Sample.cursor(Int64(step)) : nil
                effects = state.take(.found(search: number, Sample.found(items.map { Sample.hit($0) }, next: next)))
            case 7: effects = state.take(.reachedEnd)
            case 8:
                guard let (number, text) = pages.randomElement(using: &random) else { continue }
                texts[Int64(step * 10 + 1)] = text
                effects = state.take(.foundMore(search: number, Sample.found([Sample.hit(Int64(step * 10 + 1))])))
            case 6:
                effects = state.take(
                    .suggested(search: state.search, [Suggestion(.completion, random.pick(["a", "abc"]), total: nil)]))
            default:
                let codes: [WindowKey.Code] = [
                    .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .enter, .escape, .space, .tab,
                ]
                effects = state.press(WindowKey(random.pick(codes), isControl: random.below(6) == 0)) ?? []
            }
            for effect in effects {
                switch effect {
                case .search(let number, let text, _): pending.append((number, text))
                case .findMore(let number, let text, _, _): pages.append((number, text))
                case .open(let item, let text): #expect(texts[item] == text)
                default: break
                }
            }
            switch state.selection {
            case .none: break
            case .row(let index): #expect(state.results.rows.indices.contains(index))
            case .suggestion(let index): #expect(state.suggestions.indices.contains(index))
            }
            if state.page == .results { #expect(!state.results.rows.isEmpty) }
        }
    }
}
