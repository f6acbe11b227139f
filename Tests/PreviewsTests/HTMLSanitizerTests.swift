// SPDX-License-Identifier: Apache-2.0
import Foundation
import Previews
import TestSupport
import Testing

@Suite("Sanitized HTML of an extension")
struct HTMLSanitizerTests {
    private func page(
        _ html: String, _ attachments: [PreviewAttachment] = [], query: String? = nil
    ) throws -> (body: String, whole: String, removals: [Removal]) {
        let page = try HTMLSanitizer(attachments: attachments, highlighter: query.map { Highlighter(query: $0) })
            .page(Array(html.utf8)[...])
        let whole = String(decoding: page.html, as: UTF8.self)
        let start = try #require(whole.range(of: "<body"))
        return (String(whole[start.lowerBound...].dropFirst(5).dropLast("</body></html>".count)), whole, page.removals)
    }

    private func counts(_ removals: [Removal]) -> [Removal.Kind: Int] {
        Dictionary(uniqueKeysWithValues: removals.map { ($0.kind, $0.count) })
    }

    @Test(
        "Allowed markup stays unchanged",
        arguments: [
            "<h1>A</h1><p>b <b>c</b> &amp; <i>d</i><br>e</p>", "<ul><li>a</li><li>b</li></ul>",
            "&hearts; &eacute; ö 日本 😀",
            "<table border=\"1\"><tbody><tr><td colspan=\"2\">x</td></tr></tbody></table>",
            "<p lang=\"de\" dir=\"auto\">x</p>",
            "<a href=\"https://a.example/?x=1&amp;y=2\" rel=\"noopener noreferrer\">x</a>", "<pre>\n a\n  b</pre>",
            "<a href=\"mailto:a@b.example\" rel=\"noopener noreferrer\">x</a>", "<h2 id=\"x\" class=\"y\">z</h2>",
            "<p style=\"color:red;margin:0 1em\">x</p>", "<details open=\"\"><summary>a</summary>b</details>", "",
            "<style>p{color:red}@media (prefers-color-scheme: dark){p{color:#fff}}</style>",
            "a < b".replacing("<", with: "&lt;"),
        ])
    func kept(html: String) throws {
        let page = try page(html)
        #expect(page.body == ">" + html)
        #expect(page.removals.isEmpty)
    }

