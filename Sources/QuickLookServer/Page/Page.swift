// SPDX-License-Identifier: Apache-2.0
import Previews

/// The files of the page. SwiftPM embeds `script.js` and `style.css`, so that the program needs no
/// resource files.
enum Page {
    static func document(query: String) -> PageReply {
        PageReply(
            type: "text/html; charset=utf-8", policy: .page,
            text: documentText.replacing("QUERY", with: HTMLText.escaped(query), maxReplacements: 1))
    }

    static let style = PageReply(
        type: "text/css; charset=utf-8", policy: .page,
        text: String(decoding: PackageResources.style_css, as: UTF8.self))
    static let script = PageReply(
        type: "text/javascript; charset=utf-8", policy: .page,
        text: String(decoding: PackageResources.script_js, as: UTF8.self))
    static let icon = PageReply(type: "image/svg+xml", policy: .data, text: iconText)

    /// Returns the reply to the first visit, with the cookie and a refresh to the page. Because of
    /// the refresh, the page itself requests the rest; browsers withhold a strict cookie when they
    /// follow a link from another program or page.
    static func welcome(to session: String, cookie: String) -> PageReply {
        var reply = PageReply(
            type: "text/html; charset=utf-8", policy: .page,
            text: """
                <!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark">\
                <meta http-equiv="refresh" content="0;url=/\(session)/"><title>Quick Look</title>

                """)
        reply.headers["Set-Cookie"] = cookie
        return reply
    }

    /// The form for the code, for browsers that did not open the file.
    static let invitation = PageReply(
        type: "text/html; charset=utf-8", policy: .invitation,
        text: """
            <!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark">\
            <title>Quick Look</title><form method="post" action="/" autocomplete="off">\
            <p><label>The code that “searchlight quicklook” showed: \
            <input name="code" size="34" maxlength="80" autocomplete="off" autocapitalize="off" spellcheck="false" autofocus>\
            </label> <button>Open</button></p></form>

            """)

    /// Returns the page that explains a rejection.
    static func refusal(_ status: Int, _ reason: String) -> PageReply {
        PageReply(
            status: status, type: "text/html; charset=utf-8", policy: .page,
            text: """
                <!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark">\
                <title>Quick Look</title><p>\(HTMLText.escaped(reason))</p>

                """)
    }

    private static let documentText = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Quick Look</title>
        <link rel="icon" href="icon.svg" type="image/svg+xml">
        <link rel="stylesheet" href="style.css">
        <script src="script.js" defer></script>
        </head>
        <body>
        <header class="bar">
          <button id="back" class="flat" type="button" aria-label="Back to the results"></button>
          <div class="field" role="search">
            <span id="lens" aria-hidden="true"></span>
            <input id="query" type="search" value="QUERY" placeholder="Search" aria-label="Search" role="combobox"
              aria-controls="results" aria-expanded="true" aria-autocomplete="list" autocomplete="off" autocapitalize="off"
              spellcheck="false" maxlength="500" autofocus>
            <kbd aria-hidden="true">/</kbd>
            <ul id="suggestions" role="listbox" aria-label="Suggestions" hidden></ul>
          </div>
        </header>
        <main>
          <section class="list" aria-label="Results">
            <p id="correction" hidden>Showing results for <b dir="auto"></b>
              <button type="button">Search as typed</button></p>
            <div id="summary" hidden><p id="count" role="status"></p><div id="filters" role="group" aria-label="Filters"></div></div>
            <ul id="results" role="listbox" aria-label="Results"></ul>
            <button id="more" type="button" hidden>Show more</button>
            <div id="nothing" class="empty"><span aria-hidden="true"></span><h2></h2><p></p></div>
          </section>
          <section class="preview" id="preview" aria-label="Preview" tabindex="-1">
            <div id="about" hidden>
              <div class="title"><h1 id="title" dir="auto"></h1><p id="facts"></p></div>
              <div id="offers"></div>
            </div>
            <details id="note" hidden><summary></summary><ul></ul></details>
            <div id="stage"></div>
            <div id="idle" class="empty"><span aria-hidden="true"></span><h2>Nothing Selected</h2>
              <p>Choose a result to preview it. Drag it out of the list to use it elsewhere.</p></div>
          </section>
        </main>
        </body>
        </html>

        """

    /// A lens on the blue background of GNOME's application icons.
    private static let iconText = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#3584e4"/>\
        <g fill="none" stroke="#fff" stroke-width="1.6" stroke-linecap="round"><circle cx="7" cy="7" r="3.2"/>\
        <path d="M9.4 9.4 12.2 12.2"/></g></svg>
        """
}
