// SPDX-License-Identifier: Apache-2.0
import Previews
import Testing

@Suite("The policy of an extension's HTML")
struct ContentPolicyTests {
    @Test("The policy allows no scripts and no loads")
    func directives() {
        #expect(ContentPolicy.metaElement.contains("default-src 'none'"))
        for forbidden in ["script-src", "connect-src", "http:", "https:", "*"] {
            #expect(!ContentPolicy.metaElement.contains(forbidden))
        }
    }

    @Test("The policy precedes the extension's content")
    func place() throws {
        let page = try HTMLSanitizer().page(Array("<style>p{color:red}</style><title>t</title><p>x".utf8)[...])
        let html = String(decoding: page.html, as: UTF8.self)
        #expect(html.hasPrefix("<!DOCTYPE html><html><head>" + ContentPolicy.metaElement))
    }

    @Test("The encoding is among the first 1,024 bytes, with any attributes of the root element")
    func encoding() throws {
        for length in [0, 100, 700, 880, 900, 920, 1100, 4000] {
            let title = String(repeating: "ä", count: length / 2)
            let page = try HTMLSanitizer().page(Array("<html id='\(title)' style='color:red'><p>x".utf8)[...])
            let start = String(decoding: page.html.prefix(1024), as: UTF8.self)
            #expect(start.contains("<meta charset=\"utf-8\">"), "\(length)")
            #expect(String(decoding: page.html, as: UTF8.self).contains("\(title)\" style=\"color:red\"><head>"))
            #expect(try HTMLSanitizer().page(page.html[...]).html == page.html)
        }
    }
}