    @Test("A whole document keeps its title, its body's style and its colour scheme, and loses its own head")
    func document() throws {
        let page = try page(
            """
            <!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport content="width=device-width">
            <meta name="color-scheme" content="light dark"><title>A &lt;b> title</title></head>\
            <body class=dark style='color: red'><p>x</body></html>
            """)
        #expect(page.whole.hasPrefix("<!DOCTYPE html><html lang=\"en\"><head>" + ContentPolicy.metaElement))
        #expect(
            page.whole.contains(
                "<meta name=\"color-scheme\" content=\"light dark\"><title>A &lt;b&gt; title</title></head>"))
        #expect(page.body.hasPrefix(" class=\"dark\" style=\"color:red\">") && page.body.hasSuffix("<p>x</p>"))
        #expect(page.removals.isEmpty)
    }

    @Test(
        "A checkbox, as in a list of tasks, is shown disabled",
        arguments: [
            ("<ul><li><input type=\"checkbox\" disabled=\"\" /> a</li></ul>", "<ul><li>☐ a</li></ul>"),
            ("<p><INPUT TYPE=CheckBox checked> b</p>", "<p>☑ b</p>"),
        ])
    func checkbox(html: String, expected: String) throws {
        let page = try page(html)
        #expect(page.body == ">" + expected)
        #expect(page.removals.isEmpty)
    }

    @Test(
        "Other fields, and invisible checkboxes, are removed",
        arguments: [
            "<input>", "<input type=radio checked>", "<input type=checkbox hidden>", "<input type=image src=x>",
        ])
    func otherField(html: String) throws {
        let page = try page("<p>a" + html + "b</p>")
        #expect(page.body == "><p>ab</p>")
        #expect(counts(page.removals) == [.form: 1])
    }

    @Test("Removed content is counted by kind, with the first of each")
    func counted() throws {
        let page = try page(
            """
            <script>alert(1)</script><script src=https://e.example/x.js></script><img src=https://e.example/p.png onerror=a()>
            <img src=file:///etc/passwd><img src=/etc/passwd><a href=javascript:x>x</a><iframe src=//f></iframe><form><input></form>
            <embed src=e><svg><path/></svg><video src=v></video><meta http-equiv=refresh content="0;url=https://e.example/">
            <base href=https://b.example><p style="color:red;background:url(x)">x</p><blink data-x=1>y</blink><img src=cid:none>
            """)
        #expect(
            counts(page.removals) == [
                .script: 2, .remoteLoad: 1, .eventHandler: 1, .fileReference: 2, .link: 1, .frame: 1, .form: 2,
                .plugin: 1,
                .drawing: 1, .media: 1, .redirect: 1, .base: 1, .style: 1, .element: 1, .missingAttachment: 1,
            ])
        func example(_ kind: Removal.Kind) -> String? { page.removals.first { $0.kind == kind }?.example }
        #expect(example(.remoteLoad) == "https://e.example/p.png")
        #expect(example(.fileReference) == "file:///etc/passwd")
        #expect(example(.redirect) == "0;url=https://e.example/")
        #expect(example(.missingAttachment) == "cid:none")
        let two = [
            Removal(kind: .script, count: 2, example: ""), Removal(kind: .remoteLoad, count: 1, example: ""),
        ]
        #expect(Removal.summary(of: two) == "2 scripts, 1 remote load")
        #expect(Removal.summary(of: []) == nil)
    }

    @Test(
        "A link relative to the original is reported as relative, not as unsafe",
        arguments: [
            ("other.md", Removal.Kind.relativeLink), ("../up/a%20b.html#x", .relativeLink), ("?page=2", .relativeLink),
            ("a/b:c", .relativeLink), ("/etc/passwd", .fileReference), ("file:///x", .fileReference),
            ("//host.example/x", .link), ("javascript:x", .link), ("JaVa\nscript:x", .link), ("x-app:open", .link),
            ("\\\\host\\x", .link), ("\u{1}javascript:x", .link),
        ])
    func relativeLinks(address: String, kind: Removal.Kind) throws {
        let page = try page("<a href=\"\(address)\">x</a>")
        #expect(counts(page.removals) == [kind: 1])
        #expect(page.body == "><a>x</a>", "\(page.body)")
        if kind == .relativeLink { #expect(Removal.summary(of: page.removals) == "1 relative link") }
    }

    @Test("Text around and within removed elements stays if it is text, and goes if it is code")
    func content() throws {
        #expect(try page("a<script>b</script>c<style>d</style>e").body == ">ace")
        #expect(try page("<form>a<button>b</button></form><blink>c</blink><noscript>d</noscript>").body == ">abcd")
        #expect(try page("<svg><text>a</text></svg>b<svg/>c<svg><p>d").body == ">bc<p>d</p>")
        #expect(try page("<select><option>a</select>b<template>c</template>d").body == ">bd")
        #expect(try page("<!-- a -->b<!c>d<?e?>f<![CDATA[g]]>h").body == ">bdfh")
    }

    @Test("Unclosed tags are closed where browsers close them")
    func balanced() throws {
        #expect(try page("<p>a<p>b<div>c").body == "><p>a</p><p>b</p><div>c</div>")
        #expect(
            try page("<ul><li>a<li>b<ul><li>c</ul><li>d").body
                == "><ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>")
        #expect(try page("<dl><dt>a<dd>b<dt>c").body == "><dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>")
        #expect(
            try page("<table><tr><td>a<td>b<tr><td>c</table>d").body
                == "><table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>d")
        #expect(try page("<b>a<i>b</b>c</i></u>").body == "><b>a<i>b</i></b>c")
        #expect(try page("<div><table><tr><td></div>x").body == "><div><table><tr><td>x</td></tr></table></div>")
    }

    // MARK: Pictures

    @Test("An attached picture is embedded under either of its names, with the type of its bytes")
    func attachments() throws {
        let png = Pictures.png(width: 3, height: 2)
        let picture = PreviewAttachment(identifier: "a.b-1", contentType: "public.jpeg", bytes: png[...])
        let address = "<img src=\"data:image/png;base64,\(Data(png).base64EncodedString())\">"
        let page = try page("<img src=cid:a.b-1><img src='CID:a.b-1'><img src=a.b-1><img src=cid:a.b-12>", [picture])
        #expect(page.body == ">" + address + address + address + "<img>")
        #expect(
            page.removals == [
                Removal(kind: .missingAttachment, count: 1, example: "cid:a.b-12"),
                Removal(kind: .mistypedAttachment, count: 1, example: "a.b-1"),
            ])
    }

    @Test("A file that is no picture, or claims a hundred thousand pixels in a row, is not embedded, attached or saved")
    func bombs() throws {
        for (bytes, kind) in [
            (Pictures.png(width: 100_000, height: 100_000), Removal.Kind.hugePicture),
            (Pictures.png(width: 30_000, height: 30_000), .hugePicture), (Pictures.png(width: 0), .unusablePicture),
            (Array("<svg xmlns='http://www.w3.org/2000/svg' onload='x'/>".utf8), .unusablePicture),
            ([], .unusablePicture),
        ] {
            let attachment = PreviewAttachment(identifier: "x", contentType: "public.image", bytes: bytes[...])
            let attached = try page("<img src=cid:x alt=y>", [attachment])
            #expect(attached.body == "><img alt=\"y\">")
            #expect(attached.removals.map(\.kind) == [kind])
            let written = try page("<img src='data:image/png;base64,\(Data(bytes).base64EncodedString())'>")
            #expect(written.body == "><img>" && written.removals.map(\.kind) == [kind])
        }
    }

    // MARK: Marks

    @Test("Search words are marked, in text only, unless the page marks some itself")
    func marks() throws {
        #expect(
            try page("<p title=ferry>The <b>ferry</b> &amp; Ferries AT&T ferry</p>", query: "ferr").body
                == "><p title=\"ferry\">The <b><mark>ferr</mark>y</b> &amp; <mark>Ferr</mark>ies AT&amp;T <mark>ferr</mark>y</p>"
        )
        #expect(try page("<mark>a</mark> ferry", query: "ferry").body == "><mark>a</mark> ferry")
        #expect(
            try page("lt &lt; amp &amp;lt;", query: "lt amp").body
                == "><mark>lt</mark> &lt; <mark>amp</mark> &amp;<mark>lt</mark>;")
    }
}
