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

    @Test("The policy stands before all that an extension wrote")
    func place() throws {
        let page = try HTMLSanitizer().page(Array("<style>p{color:red}</style><title>t</title><p>x".utf8)[...])
        let html = String(decoding: page.html, as: UTF8.self)
        #expect(html.hasPrefix("<!DOCTYPE html><html><head>" + ContentPolicy.metaElement))
    }
}
