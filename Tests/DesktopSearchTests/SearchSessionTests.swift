// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import DesktopSearch

@Suite("Searches while the user types")
struct SearchSessionTests {
    private func identifiers(_ items: ClosedRange<Int64>) -> [ResultIdentifier] { items.map(ResultIdentifier.init) }

    private func answer(
        _ text: String, _ items: ClosedRange<Int64>, isComplete: Bool = true
    ) -> SearchSession.Answer {
        .init(text: text, identifiers: identifiers(items), isComplete: isComplete)
    }

    @Test("The terms of the shell become the typed text, within its bounds")
    func terms() {
        #expect(DesktopQuery.text(of: ["\"release", "notes\"", "kind:pdf"]) == "\"release notes\" kind:pdf")
        #expect(DesktopQuery.text(of: []) == "" && DesktopQuery.text(of: ["", ""]) == "")
        let long = String(repeating: "é", count: 1_000_000)
        for text in [
            DesktopQuery.text(of: long), DesktopQuery.text(of: [long, long]),
            DesktopQuery.text(of: Array(repeating: "ab", count: 100_000)),
            DesktopQuery.text(of: ["a" + String(repeating: "\u{301}", count: 10_000)]),
        ] {
            #expect(text.utf8.count <= DesktopQuery.maximumBytes)
        }
        // A character is either kept whole or left out.
        #expect(DesktopQuery.text(of: "x" + long).utf8.count == DesktopQuery.maximumBytes - 1)
    }

    @Test("A newer search replaces the one in progress, whose late answer does not count")
    func turns() {
        var session = SearchSession()
        let (first, none) = session.begin()
        #expect(none.isEmpty)
        let (second, replaced) = session.begin()
        #expect(replaced == [first])
        let isLateShown = session.finish(first, answer("o", 1...9))
        #expect(!isLateShown)
        #expect(session.answer == nil)
        let isNewestShown = session.finish(second, answer("on", 1...2))
        #expect(isNewestShown)
        #expect(session.answer?.text == "on")
        let replacedLater = session.begin().replaced
        #expect(replacedLater.isEmpty)
        // A failed search leaves nothing to replace.
        let (third, _) = session.begin()
        session.fail(third)
        let replacedAfterFailure = session.begin().replaced
        #expect(replacedAfterFailure.isEmpty)
    }

    @Test("A slow search for a text that was replaced by another text does not become the last answer")
    func replacedText() {
        var session = SearchSession()
        let (old, _) = session.begin(maximum: 12)
        let (new, _) = session.begin(maximum: 12)
        let isNewShown = session.finish(new, answer("pdf", 1...2))
        let isOldShown = session.finish(old, answer("t", 1...9))
        #expect(isNewShown && isOldShown && session.answer?.text == "pdf")
    }

    @Test("After the end of a series nothing is left, and a search that ends later does not count")
    func end() {
        var session = SearchSession()
        let (first, _) = session.begin()
        let isShown = session.finish(first, answer("one", 1...2))
        #expect(isShown)
        let (second, _) = session.begin()
        let running = session.end()
        #expect(running == [second])
        #expect(session.answer == nil)
        let isShownAfterEnd = session.finish(second, answer("ones", 1...2))
        #expect(!isShownAfterEnd)
        let runningAfterEnd = session.end()
        #expect(runningAfterEnd.isEmpty)
    }

    @Test("In any interleaving, only the newest search answers, and at most once")
    func interleavings() {
        var random = SplitMix64(seed: 12)
        for _ in 0..<500 {
            var session = SearchSession()
            var (open, newest) = ([UInt64](), UInt64(0))
            for _ in 0..<40 {
                if open.isEmpty || random.below(2) == 0 {
                    newest = session.begin().turn
                    open.append(newest)
                } else {
                    let turn = open.remove(at: random.below(open.count))
                    let isShown = session.finish(turn, answer("\(turn)", 1...1))
                    #expect(isShown == (turn == newest))
                }
            }
        }
    }

    @Test("Searches that may arrive in any order all answer, up to their number, and the longest text is the last one")
    func anyOrder() {
        var session = SearchSession()
        let (long, _) = session.begin(maximum: 3)
        let (short, _) = session.begin(maximum: 3)
        let (shortest, replaced) = session.begin(maximum: 3)
        #expect(replaced.isEmpty)
        for (turn, text) in [(short, "tul"), (long, "tulip"), (shortest, "tu")] {
            let isShown = session.finish(turn, answer(text, 1...1))
            #expect(isShown)
        }
        #expect(session.answer?.text == "tulip")
        // A search that starts after the answer is for a newer text, even if that is shorter.
        let (later, _) = session.begin(maximum: 3)
        let isLaterShown = session.finish(later, answer("tul", 1...1))
        #expect(isLaterShown && session.answer?.text == "tul")
        let turns = (1...4).map { _ in session.begin(maximum: 3) }
        #expect(turns.flatMap(\.replaced) == [turns[0].turn])
        let isReplacedShown = session.finish(turns[0].turn, answer("t", 1...1))
        #expect(!isReplacedShown)
        let running = session.end()
        #expect(running == turns.dropFirst().map(\.turn))
    }

    @Test("A text that continues the last one narrows its results, if those were all")
    func narrowing() {
        var session = SearchSession()
        func finish(_ answer: SearchSession.Answer) {
            let (turn, _) = session.begin()
            let isShown = session.finish(turn, answer)
            #expect(isShown)
        }
        finish(answer("qua", 1...5))
        let shown = identifiers(1...5).map(\.text)
        #expect(session.narrowed(identifiers(4...9), text: "quar", previous: shown) == identifiers(4...5))
        // Another interpretation of the text, such as a corrected word, has its own results.
        #expect(session.narrowed(identifiers(7...9), text: "quarz", previous: shown) == identifiers(7...9))
        // A text that does not continue the previous one, and results that this session never
        // returned.
        #expect(session.narrowed(identifiers(4...9), text: "other", previous: shown) == identifiers(4...9))
        #expect(session.narrowed(identifiers(4...9), text: "quar", previous: ["item:4"]) == identifiers(4...9))
        #expect(session.narrowed(identifiers(4...9), text: "quar", previous: []) == identifiers(4...9))
        // Only the best of many results were shown, so others may follow.
        finish(answer("qua", 1...5, isComplete: false))
        #expect(session.narrowed(identifiers(4...9), text: "quar", previous: shown) == identifiers(4...9))
    }
}
