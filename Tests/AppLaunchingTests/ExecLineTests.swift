// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import AppLaunching

@Suite("Command lines of desktop entries")
struct ExecLineTests {
    private func entry(_ lines: String = "") -> DesktopEntry {
        DesktopEntry(
            identifier: "a.desktop", path: "/x/a.desktop", file: DesktopFile("[Desktop Entry]\n" + lines))
    }

    @Test(
        "Words are split as in a shell without expansion",
        arguments: [
            (#"app --new %u"#, ["app", "--new", "%u"]), (#""/opt/my app/run" x"#, ["/opt/my app/run", "x"]),
            (#"a "b\"c\$d\`e\\f" g"#, ["a", #"b"c$d`e\f"#, "g"]), (#"a 'b "c' d"#, ["a", #"b "c"#, "d"]),
            (#"a b\ c ;rm $HOME `x` | > &"#, ["a", "b c", ";rm", "$HOME", "`x`", "|", ">", "&"]),
            (#"a "" b"#, ["a", "", "b"]), (#"a "b\nc""#, ["a", #"b\nc"#]),
        ])
    func words(_ text: String, _ words: [String]) throws { #expect(try ExecLine(text).words == words) }

    @Test(
        "A line with an open quote, without a word or with too many is malformed",
        arguments: [
            "", "  ", "a 'b", "a \"b", "a \\", "a \"b\\", "a\0b", String(repeating: "a ", count: 257),
        ])
    func malformed(_ text: String) { #expect(throws: ExecLine.Malformed.self) { try ExecLine(text) } }

    @Test("Field codes become one argument each, or none")
    func codes() throws {
        let line = try ExecLine("app %% --name=%c %i %k -- %U %u %d")
        let expanded = try line.expanded(.file("/a b/ü.txt"), of: entry("Icon=pic"), name: "My App")
        #expect(
            expanded == [
                "app", "%", "--name=My App", "--icon", "pic", "/x/a.desktop", "--", "file:///a%20b/%C3%BC.txt",
            ])
        #expect(try ExecLine("app %f").expanded(.file("/a b"), of: entry(), name: "") == ["app", "/a b"])
        #expect(try ExecLine("app %F x").expanded(nil, of: entry(), name: "") == ["app", "x"])
        #expect(throws: ExecLine.Malformed.self) { try ExecLine("app %x").expanded(nil, of: entry(), name: "") }
        #expect(throws: ExecLine.Malformed.self) { try ExecLine("app x%").expanded(nil, of: entry(), name: "") }
    }

    @Test("Codes for files do not accept URLs")
    func takes() throws {
        for (text, file, url) in [
            ("a %f", true, false), ("a %u", true, true), ("a", false, false), ("a %%u", false, false),
        ] {
            #expect(try ExecLine(text).takes(.file("/x")) == file)
            #expect(try ExecLine(text).takes(.url("x:y")) == url)
        }
    }

    @Test("Any text is a command line or malformed, and a URL stays one argument of it")
    func anyText() throws {
        struct Broken: Error {}
        let samples = [#"app --new %u"#, #""/opt/my app/run" x %%"#, #"a "b\"c\$d" 'e' --name=%c %i %k %F"#]
        let tokens = ["%u", "%f", "%%", "%i", "%", "\"", "'", "\\", " ", "\t", "--"]
        var loop = MutationLoop(
            seed: MutationLoop.seed, corpus: samples.map { Array($0.utf8) }, tokens: tokens.map { Array($0.utf8) })
        let resource = try #require(LaunchResource(url: "x-app:-a%20b'c"))
        let accepted = try loop.run(MutationLoop.inputs) { bytes in
            guard let line = try? ExecLine(String(decoding: bytes, as: UTF8.self)) else { return false }
            guard (1...ExecLine.maximumWords).contains(line.words.count) else { throw Broken() }
            // Only the code of an icon becomes two words.
            guard let expanded = try? line.expanded(resource, of: entry("Icon=pic"), name: "My App") else {
                return true
            }
            guard expanded.count <= 2 * line.words.count else { throw Broken() }
            return true
        }
        #expect(accepted > MutationLoop.inputs / 50, "seed \(MutationLoop.seed)")
    }

    @Test(
        "Any path or URL is one argument and never an option", arguments: 0..<500 as Range<UInt64>)
    func injection(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let hostile = (0..<6).map { _ in
            random.pick([" ", "\"", "'", "\\", "$(x)", "`x`", "%u", "%%", ";", "&", "\n", "--", "é", "a", "\u{1}"])
        }.joined()
        let line = try ExecLine(random.pick(["app %u", "app %f", "app \"%u\"", "app -o %F --", "app --x=%U"]))
        let resource = LaunchResource(url: "x:" + hostile) ?? .file("/" + hostile)
        guard line.takes(resource) else { return }
        let expanded = try line.expanded(resource, of: entry(), name: "")
        #expect(expanded.count == line.words.count)
        for (word, original) in zip(expanded, line.words) where word != original {
            let value = original.hasPrefix("--x=") ? String(word.dropFirst(4)) : word
            #expect(!value.hasPrefix("-"))
            #expect([resource.uri, "/" + hostile].contains { Array($0.utf8) == Array(value.utf8) })
        }
    }

    @Test(
        "Only URLs with a scheme and without spaces are accepted, and no file URLs",
        arguments: [
            ("https://example.org/ü", "https://example.org/%C3%BC"), ("mailto:a@b.c", "mailto:a@b.c"),
            ("no scheme", nil), ("file:///etc/passwd", nil), ("FILE:///etc/passwd", nil), ("-x:y", nil), ("a b:c", nil),
            ("x:y z", nil), ("x:\n", nil), (":x", nil), ("1x:y", nil),
            ("x:" + String(repeating: "y", count: 8192), nil),
        ])
    func urls(_ text: String, _ uri: String?) { #expect(LaunchResource(url: text)?.uri == uri) }
}
