// SPDX-License-Identifier: Apache-2.0
@testable import Previews
import TestSupport
import Testing

@Suite("Styles of an extension's HTML")
struct StyleFilterTests {
    private func attribute(_ text: String) -> (String, Int) {
        let (style, omitted) = StyleFilter.declarations(Array(text.utf8)[...])
        return (String(decoding: style, as: UTF8.self), omitted.count)
    }

    private func sheet(_ text: String, media: String? = nil) -> (String, Int) {
        let (style, omitted) = StyleFilter.sheet(Array(text.utf8)[...], media: media.map { Array($0.utf8)[...] })
        return (String(decoding: style, as: UTF8.self), omitted.count)
    }

    @Test(
        "Declarations are written again",
        arguments: [
            (" Color : RED ; ; margin:0\n 1em ", "color:RED;margin:0 1em", 0),
            ("font-family:\"Noto Sans\", serif!important", "font-family:'Noto Sans', serif!important", 0),
            ("width:calc(1px + (2px*3))", "width:calc(1px + (2px*3))", 0), ("color:/*x*/red", "color:red", 0),
            ("background:linear-gradient(#fff,rgb(1 2 3/50%))", "background:linear-gradient(#fff,rgb(1 2 3/50%))", 0),
            ("--x:1px;margin:var(--x)", "--x:1px;margin:var(--x)", 0), ("--x:var(--y)", "", 1),
            ("background:url(x);color:red", "color:red", 1), ("position:fixed", "", 1), ("color:red}", "", 1),
            ("color:r\\65 d", "", 1), ("color:'a;b'", "", 1), ("color:(red)", "", 1), ("color:rgb(1", "", 1),
            ("color", "", 1),
            ("color:red!important!important", "", 1), ("border-image:url(x)", "", 1), ("content:'x'", "", 1),
            ("color:<red>", "", 1), ("color:red&", "", 1), ("font:'a\nb;color:red", "color:red", 1),
        ] as [(String, String, Int)])
    func declarations(text: String, expected: String, omitted: Int) {
        #expect(attribute(text) == (expected, omitted))
        #expect(attribute(expected) == (expected, 0))
    }

    @Test(
        "Rules are written again",
        arguments: [
            ("p > a.b:not(#c) , i{color:red}b{}", "p > a.b:not(#c) , i{color:red}", 0),
            (
                "@media (max-width: 40em){p{color:red}} q{color:blue}",
                "@media (max-width: 40em){p{color:red}}q{color:blue}", 0
            ),
            ("@import 'x';p{color:red}", "p{color:red}", 1), ("@font-face{src:url(x)}p{color:red}", "p{color:red}", 1),
            ("a[href]{color:red}p{color:red}", "p{color:red}", 1), ("p{color:red", "p{color:red}", 0),
            ("p{color:red}}b{color:red}", "p{color:red}b{color:red}", 0), ("p{b{color:red}color:red}", "", 1),
            ("<!-- p{color:red} -->", "p{color:red}", 0), ("p{background:url('}');color:red}", "p{color:red}", 1),
            ("p:is(a{color:red}b{color:red}", "b{color:red}", 1), ("p){color:red}", "", 1), ("p)({color:red}", "", 1),
            ("@media (print{p{color:red}}b{color:red}", "b{color:red}", 1),
            ("@media <x>{p{color:red}}", "", 1), ("p{color:red};b{color:red}", "p{color:red}b{color:red}", 0),
        ] as [(String, String, Int)])
    func rules(text: String, expected: String, omitted: Int) {
        #expect(sheet(text) == (expected, omitted))
        #expect(sheet(expected) == (expected, 0))
    }

    @Test("A sheet for a medium becomes a rule for it")
    func media() {
        #expect(sheet("p{color:red}", media: " print ") == ("@media print{p{color:red}}", 0))
        #expect(sheet("p{color:red}", media: "print{}") == ("", 1))
        #expect(sheet("p{color:red}", media: "") == ("p{color:red}", 0))
    }

    @Test(
        "Any style is reduced to allowed declarations, and unchanged when it is written again",
        arguments: [31, 32] as [UInt64])
    func random(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pieces = [
            "p", "{", "}", ";", ":", "color", "red", "\"", "'", "(", ")", "@media", "@import", " ", "\n", "/*", "*/",
            "<", "\\",
            "url(", "rgb(", "!important", "--x", "var(", ",", "&", "\u{e9}", "<!--", "screen",
        ]
        for _ in 0..<3000 {
            let text = (0..<random.below(24)).map { _ in random.pick(pieces) }.joined()
            for (once, twice) in [
                (sheet(text).0, sheet(sheet(text).0)), (attribute(text).0, attribute(attribute(text).0)),
            ] {
                #expect(twice == (once, 0), "\(text)")
                #expect(
                    !once.contains { "<&\"\\\n".contains($0) } && !once.contains("url") && !once.contains("/*"),
                    "\(text)")
            }
        }
    }
}
