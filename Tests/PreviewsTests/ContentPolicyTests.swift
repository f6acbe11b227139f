// SPDX-License-Identifier: Apache-2.0
import Previews
import TestSupport
import Testing

@Suite("The policy of an extension's HTML")
struct ContentPolicyTests {
    @Test(
        "After a plain doctype the policy comes first",
        arguments: ["<!doctype html>", "<!DOCTYPE HTML>", " \n\r\n\t<!DocType Html>"])
    func withDoctype(start: String) {
        let html = ContentPolicy.applied(to: start + "<script>x</script>")
        let own = start.drop(while: \.isWhitespace)
        #expect(html == own + ContentPolicy.metaElement + "<script>x</script>")
    }

    @Test(
        "Before anything else the policy comes first",
        arguments: [
            "", "<script>x</script>", "<html><head><script>x</script></head></html>", "text",
            "<!-- c --><!doctype html>",
            "<!doctype html SYSTEM \"about:legacy-compat\"><script>", "<!doctype\nhtml>", "<!doctype html >",
            "<!doctype htm",
            "\u{FEFF}<!doctype html>", "<!doctype html\u{301}>", "<!doctype html>\u{301}<script>",
            "\u{600}<!doctype html>",
            "<?xml version=\"1.0\"?><!doctype html>", "<!doctype html\0>", "\0<!doctype html>",
        ])
    func withoutDoctype(html: String) { #expect(ContentPolicy.applied(to: html) == ContentPolicy.metaElement + html) }

    @Test(
        "Whatever random text an extension gives, only a doctype stands before the policy",
        arguments: [81, 82] as [UInt64])
    func random(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let parts = ["<!doctype html>", "<!DOCTYPE", " html>", "\n", "<script>", random.text(length: 5)]
            let html = (0..<random.below(5)).map { _ in random.pick(parts) }.joined()
            let applied = Array(ContentPolicy.applied(to: html).utf8)
            let policy = Array(ContentPolicy.metaElement.utf8)
            let doctype = Array("<!doctype html>".utf8)
            if applied.starts(with: policy) {
                #expect(Array(applied.dropFirst(policy.count)) == Array(html.utf8))
            } else {
                let start = String(decoding: applied.prefix(doctype.count), as: UTF8.self)
                #expect(start.lowercased().utf8.elementsEqual(doctype))
                #expect(applied.dropFirst(doctype.count).starts(with: policy))
            }
        }
    }

    @Test(
        "An element of the extension's own that stands for a header is none any more, however it is written",
        arguments: [
            "<meta http-equiv=refresh content='0;url=https://example.com'>", "<META\nHTTP-Equiv = \"Refresh\">",
            "<meta/http-equiv=refresh>", "<!doctype html><meta http-EQUIV=refresh>", "<p http-equiv=http-equiv>",
        ])
    func refresh(html: String) {
        let applied = ContentPolicy.applied(to: html)
        let own = applied.replacing(ContentPolicy.metaElement, with: "")
        #expect(!own.lowercased().contains("http-equiv"))
        #expect(own.replacing("&#45;", with: "-") == html)
    }

    @Test("Text about such elements reads as before")
    func textAboutHeaders() {
        let html = "<p>Use http-equiv, http_equiv or http\requiv; ht</p>http-equi"
        #expect(
            ContentPolicy.applied(to: html)
                == ContentPolicy.metaElement + html.replacing("http-equiv", with: "http&#45;equiv"))
    }

    @Test("The policy allows no scripts and no loads")
    func directives() {
        #expect(ContentPolicy.metaElement.contains("default-src 'none'"))
        for forbidden in ["script-src", "connect-src", "http:", "https:", "*"] {
            #expect(!ContentPolicy.metaElement.contains(forbidden))
        }
    }
}
