// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import Previews
import SearchlightEngine
import Testing

@testable import WindowModel

@Suite("The list of results")
struct ResultLinesTests {
    private func lines(_ hits: [FoundItem]) -> [String] {
        let lines = ResultLines(hits.map { ResultRow($0, Highlighter(query: nil)) })
        return lines.lines.map { line in
            switch line {
            case .heading(let text): text
            case .row(let index): "\(lines.rows[index].id)"
            }
        }
    }

    @Test("The best result stands alone, and the others are grouped by app in the order of their best results")
    func apps() {
        let hits = [
            Sample.hit(1, app: "Mail", bundle: "mail"), Sample.hit(2), Sample.hit(3, app: "Mail", bundle: "mail"),
            Sample.hit(4), Sample.hit(5, app: "Mail", bundle: "mail"),
        ]
        #expect(lines(hits) == ["Top Hit", "1", "Notes", "2", "4", "Mail", "3", "5"])
    }

    @Test("Results of one app are grouped by kind")
    func kinds() {
        let hits = [
            Sample.hit(1, kind: "PDF"), Sample.hit(2, kind: "Text"), Sample.hit(3, kind: nil),
            Sample.hit(4, kind: "Text"),
        ]
        #expect(lines(hits) == ["Top Hit", "1", "Text", "2", "4", "Other", "3"])
    }

    @Test("Another page follows the lines of the first, and may continue its last group")
    func pages() {
        func rows(_ hits: [FoundItem]) -> [ResultRow] { hits.map { ResultRow($0, Highlighter(query: nil)) } }
        func mail(_ number: Int64) -> FoundItem { Sample.hit(number, app: "Mail", bundle: "mail") }
        let first = ResultLines(rows([Sample.hit(1), Sample.hit(2), mail(3)]))
        let second = first.appending(rows([Sample.hit(4), mail(5), Sample.hit(6)]))
        #expect(second.lines.starts(with: first.lines) && second.rows.map(\.id) == [1, 2, 3, 4, 6, 5])
        #expect(
            second.lines.dropFirst(first.lines.count) == [
                .heading("Notes"), .row(3), .row(4), .heading("Mail"), .row(5),
            ])
        let third = second.appending(rows([mail(7)]))
        #expect(third.lines.dropFirst(second.lines.count) == [.row(6)] && third.pages == 3)

        // The kinds of one app are groups until another app follows.
        let kinds = ResultLines(rows([Sample.hit(1), Sample.hit(2)])).appending(
            rows([Sample.hit(3), Sample.hit(4, kind: "PDF")]))
        #expect(kinds.lines.suffix(3) == [.row(2), .heading("PDF"), .row(3)])
        #expect(kinds.appending(rows([mail(5)])).lines.suffix(2) == [.heading("Mail"), .row(4)])
    }

    @Test("Two apps with one name have two groups; a single result has the group of its app's kind")
    func names() {
        let hits = [Sample.hit(1), Sample.hit(2, bundle: "a"), Sample.hit(3, bundle: "b")]
        #expect(lines(hits) == ["Top Hit", "1", "Notes", "2", "Notes", "3"])
        #expect(lines([Sample.hit(1)]) == ["Text", "1"])
        #expect(lines([]) == [])
    }

    @Test("Texts of an app become one line without control characters, and markup is escaped")
    func texts() {
        let row = ResultRow(Sample.hit(1, title: "a\n\u{202E}b <i>&amp; note\u{7}"), Highlighter(query: "note"))
        #expect(row.plainTitle == "a b <i>&amp; note")
        #expect(Markup.text(row.title) == "a b &lt;i&gt;&amp;amp; <b>note</b>")
        #expect(ResultRow(Sample.hit(1, title: "\u{202E}"), Highlighter(query: nil)).plainTitle == "Untitled")
        #expect(
            ResultRow(Sample.hit(1, title: String(repeating: "x", count: 100_000)), Highlighter(query: nil))
                .plainTitle.count < 300)
    }

    @Test("The day of the last change is shown, and dates that no calendar has are not")
    func days() throws {
        let zone = try #require(TimeZone(identifier: "UTC"))
        func day(_ moment: Double, _ locale: String = "en_GB") -> String {
            let record = ItemRecord(uniqueIdentifier: "a", attributes: ["contentModificationDate": .date(moment)])
            let locale = Locale(identifier: locale)
            return ResultRow(Sample.hit(1, record: record), Highlighter(query: nil), zone: zone, locale: locale).day
        }
        #expect(day(0) == "1 Jan 2001" && day(0, "de_DE") == "1. Jan. 2001" && day(0, "en_US") == "Jan 1, 2001")
        for odd in [Double.nan, .infinity, 1e300] { #expect(day(odd) == "") }
    }

    @Test("The empty window names the installed apps and their items")
    func installed() {
        #expect(InstalledApps([]).title == "No Apps Yet")
        let apps = InstalledApps([
            .init(name: "Bookmarks", items: 1), .init(name: "Mail", items: 0), .init(name: "Notes", items: 3),
        ])
        #expect(apps.description == "Finds items of Notes (3 items), Bookmarks (1 item) and Mail.")
        let unindexed = InstalledApps([.init(name: "Mail", items: 0)])
        #expect(unindexed.title == "Nothing Is Indexed Yet" && unindexed.description.contains("Installed: Mail."))
        #expect(apps.hasItems && !unindexed.hasItems && !InstalledApps([]).hasItems)
        let many = InstalledApps((0..<20).map { .init(name: "App\($0)", items: 100 - $0) })
        #expect(many.description.hasSuffix("and 14 more."))
    }
}
