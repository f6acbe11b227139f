// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of the page in a browser, with the command and a real extension.
/// `Scripts/pictures --states FOLDER` runs them to save screenshots.
@Suite(
    "Quick Look in a browser",
    .enabled(if: Browser.program != nil, "Chromium is not installed (apt-get install chromium)"), .serialized,
    .timeLimit(.minutes(10)))
struct QuickLookBrowserTests {
    /// The folder for screenshots.
    private static let pictures = ProcessInfo.processInfo.environment["SEARCHLIGHT_SCREENSHOTS"]

    private func picture(_ browser: Browser, _ name: String) throws {
        guard let folder = Self.pictures else { return }
        // Recent changes are drawn, even in the frame.
        _ = try browser.evaluate("new Promise((done) => setTimeout(done, 700))")
        try browser.screenshot().write(to: URL(filePath: "\(folder)/\(name).png"))
    }

    @Test("Searching, choosing, viewing, dragging and the keys, light and dark, wide and narrow")
    func page() throws {
        let place = try QuickLookPlace()
        let address = try place.start("ferry")
        let browser = try Browser()
        try browser.resize(width: 1180, height: 760)
        try browser.setScheme("light")
        try browser.open(address)
        try browser.wait(for: "document.querySelector('#stage iframe')?.src.includes('v=')")
        #expect(try browser.evaluate("document.querySelectorAll('#results li').length") as? Int ?? 0 >= 5)
        #expect(try browser.evaluate("document.querySelectorAll('[aria-selected=true]').length") as? Int == 1)
        #expect(try browser.evaluate("document.activeElement.id") as? String == "query")
        #expect(
            try browser.evaluate("document.querySelector('#stage iframe').getAttribute('sandbox')") as? String
                == "allow-popups allow-popups-to-escape-sandbox")
        try picture(browser, "wide-light")
        try browser.setScheme("dark")
        try picture(browser, "wide-dark")
        // No part of an item became an element, and nothing was loaded from another origin.
        #expect(
            try browser.evaluate("document.querySelectorAll('main script').length + (window.hacked ?? 0)") as? Int == 0)
        #expect(
            try browser.evaluate(
                "performance.getEntriesByType('resource').every((one) => one.name.startsWith(location.origin + '/'))")
                as? Bool == true)

        // The Down key selects the next hit, and the preview follows.
        let first = try browser.evaluate("document.getElementById('title').textContent") as? String
        try browser.press("ArrowDown", code: 40)
        #expect(try browser.evaluate("query.getAttribute('aria-activedescendant')") as? String == "hit-1")
        try browser.wait(for: "!stage.classList.contains('stale')")
        #expect(try browser.evaluate("document.getElementById('title').textContent") as? String != first)
        try browser.press("ArrowUp", code: 38)
        #expect(try browser.evaluate("query.getAttribute('aria-activedescendant')") as? String == "hit-0")

        // The data of a drag before any content is created.
        let carried =
            try browser.evaluate(
                """
                (() => { const data = new DataTransfer(); const event = new DragEvent("dragstart", { dataTransfer: data });
                document.getElementById("hit-0").dispatchEvent(event);
                document.getElementById("hit-0").dispatchEvent(new DragEvent("dragend")); return data.getData("DownloadURL"); })()
                """) as? String
        #expect(
            carried?.wholeMatch(
                of: /text\/html:[^:]+\.html:http:\/\/127\.0\.0\.1:\d+\/[a-z2-7]+\/promise\/\d+\?type=.*/) != nil)
        let fetched =
            try browser.evaluate(
                """
                fetch(document.querySelector('#offers a').href).then(async (reply) => reply.status + " "
                  + reply.headers.get("content-disposition") + " " + (await reply.text()).includes("<h1"))
                """) as? String
        #expect(fetched?.hasPrefix("200 attachment; filename=") == true && fetched?.hasSuffix(" true") == true)

        try browser.wait(for: "document.querySelector('#offers summary') !== null")
        _ = try browser.evaluate("document.querySelector('#offers summary').click()")
        try picture(browser, "menu-dark")
        try browser.press("Escape", code: 27)
        #expect(try browser.evaluate("document.querySelector('#offers details').open") as? Bool == false)

        // Typing starts a new search. An empty result shows a message. Escape empties the field.
        _ = try browser.evaluate("query.value = 'harbour'; query.dispatchEvent(new Event('input'))")
        try browser.wait(for: "document.querySelector('#title').textContent.includes('Harbour')")
        try browser.wait(for: "!document.getElementById('note').hidden")
        #expect(
            try browser.evaluate("document.querySelector('#note summary').textContent") as? String
                == "Removed from this preview: 1 remote load")
        try browser.setScheme("light")
        try picture(browser, "note-light")
        _ = try browser.evaluate("query.value = 'zeppelin'; query.dispatchEvent(new Event('input'))")
        try browser.wait(for: "document.querySelector('#nothing h2').textContent === 'No Results'")
        try picture(browser, "nothing-light")
        try browser.press("Escape", code: 27)
        try browser.wait(for: "document.querySelector('#nothing h2').textContent === 'Search Everything'")
        #expect(try browser.evaluate("query.value") as? String == "")
        try browser.setScheme("dark")
        try picture(browser, "empty-dark")

        // In a narrow window: the list, then the preview in its place, and back.
        try browser.resize(width: 400, height: 780)
        _ = try browser.evaluate("query.blur()")
        try browser.press("/", code: 191, text: "/")
        #expect(try browser.evaluate("document.activeElement.id + query.value") as? String == "query")
        _ = try browser.evaluate("query.value = 'ferry'; query.dispatchEvent(new Event('input'))")
        try browser.wait(for: "hits.length > 0 && document.querySelector('#stage iframe')")
        try picture(browser, "narrow-dark")
        try browser.press("Enter", code: 13, text: "\r")
        #expect(try browser.evaluate("getComputedStyle(document.querySelector('.list')).display") as? String == "none")
        try browser.setScheme("light")
        try picture(browser, "narrow-preview-light")
        try browser.press("Escape", code: 27)
        #expect(
            try browser.evaluate("getComputedStyle(document.querySelector('.preview')).display") as? String == "none")
        try picture(browser, "narrow-light")
        #expect(place.stop() == .exited(0))
    }

    @Test(
        "The number of hits is shown, and buttons or keys narrow them by app and kind, until they are pressed again"
    )
    func filters() throws {
        let place = try QuickLookPlace()
        let lines = (0..<8).map {
            #"{"uniqueIdentifier": "\#($0)", "attributes": {"title": "Ferry ticket \#($0)", "contentType": "\#($0 < 3 ? "com.adobe.pdf" : "public.plain-text")"}}"#
        }
        try place.donate(lines, bundle: "org.example.tickets")
        let browser = try Browser()
        try browser.resize(width: 1180, height: 760)
        try browser.open(try place.start("ferry"))
        try browser.wait(for: "hits.length > 0")
        let count = "document.getElementById('count').textContent"
        let all = try #require(try browser.evaluate(count) as? String)
        #expect(all.wholeMatch(of: /\d+ found/) != nil && all != "8 found")
        func chip(_ label: String) -> String { "document.querySelector('.chip[aria-label=\"\(label)\"]')" }
        #expect(try browser.evaluate("\(chip("App tickets")).getAttribute('aria-pressed')") as? String == "false")
        // The first filter is the next element after the search field.
        try browser.press("Tab", code: 9)
        #expect(try browser.evaluate("document.activeElement.className") as? String == "chip")
        _ = try browser.evaluate("\(chip("App tickets")).focus()")
        try browser.press(" ", code: 32, text: " ")
        try browser.wait(for: "\(count) === '8 found'")
        #expect(try browser.evaluate("hits.every((hit) => hit.app === 'org.example.tickets')") as? Bool == true)
        #expect(try browser.evaluate("document.activeElement === \(chip("App tickets"))") as? Bool == true)
        #expect(try browser.evaluate("\(chip("App tickets")).getAttribute('aria-pressed')") as? String == "true")
        _ = try browser.evaluate("\(chip("Kind PDF document")).click()")
        try browser.wait(for: "\(count) === '3 found'")
        try picture(browser, "filters-light")
        // Other words keep the filters, so the filters are shown as active.
        _ = try browser.evaluate("query.value = 'zeppelin'; query.dispatchEvent(new Event('input'))")
        try browser.wait(for: "document.querySelector('#nothing p').textContent.endsWith('with these filters.')")
        // Inactive filters come from the hits of another text.
        let labels = "[...document.querySelectorAll('.chip')].map((one) => one.getAttribute('aria-label')).join()"
        #expect(try browser.evaluate(labels) as? String == "App tickets,Kind PDF document")
        _ = try browser.evaluate("query.value = 'ferry'; query.dispatchEvent(new Event('input'))")
        try browser.wait(for: "\(count) === '3 found'")
        _ = try browser.evaluate("\(chip("Kind PDF document")).click()")
        try browser.wait(for: "\(count) === '8 found'")
        _ = try browser.evaluate("\(chip("App tickets")).click()")
        try browser.wait(for: "\(count) === '\(all)'")
        // Escape clears the field and the filters.
        _ = try browser.evaluate("\(chip("App tickets")).click()")
        try browser.wait(for: "\(count) === '8 found'")
        _ = try browser.evaluate("query.focus(); dismiss()")
        try browser.press("Escape", code: 27)
        #expect(try browser.evaluate("filters.app") as? String == nil)
        #expect(try browser.evaluate("document.getElementById('summary').hidden") as? Bool == true)
        #expect(place.stop() == .exited(0))
    }

    @Test("Suggestions: arrows move, Tab completes, Escape closes, Enter accepts; a misspelled word is corrected")
    func suggestions() throws {
        let place = try QuickLookPlace()
        let address = try place.start()
        let browser = try Browser()
        try browser.resize(width: 1180, height: 760)
        try browser.setScheme("light")
        try browser.open(address)
        func type(_ text: String) throws {
            _ = try browser.evaluate(
                "query.focus(); query.value = '\(text)'; query.dispatchEvent(new Event('input'))")
        }
        func value() throws -> String? { try browser.evaluate("query.value") as? String }
        let isOpen = "!document.getElementById('suggestions').hidden && suggestions.length > 0"
        let active = "query.getAttribute('aria-activedescendant')"
        try type("ferr")
        try browser.wait(for: isOpen + " && hits.length > 0")
        #expect(try browser.evaluate("query.getAttribute('aria-controls')") as? String == "suggestions")
        #expect(try browser.evaluate("query.getAttribute('aria-expanded')") as? String == "true")
        let options = "document.querySelectorAll('#suggestions[role=listbox] > [role=option]').length"
        #expect(try browser.evaluate(options + " === suggestions.length") as? Bool == true)
        #expect(try browser.evaluate("suggestions[0].text.toLowerCase()") as? String == "ferry")
        try browser.press("ArrowDown", code: 40)
        #expect(try browser.evaluate(active) as? String == "suggestion-0")
        try picture(browser, "suggestions-light")
        try browser.setScheme("dark")
        try picture(browser, "suggestions-dark")
        try browser.press("ArrowUp", code: 38)
        #expect(try browser.evaluate(active) as? String == nil)
        try browser.press("Tab", code: 9)
        #expect(try value()?.lowercased() == "ferry ")
        #expect(try browser.evaluate("document.activeElement.id") as? String == "query")

        try type("ferr")
        try browser.wait(for: isOpen)
        try browser.press("Escape", code: 27)
        #expect(try browser.evaluate("document.getElementById('suggestions').hidden") as? Bool == true)
        #expect(try value() == "ferr")
        try browser.wait(for: "hits.length > 0 && query.getAttribute('aria-activedescendant') === 'hit-0'")

        try type("ki")
        try browser.wait(for: "suggestions.some((one) => one.text === 'kind:')")
        _ = try browser.evaluate("pick(suggestions.findIndex((one) => one.text === 'kind:'))")
        try browser.press("Enter", code: 13, text: "\r")
        #expect(try value() == "kind:")

        try type("lighthuose")
        try browser.wait(for: "!document.getElementById('correction').hidden")
        let shown = "document.querySelector('#correction b').textContent"
        #expect(try browser.evaluate(shown) as? String == "lighthouse")
        try browser.wait(for: "document.querySelector('#stage iframe')")
        _ = try browser.evaluate("dismiss()")
        try picture(browser, "correction-dark")
        _ = try browser.evaluate("document.querySelector('#correction button').click()")
        try browser.wait(for: "document.getElementById('correction').hidden && hits.length === 0")
        #expect(try browser.evaluate("document.getElementById('nothing').hidden") as? Bool == false)
        #expect(try value() == "lighthuose")
        #expect(place.stop() == .exited(0))
    }

    @Test("The file opens the page in one browser, without the code in its history; in a second it is worthless")
    func second() throws {
        let place = try QuickLookPlace()
        let address = try place.start("ferry")
        let path = URL(string: address)?.path ?? ""
        let form = try HandOverForm(path)
        // As when another browser reads the file before the first one uses it.
        let copy = path + "-copy.html"
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        defer { unlink(copy) }
        let first = try Browser()
        try first.open(address)
        let entries = try first.call("Page.getNavigationHistory")["entries"] as? [[String: Any]] ?? []
        let history = entries.compactMap { $0["url"] as? String }
        #expect(!history.isEmpty && !history.contains { $0.contains(form.code) }, "\(history)")
        #expect(try first.evaluate("document.referrer") as? String == "")
        #expect(access(path, F_OK) != 0, "the file is gone once it was used")
        let other = try Browser()
        try other.call("Page.navigate", ["url": URL(filePath: copy).absoluteString])
        let text = "(document.body?.textContent ?? '')"
        while (try other.evaluate(text, mayLeave: true) as? String)?.contains("can be opened once") != true {}
        #expect(try first.evaluate("document.getElementById('results') !== null") as? Bool == true)
        #expect(place.stop() == .exited(0))
    }

    @Test("If a browser cannot read the file, a user enters the code")
    func code() throws {
        let place = try QuickLookPlace()
        let form = try HandOverForm(URL(string: try place.start("ferry"))?.path ?? "")
        let browser = try Browser()
        try browser.call("Page.navigate", ["url": form.address])
        while try browser.evaluate("document.forms.length", mayLeave: true) as? Int != 1 {}
        _ = try browser.evaluate(
            "document.forms[0].code.value = '\(form.code)'; document.forms[0].submit()", mayLeave: true)
        let isThere = "document.getElementById('results') !== null && document.readyState === 'complete'"
        while try browser.evaluate(isThere, mayLeave: true) as? Bool != true {}
        #expect(place.stop() == .exited(0))
    }
}
