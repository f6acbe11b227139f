// SPDX-License-Identifier: Apache-2.0
import BusTransport
import TestSupport
import Testing
import UserSearch

@testable import DesktopSearch

@Suite("Results for the desktop")
struct DesktopResultTests {
    private func result(
        _ item: Int64 = 1, title: String = "Title", app: String = "Notes", detail: String? = nil, fit: Fit = .text,
        contentType: String? = nil, isFile: Bool = false
    ) -> DesktopResult {
        DesktopResult(
            item: item, title: title, app: app, detail: detail, contentType: contentType, fit: fit, isFile: isFile)
    }

    @Test("An identifier that comes back counts only in exactly the form that was given")
    func identifiers() {
        for item in [1, 12, Int64.max] {
            let identifier = ResultIdentifier(item: item)
            #expect(ResultIdentifier(identifier.text) == identifier)
        }
        let odd = [
            "", "item:", "item:0", "item:-1", "item:+1", "item:01", "item: 1", "item:1 ", "item:1\0", "Item:1", "1",
            "item:9223372036854775808", "item:١", "item:1e3", String(repeating: "item:1", count: 100_000),
        ]
        for text in odd { #expect(ResultIdentifier(text) == nil, "\(text.prefix(40).debugDescription)") }
    }

    @Test("Random identifiers never crash, and read back to themselves if they are read at all")
    func randomIdentifiers() {
        var random = SplitMix64(seed: 31)
        for _ in 0..<5000 {
            let text = (random.below(2) == 0 ? "item:" : "") + random.text(length: random.below(24))
            if let identifier = ResultIdentifier(text) { #expect(identifier.text == text) }
        }
    }

    @Test("Texts of an app become one bounded line of plain text, and a title is never empty")
    func texts() {
        let odd = result(
            title: "a\n\u{202E}b\u{7} <b>&amp; \u{0}", app: String(repeating: "x", count: 10_000),
            detail: "one\r\ntwo\u{2028}three")
        // Markup is kept as it is, because the desktops escape it.
        #expect(odd.title == "a b <b>&amp;")
        #expect(odd.detail == "one two three")
        #expect(odd.app.count < 100)
        #expect(result(title: "\u{202E} \n").title == "Untitled")
        #expect(result(title: String(repeating: "é", count: 1_000_000)).title.count < 200)
    }

    @Test(
        "A row without a passage, or with the title as its passage, has the kind and the place of the item",
        arguments: [
            (nil, "PDF document", "/a/plan.pdf", "PDF document · /a/plan.pdf"),
            ("", "PDF document", nil, "PDF document"), ("Title", nil, "/a/plan.pdf", "/a/plan.pdf"),
            (" Title\n", nil, "\n/a\n", "/a"), ("Title", nil, nil, ""), ("Title", "", "", ""),
            ("Title and more", "PDF document", "/a", "Title and more"),
        ] as [(String?, String?, String?, String)])
    func details(passage: String?, kind: String?, place: String?, expected: String) {
        let result = DesktopResult(
            item: 1, title: "Title", app: "Notes", detail: passage, kind: kind, place: place, contentType: nil)
        #expect(result.detail == expected)
    }

    @Test(
        "The icon is a name of the theme, and ends with one that every theme has",
        arguments: [
            ("public.png", ["image-png", "image-x-generic"]), ("public.jpeg", ["image-jpeg", "image-x-generic"]),
            ("com.adobe.pdf", ["application-pdf", "x-office-document"]), ("public.html", ["text-html"]),
            ("public.email-message", ["message-rfc822", "mail-read"]),
            ("public.plain-text", ["text-plain", "text-x-generic"]), ("public.folder", ["folder"]),
        ])
    func icons(type: String, names: [String]) {
        let icon = ResultIcon(contentType: type)
        #expect(icon.names.last == names.last)
        // The machine's MIME database may name another MIME type first.
        #expect(icon.names.count <= 2 && icon.generic == names.last)
    }

    @Test("Hostile types have an icon, never a path", arguments: ["", "../../x", "/etc/passwd", "a b", "dyn.x", "\0"])
    func hostileIcons(type: String) {
        let icon = ResultIcon(contentType: type)
        #expect(!icon.names.isEmpty && icon.names.allSatisfy { !$0.isEmpty && !$0.contains("/") })
    }

    @Test("GNOME gets the keys that it requires, an icon in its serialized form, and nothing for the clipboard")
    func metas() throws {
        let values = ShellMeta.values(of: result(title: "T\u{FFFE}", detail: "found here", contentType: "public.png"))
        #expect(Set(values.keys) == ["id", "name", "description", "icon"])
        guard case .string("item:1")? = values["id"], case .string("T\u{FFFD}")? = values["name"],
            case .string("Notes · found here")? = values["description"],
            case .structure(let themed)? = values["icon"], case .string("themed")? = themed.first,
            case .variant(.strings(let names))? = themed.last
        else {
            Issue.record("\(values)")
            return
        }
        #expect(names.last == "image-x-generic" && values["icon"]?.signature == "(sv)")
        guard case .structure(let drawn)? = ShellMeta.values(of: result(), picture: [1, 2])["icon"],
            case .string("bytes")? = drawn.first, case .variant(.bytes([1, 2]))? = drawn.last
        else {
            Issue.record("no picture")
            return
        }
        guard case .string(let name)? = ShellMeta.gone(ResultIdentifier(item: 3))["name"] else {
            Issue.record("no name")
            return
        }
        #expect(!name.isEmpty)
    }

    @Test("The matches for KRunner keep the order of the search, whatever kinds of match follow each other")
    func matches() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<300 {
            let results = (1...20).map { result($0, fit: Fit.allCases[random.below(Fit.allCases.count)]) }
            guard case .structures("sssida{sv}", let matches) = RunnerMatch.matches(results) else {
                Issue.record("no matches")
                return
            }
            let order = matches.map { match -> (Int32, Double) in
                guard case .signed32(let kind) = match[3], case .double(let relevance) = match[4] else {
                    return (-1, -1)
                }
                return (kind, relevance)
            }
            #expect(order.allSatisfy { [10, 30, 100].contains($0.0) && (0...1).contains($0.1) })
            #expect(zip(order, order.dropFirst()).allSatisfy { $0.0 >= $1.0 && $0.1 > $1.1 })
        }
    }

    @Test("A match names its actions, since KRunner would offer all of them otherwise")
    func actions() {
        func actions(_ result: DesktopResult) -> [String] {
            guard case .structures(_, let matches) = RunnerMatch.matches([result]),
                case .dictionary(let properties)? = matches.first?.last,
                case .strings(let names)? = properties["actions"]
            else { return ["?"] }
            return names
        }
        #expect(actions(result()) == ["copy"])
        #expect(actions(result(isFile: true)) == ["copy", "show-in-folder"])
        guard case .structures("sss", let all) = RunnerMatch.actions else {
            Issue.record("no actions")
            return
        }
        #expect(all.count == ResultAction.allCases.count)
    }
}
